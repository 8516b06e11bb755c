// Records as bytes: a version byte, fixed-width little-endian fields, short byte strings after
// their length, and at the end all texts together, because one native call encodes them all.
//
//   0        1                                           n
//   +--------+-------------------------------------------+---------------------------------+
//   | version| fields in the order written               | texts, UTF-8, NUL between them  |
//   +--------+-------------------------------------------+---------------------------------+
//
// Texts contain no NUL: names, paths and header values with control characters are refused earlier.
//
// Records that most requests read have fixed fields in arrays, see packFields(): a field costs
// 3,000 instructions there, and 8,000 by the reader's methods.

import { assert, present } from '../lib/assert.ts';
import { concatBytes } from '../lib/bytes.ts';
import { decodeUtf8, encodeUtf8 } from '../lib/text.ts';

const separator = '\0';
const headBytes = 512;

export class RecordWriter {
  #head = new Uint8Array(headBytes);
  #view = new DataView(this.#head.buffer);
  #end = 0;

  constructor(version: number) {
    this.u8(version);
  }

  u8(value: number): this {
    this.#head[this.#end++] = value;
    return this;
  }

  u32(value: number): this {
    this.#view.setUint32(this.#end, value, true);
    this.#end += 4;
    return this;
  }

  /** Writes an exact integer up to 2^53, or a bigint of 64 bits. */
  u64(value: number | bigint): this {
    this.#view.setBigUint64(this.#end, BigInt(value), true);
    this.#end += 8;
    return this;
  }

  zeros(count: number): this {
    this.#end += count;
    return this;
  }

  /** Writes at most 255 bytes after their length. */
  bytes(value: Uint8Array): this {
    assert(value.length <= 255, 'a short byte string has at most 255 bytes');
    this.u8(value.length);
    this.#head.set(value, this.#end);
    this.#end += value.length;
    return this;
  }

  /** Writes any number of bytes after their length as u32. */
  longBytes(value: Uint8Array): this {
    const former = this.#head;
    this.#head = new Uint8Array(former.length + value.length);
    this.#head.set(former);
    this.#view = new DataView(this.#head.buffer);
    this.u32(value.length);
    this.#head.set(value, this.#end);
    this.#end += value.length;
    return this;
  }

  finish(texts: readonly string[]): Uint8Array {
    const head = this.#head.subarray(0, this.#end);
    return texts.length === 0 ? head.slice() : concatBytes(head, encodeUtf8(texts.join(separator)));
  }
}

export class RecordReader {
  readonly version: number;
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  #position = 1;

  /** `known`: the versions that the reader supports; any other is a defect and throws. */
  constructor(bytes: Uint8Array, ...known: readonly number[]) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.version = present(bytes[0], 'version byte of a record');
    assert(known.includes(this.version), `a record has a known version, not ${this.version}`);
  }

  u8(): number {
    return present(this.#bytes[this.#position++], 'byte of a record');
  }

  u32(): number {
    this.#position += 4;
    return this.#view.getUint32(this.#position - 4, true);
  }

  u64(): bigint {
    this.#position += 8;
    return this.#view.getBigUint64(this.#position - 8, true);
  }

  /** Reads a u64 that is an exact number; reading it as a bigint takes 8,000 instructions. */
  integer(): number {
    const position = this.#position;
    this.#position = position + 8;
    const low = this.#view.getUint32(position, true);
    return low + this.#view.getUint32(position + 4, true) * 0x1_0000_0000;
  }

  bytes(): Uint8Array {
    const length = this.u8();
    this.#position += length;
    return this.#bytes.slice(this.#position - length, this.#position);
  }

  longBytes(): Uint8Array {
    const length = this.u32();
    this.#position += length;
    return this.#bytes.slice(this.#position - length, this.#position);
  }

  skip(count: number): this {
    this.#position += count;
    return this;
  }

  /** Returns the texts, which are the rest of the record. */
  texts(): string[] {
    const text = decodeUtf8(this.#bytes.subarray(this.#position));
    return present(text, 'well-formed text of a record').split(separator);
  }
}

/**
 * Fields that are read and written as arrays. The first of the small fields is the version.
 *
 *   0          8                8 + 8 × longs          8 + 8 × (longs + numbers)
 *   +----------+----------------+----------------------+------
 *   | small u8 | longs u64 …    | numbers float64 …    | rest
 *   +----------+----------------+----------------------+------
 */
export interface Fields {
  readonly small: Uint8Array;
  readonly longs: BigUint64Array;
  /** Exact integers up to 2^53. */
  readonly numbers: Float64Array;
  readonly rest: Uint8Array;
}

const smallFields = 8;

export function packFields(fields: {
  readonly small: readonly number[];
  readonly longs: readonly bigint[];
  readonly numbers: readonly number[];
  readonly rest: Uint8Array;
}): Uint8Array {
  const { small, longs, numbers, rest } = fields;
  assert(small.length <= smallFields, 'a record has few small fields');
  const numbersStart = smallFields + 8 * longs.length;
  const restStart = numbersStart + 8 * numbers.length;
  const bytes = new Uint8Array(restStart + rest.length);
  bytes.set(small);
  new BigUint64Array(bytes.buffer, smallFields, longs.length).set(longs);
  new Float64Array(bytes.buffer, numbersStart, numbers.length).set(numbers);
  bytes.set(rest, restStart);
  return bytes;
}

/** Returns views of the record, or of a copy. Throws if it is too short or has other numbers. */
export function unpackFields(
  bytes: Uint8Array,
  count: { readonly longs: number; readonly numbers: number },
): Fields {
  // Views of eight-byte numbers begin at multiples of 8
  const record = bytes.byteOffset % 8 === 0 ? bytes : bytes.slice();
  const { buffer, byteOffset } = record;
  const longsStart = byteOffset + smallFields;
  const numbersStart = longsStart + 8 * count.longs;
  const restStart = smallFields + 8 * (count.longs + count.numbers);
  assert(bytes.length >= restStart, 'a record has all of its fields');
  const longs = new BigUint64Array(buffer, longsStart, count.longs);
  const numbers = new Float64Array(buffer, numbersStart, count.numbers);
  assert(numbers.every(Number.isSafeInteger), 'the numbers of a record are integers');
  return { small: record, longs, numbers, rest: record.subarray(restStart) };
}

/** Refuses a record of a version that the caller does not support: any other is a defect. */
export function requireVersion(bytes: Uint8Array, known: number): void {
  assert(bytes[0] === known, `a record has a known version, not ${bytes[0]}`);
}

/** Big-endian, so that keys are ordered like their numbers. */
export function u64Key(value: number | bigint): Uint8Array {
  const key = new Uint8Array(8);
  new DataView(key.buffer).setBigUint64(0, BigInt(value));
  return key;
}
