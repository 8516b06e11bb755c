import { beforeAll, expect, test } from 'vitest';
import { certificateHeader } from '../../src/certification/certificate-header.ts';
import { installNodeKernel } from '../support/kernel-host.ts';
import { installNodeText } from '../support/memory-stores.ts';
import { randomNumbers } from '../support/random-numbers.ts';

beforeAll(async () => {
  installNodeText();
  await installNodeKernel({ misalignment: 5 });
});

/** Returns the header's text for a certificate of these bytes. */
function textOf(certificate: Uint8Array): string {
  const header = certificateHeader({ certificate, witness: new Uint8Array(0), path: 'a' });
  const [, text] =
    /^certificate=:(.*):, tree=::, expr_path=:2dn3gWFh:, version=2$/.exec(
      Buffer.from(header).toString('latin1'),
    ) ?? expect.fail('no header');
  return text ?? '';
}

test('certificateHeader() encodes the examples of RFC 4648 §10', () => {
  const expected = ['', 'Zg==', 'Zm8=', 'Zm9v', 'Zm9vYg==', 'Zm9vYmE=', 'Zm9vYmFy'];
  expect(expected.map((_, length) => textOf(Buffer.from('foobar'.slice(0, length))))).toEqual(
    expected,
  );
});

test('certificateHeader() encodes every group of three bytes as four characters', () => {
  const groups = Buffer.alloc(3 * 65_536);
  for (let index = 0; index < 65_536; index++) {
    groups.writeUIntBE((index * 0x10001 + (index >> 3)) & 0xff_ffff, 3 * index, 3);
  }
  expect(textOf(groups)).toBe(groups.toString('base64'));
});

test('certificateHeader() agrees with Node for any length', () => {
  const random = randomNumbers(5);
  for (let length = 0; length < 300; length++) {
    const bytes = Buffer.from(Array.from({ length }, () => random(256)));
    expect(textOf(bytes), `${length} bytes`).toBe(bytes.toString('base64'));
  }
});
