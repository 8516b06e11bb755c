// Reads Candid messages without copying them and within bounds, because senders do not pay for the
// work that their messages cause. Candid specification, "Binary format".

import { decodeUtf8 } from '../../lib/text.ts';
import { candidTableLengthMax, candidTablePartsMax } from '../../limits.ts';

export const candidTypes = {
  null: -1,
  bool: -2,
  nat: -3,
  int: -4,
  nat8: -5,
  nat16: -6,
  text: -15,
  reserved: -16,
  empty: -17,
  opt: -18,
  vec: -19,
  record: -20,
  variant: -21,
  principal: -24,
} as const;

/** An entry of the type table: constructor and components; (id, type) for records and variants. */
export interface TableEntry {
  readonly kind: number;
  readonly parts: readonly (readonly [id: number, type: number])[];
}

/** Layouts of values; texts and blobs both begin with their length. */
export const skippedLayouts = { blob: 0, optBlob: 1, optBlobs: 2, optPairs: 3 } as const;
export type SkippedLayout = (typeof skippedLayouts)[keyof typeof skippedLayouts];

/** Maximum number of bytes of an integer: far more than 64 bits. */
const numberBytesMax = 20;
const principalBytesMax = 29;
const fieldIdMax = 2 ** 32 - 1;
/** Maximum number of lengths of three or more bytes: as many values of 16 kB fit into a message. */
const longLengthsMax = 128;

/** The message violates the format or a bound; the text completes "the message …". */
export class CandidFault extends RangeError {}

/** The message is of a kind that the reader does not support. */
export class UnknownCandid extends Error {}

function endsEarly(): CandidFault {
  return new CandidFault('ends early');
}

function outsideOfTable(): CandidFault {
  return new CandidFault('refers to a type outside of its type table');
}

function wrongFlag(): CandidFault {
  return new CandidFault('has a flag that is neither 0 nor 1');
}

export class CandidReader {
  readonly #bytes: Uint8Array;
  #position: number;
  #textBytesLeft: number;

  /** `textBytesMax`: total of all texts, because decoding a byte costs 600 instructions. */
  constructor(bytes: Uint8Array, textBytesMax: number) {
    this.#bytes = bytes;
    this.#position = 4;
    this.#textBytesLeft = textBytesMax;
    const [d, i, d2, l] = bytes;
    if (d !== 0x44 || i !== 0x49 || d2 !== 0x44 || l !== 0x4c) {
      throw new CandidFault('does not begin with DIDL');
    }
  }

  /** The position to return to with `seek()`. */
  get position(): number {
    return this.#position;
  }

  seek(position: number): void {
    this.#position = position;
  }

  byte(): number {
    const value = this.#bytes[this.#position++];
    if (value === undefined) {
      throw endsEarly();
    }
    return value;
  }

  /** Unsigned LEB128 below 2^49. */
  unsigned(): number {
    const bytes = this.#bytes;
    let value = 0;
    let factor = 1;
    for (let count = 0; count < 7; count++) {
      const byte = bytes[this.#position++];
      if (byte === undefined) {
        throw endsEarly();
      }
      if (byte < 0x80) {
        return value + byte * factor;
      }
      value += (byte & 0x7f) * factor;
      factor *= 128;
    }
    throw new UnknownCandid();
  }

  /** Reads a type: a built-in one, or an index into the table, which has fewer than 64 entries. */
  type(): number {
    const first = this.#bytes[this.#position++] ?? 0x80;
    if (first >= 0x80) {
      throw outsideOfTable();
    }
    return first < 0x40 ? first : first - 0x80;
  }

  /** Reads signed or unsigned LEB128. */
  bigNumber(isSigned: boolean): bigint {
    const start = this.#position;
    let low = 0;
    let factor = 1;
    for (let count = 0; count < 7; count++) {
      const byte = this.byte();
      low += (byte & 0x7f) * factor;
      factor *= 128;
      if (byte < 0x80) {
        return BigInt(isSigned && (byte & 0x40) !== 0 ? low - factor : low);
      }
    }
    this.#position = start;
    return this.#longNumber(isSigned);
  }

  #longNumber(isSigned: boolean): bigint {
    let value = 0n;
    let shift = 0n;
    for (let count = 0; count < numberBytesMax; count++) {
      const byte = this.byte();
      value |= BigInt(byte & 0x7f) << shift;
      shift += 7n;
      if (byte < 0x80) {
        return isSigned && (byte & 0x40) !== 0 ? value - (1n << shift) : value;
      }
    }
    throw new CandidFault(`has a number of more than ${numberBytesMax} bytes`);
  }

  /** Reads the number of items that are then read one by one. */
  count(limit: number, what = 'items'): number {
    const count = this.unsigned();
    if (count > limit) {
      throw new CandidFault(`lists ${count} ${what}, more than the limit of ${limit}`);
    }
    return count;
  }

  table(): TableEntry[] {
    const entries: TableEntry[] = [];
    let partsLeft = candidTablePartsMax;
    const length = this.count(candidTableLengthMax);
    while (entries.length < length) {
      const entry = this.#entry(partsLeft, length);
      partsLeft -= entry.parts.length;
      entries.push(entry);
    }
    return entries;
  }

  /** Reads a type of a table of that length. */
  #part(length: number): number {
    const type = this.type();
    if (type >= length) throw outsideOfTable();
    return type;
  }

  #entry(partsMax: number, length: number): TableEntry {
    const kind = this.type();
    if (kind === candidTypes.vec || kind === candidTypes.opt) {
      return { kind, parts: [[0, this.#part(length)]] };
    }
    if (kind !== candidTypes.record && kind !== candidTypes.variant) {
      throw new CandidFault('has functions, services or unknown types, which no method accepts');
    }
    const parts: [number, number][] = [];
    let former = -1;
    for (let count = this.count(partsMax); count > 0; count--) {
      const id = this.unsigned();
      if (id <= former) {
        throw new CandidFault('has fields out of order');
      }
      if (id > fieldIdMax) {
        throw new CandidFault('has a field whose id has more than 32 bits');
      }
      former = id;
      parts.push([id, this.#part(length)]);
    }
    return { kind, parts };
  }

  /** Returns a view into the message. */
  blob(): Uint8Array {
    return this.view(this.unsigned());
  }

  /** Returns a view of the next `length` bytes. */
  view(length: number): Uint8Array {
    const start = this.#position;
    const end = start + length;
    if (end > this.#bytes.length) {
      throw endsEarly();
    }
    this.#position = end;
    return this.#bytes.subarray(start, end);
  }

  /**
   * Skips rows of values. It is one function with local variables, because a call per value would
   * cost four times as much. `itemsMax`: maximum total length of their lists.
   */
  skipRows(rows: number, layout: readonly SkippedLayout[], itemsMax = 0): void {
    const { blob, optBlobs, optPairs } = skippedLayouts;
    const bytes = this.#bytes;
    const places = layout.length;
    let position = this.#position;
    let itemsLeft = itemsMax;
    let longLengthsLeft = longLengthsMax;
    for (let row = 0; row < rows; row++) {
      for (let place = 0; place < places; place++) {
        const kind = layout[place] as SkippedLayout;
        let blobs = 1;
        if (kind !== blob) {
          const flag = bytes[position++] ?? 2;
          if (flag > 1) throw wrongFlag();
          if (flag === 0) continue;
          if (kind >= optBlobs) {
            let count = bytes[position] as number;
            // Beyond the end `count` is undefined, and the comparison false.
            if (count < 0x80 && count <= itemsLeft) {
              position += 1;
            } else {
              this.#position = position;
              count = this.count(itemsLeft);
              position = this.#position;
            }
            itemsLeft -= count;
            blobs = kind === optPairs ? 2 * count : count;
          }
        }
        while (blobs-- > 0) {
          // Beyond the end both bytes are undefined, so the lengths do not count as short.
          const first = bytes[position++] as number;
          if (first < 0x80) {
            position += first;
            continue;
          }
          const second = bytes[position++] as number;
          if (second < 0x80) {
            position += first + 0x80 * (second - 1);
            continue;
          }
          if (longLengthsLeft-- === 0)
            throw new CandidFault('has too many lengths of three or more bytes');
          position = this.#endOfLong(position - 2);
        }
      }
      if (position > bytes.length) throw endsEarly();
    }
    this.#position = position;
  }

  /** Returns the end of the value whose length, of several bytes, begins at `position`. */
  #endOfLong(position: number): number {
    this.#position = position;
    const length = this.unsigned();
    return this.#position + length;
  }

  text(): string {
    const bytes = this.blob();
    this.#textBytesLeft -= bytes.length;
    if (this.#textBytesLeft < 0) {
      throw new CandidFault('has texts that are too long');
    }
    const text = decodeUtf8(bytes);
    if (text === undefined) {
      throw new CandidFault('has a text that is not well-formed UTF-8');
    }
    return text;
  }

  /**
   * Reads the bytes of a text of more than `min` and at most `max` bytes. Any other text is not
   * read: the result is undefined.
   */
  longBlob(min: number, max: number): Uint8Array | undefined {
    const start = this.#position;
    const bytes = this.blob();
    if (bytes.length > min && bytes.length <= max) return bytes;
    this.#position = start;
    return undefined;
  }

  /** Reads a principal; refuses an opaque reference. */
  principal(): Uint8Array {
    if (this.byte() !== 1) {
      throw new CandidFault('has an opaque principal reference');
    }
    const bytes = this.blob();
    if (bytes.length > principalBytesMax) {
      throw new CandidFault(`has a principal of more than ${principalBytesMax} bytes`);
    }
    return bytes;
  }

  /** Reads the flag of an `opt` or a `bool`. */
  flag(): boolean {
    const byte = this.byte();
    if (byte > 1) {
      throw wrongFlag();
    }
    return byte === 1;
  }

  /** Throws unless every byte has been read. */
  end(): void {
    if (this.#position !== this.#bytes.length) {
      throw new CandidFault('has bytes after its end');
    }
  }
}

/** Returns the result of `read`, or `undefined` for a kind of message that it does not support. */
export function readCandid<T>(
  bytes: Uint8Array,
  textBytesMax: number,
  read: (reader: CandidReader) => T,
): T | undefined {
  try {
    const reader = new CandidReader(bytes, textBytesMax);
    const value = read(reader);
    reader.end();
    return value;
  } catch (error) {
    if (error instanceof UnknownCandid) {
      return undefined;
    }
    throw error;
  }
}
