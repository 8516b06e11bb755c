import { hkdf } from '@noble/hashes/hkdf';
import { hmac } from '@noble/hashes/hmac';
import { sha256 as nobleSha256 } from '@noble/hashes/sha2';
import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { hkdfBytesMax, hkdfSha256, hmacSha256 } from '../../src/crypto/kdf.ts';
import { installNodeKernel } from '../support/kernel-host.ts';
import { fromHex, readVectors } from '../support/vectors.ts';

interface KdfVectors {
  readonly hmac: readonly { name: string; key: string; message: string; mac: string }[];
  readonly hkdf: readonly {
    name: string;
    keyMaterial: string;
    salt: string;
    info: string;
    output: string;
  }[];
}

const vectors = readVectors<KdfVectors>('hmac-hkdf.json');
const anyBytes = fc.uint8Array({ maxLength: 200 });

beforeAll(async () => {
  await installNodeKernel({ misalignment: 3 });
});

test.each(vectors.hmac)('hmacSha256() gives the code of RFC 4231, $name', (vector) => {
  const mac = hmacSha256(fromHex(vector.key), fromHex(vector.message));
  const expected = fromHex(vector.mac);
  expect(mac.subarray(0, expected.length)).toEqual(expected);
});

test.each(vectors.hkdf)('hkdfSha256() gives the output of RFC 5869, $name', (vector) => {
  const output = fromHex(vector.output);
  const keyMaterial = fromHex(vector.keyMaterial);
  const salt = fromHex(vector.salt);
  const info = fromHex(vector.info);
  expect(hkdfSha256({ keyMaterial, salt, info, length: output.length })).toEqual(output);
});

test('hmacSha256() equals another implementation', () => {
  fc.assert(
    fc.property(anyBytes, anyBytes, (key, message) => {
      expect(hmacSha256(key, message)).toEqual(hmac(nobleSha256, key, message));
    }),
  );
});

test('hkdfSha256() equals another implementation, up to the longest output', () => {
  const lengths = fc.oneof(fc.integer({ min: 1, max: 200 }), fc.constant(hkdfBytesMax));
  fc.assert(
    fc.property(anyBytes, anyBytes, anyBytes, lengths, (keyMaterial, salt, info, length) => {
      const expected = hkdf(nobleSha256, keyMaterial, salt, info, length);
      expect(hkdfSha256({ keyMaterial, salt, info, length })).toEqual(expected);
    }),
  );
});

test.each([0, -1, hkdfBytesMax + 1, Number.NaN])('hkdfSha256() refuses %d bytes', (length) => {
  const empty = new Uint8Array(0);
  const input = { keyMaterial: empty, salt: empty, info: empty, length };
  expect(() => hkdfSha256(input)).toThrow('Cannot derive');
});

test("hkdfSha256(): no byte of an HMAC key remains in the kernel's memory", async () => {
  const { memory } = await installNodeKernel();
  const key = Uint8Array.from({ length: 64 }, (_, i) => 0x80 + i);
  hmacSha256(key, new Uint8Array(10));
  const heap = Buffer.from(memory.buffer).subarray(256 * 65_536);
  const padded = Buffer.from(key.map((byte) => byte ^ 0x36));
  expect(heap.length).toBeGreaterThan(0);
  for (const pattern of [Buffer.from(key), padded]) {
    for (let start = 0; start + 4 <= 64; start += 4) {
      const word = pattern.subarray(start, start + 4);
      expect(heap.includes(word)).toBe(false);
      expect(heap.includes(Buffer.from(word).reverse())).toBe(false);
    }
  }
});
