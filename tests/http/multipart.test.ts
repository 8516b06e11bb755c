// Multipart forms, valid and invalid: any bytes give the parts of the body in order, or an error
// with a reason.

import { beforeAll, describe, expect, test } from 'vitest';
import { Refusal } from '../../src/domain/shared/refusal.ts';
import { type Part, readParts } from '../../src/http/multipart.ts';
import { formBody } from '../support/forms.ts';
import { installNodeKernel } from '../support/kernel-host.ts';
import { installNodeText } from '../support/memory-stores.ts';
import { randomNumbers } from '../support/random-numbers.ts';
import { seedOr } from '../support/seed.ts';

beforeAll(async () => {
  installNodeText();
  await installNodeKernel();
});

const seed = seedOr(20_261_122);
const type = 'multipart/form-data; boundary=B';

function read(body: string | Uint8Array, contentType = type): Part[] {
  const bytes = typeof body === 'string' ? new Uint8Array(Buffer.from(body)) : body;
  return readParts({
    method: 'POST',
    url: '/',
    headers: [['content-type', contentType]],
    body: bytes,
  });
}

const textOf = ({ bytes }: Part) => Buffer.from(bytes).toString('latin1');
const named = (disposition: string) =>
  read(`--B\r\nContent-Disposition: ${disposition}\r\n\r\nx\r\n--B--`)[0]?.name;

describe('readParts() accepts', () => {
  test.each([
    ['a preamble and an epilogue', 'before\r\n--B\r\n%\r\nx\r\n--B--\r\nafter --B'],
    ['spaces after a boundary', '--B \t\r\n%\r\nx\r\n--B--'],
    ['a form that ends with its last boundary', '--B\r\n%\r\nx\r\n--B--'],
  ])('%s', (_, form) => {
    const body = form.replace('%', 'content-disposition:form-data; name=a\r\n');
    expect(read(body).map(textOf)).toEqual(['x']);
  });

  test('a form without parts', () => {
    expect(read('--B--\r\n')).toEqual([]);
  });

  test('a quoted boundary, with all permitted characters', () => {
    const boundary = "0aZ'()+_,-./:=? x";
    const body = formBody([{ name: 'a', text: 'x' }], boundary);
    expect(read(body, `Multipart/Form-Data; charset=utf-8; Boundary="${boundary}"`)).toHaveLength(
      1,
    );
  });

  test("a nested form inside a part as the part's bytes", () => {
    const inner = formBody([{ name: 'inner', text: 'x' }], 'C');
    const parts = read(
      formBody([{ name: 'a', text: inner, type: 'multipart/mixed; boundary=C' }], 'B'),
    );
    expect(parts.map(({ name, bytes }) => [name, Buffer.compare(bytes, inner)])).toEqual([
      ['a', 0],
    ]);
  });

  test.each([
    ['form-data; name="dir/a.txt"; filename="x"', 'dir/a.txt'],
    ['Form-Data ; filename="a\\"; name=\\"b"; NAME="c"', 'c'],
    ['form-data; name=token', 'token'],
    ['form-data; name=""', ''],
    ['form-data; name="ü/\u{1f600}"', 'ü/\u{1f600}'],
    ['form-data; name="say \\"a\\\\b\\""', 'say "a\\b"'],
    ['form-data; name="say %22a%22 100%"', 'say "a" 100%'],
    ['form-data; name="a\\%22b"', 'a%22b'],
    ['form-data; name="a\\b"', 'a\\b'],
    ['attachment; name="a"', undefined],
    ['form-data', undefined],
    ['form-data; filename="a"', undefined],
    ['form-data; name="a', undefined],
    ["form-data; name*=utf-8''a", undefined],
  ])('the name in %s', (disposition, expected) => {
    if (expected === undefined) expect(() => named(disposition)).toThrow('has no path in part 0');
    else expect(named(disposition)).toBe(expected);
  });
});

const head = 'Content-Disposition: form-data; name="a"\r\n';

describe('readParts() refuses', () => {
  test.each([
    ['no bytes', ''],
    ['no boundary', `${head}\r\nx`],
    ['a truncated form', `--B\r\n${head}\r\nx`],
    ['a truncated last boundary', `--B\r\n${head}\r\nx\r\n--B-`],
    ['a boundary within a line', `--B\r\n${head}\r\nx--B--`],
    ['a longer boundary in its place', `--BB\r\n${head}\r\nx\r\n--BB--`],
    ['a part without header fields', '--B\r\n\r\nx\r\n--B--'],
    ['a part without an empty line', `--B\r\n${head}\r\n--B--`],
    ['repeated header fields', `--B\r\n${head}${head}\r\nx\r\n--B--`],
    ['a line without a colon', `--B\r\n${head}nonsense\r\n\r\nx\r\n--B--`],
    ['a folded line', `--B\r\n${head} x: y\r\n\r\nx\r\n--B--`],
    ['17 header fields', `--B\r\n${head}${fieldsOf(16)}\r\nx\r\n--B--`],
    ['header fields of 9 kB', `--B\r\n${head}X: ${'y'.repeat(9_000)}\r\n\r\nx\r\n--B--`],
    [
      'header fields that are not UTF-8',
      Buffer.from(`--B\r\n${head}X: \xff\r\n\r\nx\r\n--B--`, 'latin1'),
    ],
    [
      'bytes in another encoding',
      `--B\r\n${head}Content-Transfer-Encoding: base64\r\n\r\neA==\r\n--B--`,
    ],
    ['10,000 boundaries', '--B\r\n'.repeat(10_000)],
    ['201 parts', formBody(Array(201).fill({ name: 'a', text: '' }), 'B')],
  ])('%s', (_, body) => {
    expect(() => read(body)).toThrow(Refusal);
    expect(() => read(body)).toThrow(/^The form (?:has|does not|names)/);
  });

  test('no form of 200 parts', () => {
    expect(read(formBody(Array(200).fill({ name: 'a', text: '' }), 'B'))).toHaveLength(200);
  });
});

function fieldsOf(count: number): string {
  return Array.from({ length: count }, (_, index) => `X-${index}: y\r\n`).join('');
}

describe(`readParts(): with seed ${seed}`, () => {
  const random = randomNumbers(seed);
  const pick = <T>(items: readonly T[]): T => items[random(items.length)] as T;
  const pieces = [
    '\r\n',
    '\r',
    '\n',
    '--',
    '-',
    'B',
    '--B',
    '\r\n--B',
    '\r\n--C',
    'x',
    '\0',
    '\xff',
  ];
  const noise = (length: number) =>
    Buffer.from(Array.from({ length }, () => pick(pieces)).join(''), 'latin1');

  test('parts of any bytes are returned unchanged', () => {
    for (let turn = 0; turn < 500; turn++) {
      const parts = Array.from({ length: random(6) }, (_, index) => {
        const text = Buffer.from(
          noise(random(12)).toString('latin1').replaceAll('B', 'D'),
          'latin1',
        );
        return { name: `${index}${pick(['', '"', '\\', '%22', ' ü'])}`, text };
      });
      const found = read(formBody(parts, 'B'));
      expect(found.map(({ name, bytes }) => [name, Buffer.from(bytes).toString('hex')])).toEqual(
        parts.map(({ name, text }) => [name, text.toString('hex')]),
      );
    }
  });

  test('a damaged form is read or refused, and never throws anything else', () => {
    const whole = Buffer.from(
      formBody(
        [
          { name: 'a', text: 'b' },
          { name: 'c', text: 'd' },
        ],
        'B',
      ),
    );
    for (let turn = 0; turn < 3_000; turn++) {
      const at = random(whole.length);
      const end = at + random(8);
      const damaged = Buffer.concat([whole.subarray(0, at), noise(random(5)), whole.subarray(end)]);
      try {
        const total = read(damaged).reduce((sum, { bytes }) => sum + bytes.length, 0);
        expect(total).toBeLessThan(damaged.length);
      } catch (error) {
        expect(error).toBeInstanceOf(Refusal);
      }
    }
  });
});
