import { chacha20poly1305 } from '@noble/ciphers/chacha.js';
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  chacha20InPlace,
  open,
  openInPlace,
  poly1305,
  seal,
  sealInPlace,
} from '../../src/crypto/aead.ts';
import { installNodeKernel } from '../support/kernel-host.ts';
import { fromHex, readVectors } from '../support/vectors.ts';

type Hex = string;
interface Rfc8439Vectors {
  readonly chacha20: readonly {
    name: string;
    key: Hex;
    nonce: Hex;
    counter: number;
    plaintext: Hex;
    ciphertext: Hex;
  }[];
  readonly poly1305: readonly { name: string; key: Hex; message: Hex; tag: Hex }[];
  readonly aead: readonly Record<
    'name' | 'key' | 'nonce' | 'associatedData' | 'plaintext' | 'ciphertext' | 'tag',
    Hex
  >[];
}

const vectors = readVectors<Rfc8439Vectors>('rfc8439.json');
const keys = fc.uint8Array({ minLength: 32, maxLength: 32 });
const nonces = fc.uint8Array({ minLength: 12, maxLength: 12 });
const key = Uint8Array.from({ length: 32 }, (_, i) => i * 5 + 1);
const nonce = Uint8Array.from({ length: 12 }, (_, i) => i);

function pattern(length: number): Uint8Array {
  return Uint8Array.from({ length }, (_, i) => (i * 7) ^ (i >> 8));
}

describe.each([0, 1, 5])('seal(): RFC 8439 at addresses with remainder %i', (misalignment) => {
  beforeAll(async () => {
    await installNodeKernel({ misalignment });
  });

  test.each(vectors.chacha20)('chacha20InPlace() gives the ciphertext of $name', (vector) => {
    const data = fromHex(vector.plaintext);
    const { counter } = vector;
    chacha20InPlace({ key: fromHex(vector.key), nonce: fromHex(vector.nonce), counter, data });
    expect(data).toEqual(fromHex(vector.ciphertext));
  });

  test.each(vectors.poly1305)('poly1305() gives the tag of $name', (vector) => {
    const tag = poly1305(fromHex(vector.key), fromHex(vector.message));
    expect(tag).toEqual(fromHex(vector.tag));
  });

  test.each(vectors.aead)('seal() and open() agree with $name', (vector) => {
    const context = {
      key: fromHex(vector.key),
      nonce: fromHex(vector.nonce),
      associatedData: fromHex(vector.associatedData),
    };
    const plaintext = fromHex(vector.plaintext);
    const sealed = fromHex(vector.ciphertext + vector.tag);
    expect(seal({ ...context, plaintext })).toEqual(sealed);
    expect(open({ ...context, sealed })).toEqual(plaintext);
  });

  test('seal() equals another implementation at every length up to 1,100', () => {
    for (let length = 0; length <= 1100; length++) {
      const plaintext = pattern(length);
      const associatedData = pattern((length * 7) % 500);
      const expected = chacha20poly1305(key, nonce, associatedData).encrypt(plaintext);
      expect(seal({ key, nonce, associatedData, plaintext })).toEqual(expected);
    }
  });

  test('seal() and open() equal another implementation for any input', () => {
    const bytes = fc.uint8Array({ maxLength: 1200 });
    fc.assert(
      fc.property(keys, nonces, bytes, bytes, (key, nonce, associatedData, plaintext) => {
        const sealed = seal({ key, nonce, associatedData, plaintext });
        expect(sealed).toEqual(chacha20poly1305(key, nonce, associatedData).encrypt(plaintext));
        expect(open({ key, nonce, associatedData, sealed })).toEqual(plaintext);
      }),
    );
  });
});

describe('seal(): large and extreme inputs', () => {
  beforeAll(async () => {
    await installNodeKernel();
  });

  test.each([65_535, 65_536, 65_537, 1_900_000, 2_097_152])('seal() of %i bytes', (length) => {
    const plaintext = pattern(length);
    const associatedData = pattern(24);
    const expected = chacha20poly1305(key, nonce, associatedData).encrypt(plaintext);
    const sealed = seal({ key, nonce, associatedData, plaintext });
    expect(Buffer.compare(sealed, expected)).toBe(0);
  });

  test('the block counter wraps from 2^32 - 1 to 0', () => {
    const wrapping = new Uint8Array(64 * 7 + 5);
    chacha20InPlace({ key, nonce, counter: 0xffff_fffe, data: wrapping });
    const before = new Uint8Array(64 * 2);
    chacha20InPlace({ key, nonce, counter: 0xffff_fffe, data: before });
    const after = new Uint8Array(64 * 5 + 5);
    chacha20InPlace({ key, nonce, counter: 0, data: after });
    expect(wrapping).toEqual(new Uint8Array(Buffer.concat([before, after])));
  });

  test('poly1305() equals plain arithmetic when carries run through all limbs', () => {
    const extreme = fc.constantFrom(0x00, 0x01, 0x7f, 0xfb, 0xfc, 0xfe, 0xff);
    const runs = fc.array(fc.tuple(extreme, fc.integer({ min: 1, max: 200 })), { maxLength: 6 });
    const blocks = runs.map((parts) => parts.flatMap(([byte, times]) => Array(times).fill(byte)));
    const keyBytes = fc.array(extreme, { minLength: 32, maxLength: 32 });
    fc.assert(
      fc.property(fc.oneof(keyBytes, fc.constant(Array(32).fill(0xff))), blocks, (key, message) => {
        const tag = poly1305(Uint8Array.from(key), Uint8Array.from(message));
        expect(tag).toEqual(plainPoly1305(Uint8Array.from(key), Uint8Array.from(message)));
      }),
      { numRuns: 2000 },
    );
  });

  test.each([0x00, 0x01, 0xfc, 0xff])('poly1305() is correct with key bytes of %i', (byte) => {
    const key = new Uint8Array(32).fill(byte);
    // Lengths around every number of blocks, processed singly and by four, with all limbs at their
    // maximum
    for (let length = 0; length <= 700; length++) {
      const message = new Uint8Array(length).fill(0xff);
      expect(poly1305(key, message)).toEqual(plainPoly1305(key, message));
    }
    const long = new Uint8Array(65_536 + 3).fill(0xff);
    expect(poly1305(key, long)).toEqual(plainPoly1305(key, long));
  });

  test('seal() is correct after long associated data with limbs at their maxima', () => {
    for (let length = 176; length <= 480; length += 16) {
      const associatedData = new Uint8Array(length + (length % 3)).fill(0xff);
      const plaintext = pattern(656 - length);
      const expected = chacha20poly1305(key, nonce, associatedData).encrypt(plaintext);
      expect(seal({ key, nonce, associatedData, plaintext })).toEqual(expected);
    }
  });

  test.each([-2n, -1n, 0n, 1n, 2n, 3n])('poly1305() reduces a sum of 2^130 - 5 + %i', (delta) => {
    // With r = 1, Poly1305 adds up the blocks, each with bit 2^128 set
    const blocks = [2n ** 128n - 1n, 2n ** 128n - 4n + delta];
    const message = new Uint8Array(Buffer.concat(blocks.map(toBlock)));
    const one = new Uint8Array(32);
    one[0] = 1;
    expect(poly1305(one, message)).toEqual(toBlock(delta < 0n ? 2n ** 130n - 5n + delta : delta));
  });
});

function toBlock(value: bigint): Uint8Array {
  return Uint8Array.from({ length: 16 }, (_, i) => Number((value >> BigInt(8 * i)) & 0xffn));
}

function toNumber(bytes: Uint8Array): bigint {
  return bytes.reduceRight((value, byte) => (value << 8n) | BigInt(byte), 0n);
}

/** RFC 8439, 2.5.1, literally. */
function plainPoly1305(key: Uint8Array, message: Uint8Array): Uint8Array {
  const r = toNumber(key.subarray(0, 16)) & 0x0ffffffc0ffffffc0ffffffc0fffffffn;
  let accumulator = 0n;
  for (let start = 0; start < message.length; start += 16) {
    const block = Uint8Array.of(...message.subarray(start, start + 16), 1);
    accumulator = ((accumulator + toNumber(block)) * r) % (2n ** 130n - 5n);
  }
  return toBlock(accumulator + toNumber(key.subarray(16)));
}

describe('seal(): refusals', () => {
  beforeAll(async () => {
    await installNodeKernel();
  });
  const associatedData = pattern(20);

  test('open() refuses any flipped bit of ciphertext, tag, associated data, key and nonce', () => {
    const sealed = seal({ key, nonce, associatedData, plaintext: pattern(37) });
    const parts = { key, nonce, associatedData, sealed };
    for (const name of Object.keys(parts) as (keyof typeof parts)[]) {
      for (let bit = 0; bit < parts[name].length * 8; bit++) {
        const changed = parts[name].slice();
        changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
        expect(open({ ...parts, [name]: changed })).toBeUndefined();
      }
    }
  });

  test('open() refuses truncations and extensions', () => {
    const sealed = seal({ key, nonce, associatedData, plaintext: pattern(40) });
    for (let length = 0; length < sealed.length; length++) {
      expect(
        open({ key, nonce, associatedData, sealed: sealed.subarray(0, length) }),
      ).toBeUndefined();
    }
    const longer = new Uint8Array(Buffer.concat([sealed, new Uint8Array(1)]));
    expect(open({ key, nonce, associatedData, sealed: longer })).toBeUndefined();
  });

  test('a byte moved between associated data and text is detected', () => {
    const sealed = seal({ key, nonce, associatedData, plaintext: pattern(0) });
    const padded = new Uint8Array(Buffer.concat([associatedData, new Uint8Array(1)]));
    expect(open({ key, nonce, associatedData: padded, sealed })).toBeUndefined();
  });

  test('openInPlace() leaves the ciphertext if the tag is wrong', () => {
    const data = pattern(1000);
    const tag = sealInPlace({ key, nonce, associatedData, data });
    const ciphertext = data.slice();
    const wrong = tag.slice();
    wrong[15] = (wrong[15] ?? 0) ^ 0x80;
    expect(openInPlace({ key, nonce, associatedData, data, tag: wrong })).toBe(false);
    expect(data).toEqual(ciphertext);
    expect(openInPlace({ key, nonce, associatedData, data, tag })).toBe(true);
    expect(data).toEqual(pattern(1000));
  });

  test('sealInPlace() writes the tag at the given position', () => {
    const tags = new Uint8Array(48);
    const data = pattern(100);
    const copy = data.slice();
    sealInPlace({ key, nonce, associatedData, data, tag: tags.subarray(16, 32) });
    expect(tags.subarray(16, 32)).toEqual(sealInPlace({ key, nonce, associatedData, data: copy }));
    expect(tags.subarray(0, 16)).toEqual(new Uint8Array(16));
    expect(tags.subarray(32)).toEqual(new Uint8Array(16));
  });

  test('operands of wrong lengths are refused and leave no pending operation', () => {
    const data = pattern(10);
    const right = { key, nonce, associatedData, data, tag: new Uint8Array(16) };
    const short = new Uint8Array(11);
    expect(() => sealInPlace({ ...right, key: short })).toThrow('the key has 11 bytes');
    expect(() => sealInPlace({ ...right, nonce: key })).toThrow('the nonce has 32 bytes');
    expect(() => openInPlace({ ...right, tag: short })).toThrow('the tag has 11 bytes');
    expect(() => sealInPlace({ ...right, data: 'text' as unknown as Uint8Array })).toThrow(
      'the data is not a Uint8Array',
    );
    expect(data).toEqual(pattern(10));
    expect(
      open({ key, nonce, associatedData, sealed: seal({ ...right, plaintext: data }) }),
    ).toEqual(data);
  });

  test("no secret remains in the kernel's memory", async () => {
    const { memory } = await installNodeKernel();
    const block = new Uint8Array(64);
    chacha20InPlace({ key, nonce, counter: 0, data: block });
    const plaintext = pattern(300).map((byte) => byte ^ 0xa5);
    const sealed = seal({ key, nonce, associatedData, plaintext });
    open({ key, nonce, associatedData, sealed });
    const heap = Buffer.from(memory.buffer).subarray(256 * 65_536);
    expect(heap.length).toBeGreaterThan(0);
    for (const secret of [key, block.subarray(0, 32), plaintext.subarray(256)]) {
      for (let start = 0; start + 8 <= secret.length; start++) {
        expect(heap.includes(Buffer.from(secret.subarray(start, start + 8)))).toBe(false);
      }
    }
  });
});
