import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { RecordReader, RecordWriter, u64Key } from '../../src/storage/codec.ts';
import { installNodeText } from '../support/memory-stores.ts';

beforeAll(installNodeText);

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}

describe('RecordWriter', () => {
  test('writes fields in the documented layout', () => {
    const record = new RecordWriter(1)
      .u8(0xab)
      .u32(0x01020304)
      .u64(0x1122334455667788n)
      .u64(Number.MAX_SAFE_INTEGER)
      .bytes(Uint8Array.of(0xca, 0xfe))
      .finish(['ä', '', 'b']);
    expect(hex(record)).toBe('01ab040302018877665544332211ffffffffffff1f0002cafec3a4000062');
  });

  test('without texts ends after the last field', () => {
    expect(hex(new RecordWriter(7).finish([]))).toBe('07');
    expect(hex(new RecordWriter(1).u8(2).finish(['']))).toBe('0102');
  });

  test('refuses a byte string of more than 255 bytes', () => {
    expect(() => new RecordWriter(1).bytes(new Uint8Array(256))).toThrow('255');
    expect(new RecordWriter(1).bytes(new Uint8Array(255)).finish([]).length).toBe(257);
  });
});

describe('RecordReader', () => {
  const texts = fc.array(
    fc.string({ unit: 'grapheme-ascii' }).map((value) => value.replaceAll('\0', '')),
    { minLength: 1, maxLength: 6 },
  );
  const fields = fc.record({
    version: fc.nat({ max: 255 }),
    small: fc.nat({ max: 255 }),
    medium: fc.nat({ max: 0xffff_ffff }),
    large: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
    exact: fc.nat({ max: Number.MAX_SAFE_INTEGER }),
    bytes: fc.uint8Array({ maxLength: 255 }),
    long: fc.uint8Array({ maxLength: 3_000, size: 'max' }),
    texts,
  });

  test('reads what was written, at any offset of a larger buffer', () => {
    fc.assert(
      fc.property(fields, fc.nat({ max: 9 }), (value, offset) => {
        const record = new RecordWriter(value.version)
          .u8(value.small)
          .u32(value.medium)
          .u64(value.large)
          .u64(value.exact)
          .bytes(value.bytes)
          .longBytes(value.long)
          .u64(value.exact)
          .finish([...value.texts, 'é€😀']);
        const buffer = new Uint8Array(record.length + offset);
        buffer.set(record, offset);
        const reader = new RecordReader(buffer.subarray(offset), value.version);
        expect({
          version: reader.version,
          small: reader.u8(),
          medium: reader.u32(),
          large: reader.u64(),
          exact: reader.integer(),
          bytes: reader.bytes(),
          long: reader.longBytes(),
          behind: reader.integer(),
          texts: reader.texts().slice(0, -1),
        }).toEqual({ ...value, behind: value.exact });
      }),
    );
  });

  test('fails on an empty record and on malformed text', () => {
    expect(() => new RecordReader(new Uint8Array(0))).toThrow('version byte');
    expect(() => new RecordReader(Uint8Array.of(1, 0xff), 1).texts()).toThrow('well-formed');
  });
});

test('u64Key() sorts as its numbers do', () => {
  const number = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
  fc.assert(
    fc.property(number, number, (left, right) => {
      const order = Buffer.compare(u64Key(left), u64Key(right));
      expect(order).toBe(left < right ? -1 : left > right ? 1 : 0);
    }),
  );
  expect(hex(u64Key(258))).toBe('0000000000000102');
});
