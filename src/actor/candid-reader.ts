// Reads Candid messages without copying: the library copies the whole rest of a message for each
// type that it reads, 70 instructions a byte of a body. Reads only what the two bulk messages
// consist of; `undefined` tells the caller to leave any other message to the library. Candid
// specification, "Binary format".

import { decodeUtf8 } from '../lib/text.ts';

export const candidTypes = {
  text: -15,
  nat8: -5,
  nat16: -6,
  nat: -3,
  opt: -18,
  vec: -19,
  record: -20,
  variant: -21,
} as const;

/**
 * An entry of the type table: its type constructor and what it is made of, (id, type) for records
 * and variants.
 */
export interface TableEntry {
  readonly kind: number;
  readonly parts: readonly (readonly [id: number, type: number])[];
}

/** Entries of a type table and fields of a record: the messages read here have less than ten. */
const tableLengthMax = 32;

/**
 * What the bytes hold is not what this reader knows: the library is to decode them, or to refuse.
 */
export class UnknownCandid extends Error {}

export class CandidReader {
  readonly #bytes: Uint8Array;
  #position: number;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#position = 4; // "DIDL": what is no Candid has no table that fits, and fails below
  }

  byte(): number {
    const value = this.#bytes[this.#position++];
    if (value === undefined) {
      throw new UnknownCandid();
    }
    return value;
  }

  /** Unsigned LEB128 below 2^49. */
  unsigned(): number {
    let value = 0;
    let factor = 1;
    for (let count = 0; count < 7; count++) {
      const byte = this.byte();
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) {
        return value;
      }
      factor *= 128;
    }
    throw new UnknownCandid();
  }

  /** Signed LEB128 of one byte, or an unsigned one: the types of this reader need no others. */
  type(): number {
    const first = this.byte();
    if (first >= 0x80) {
      throw new UnknownCandid();
    }
    return first < 0x40 ? first : first - 0x80;
  }

  /**
   * A count of things that are read one by one; more than `limit` is an attempt to make us busy.
   */
  count(limit: number): number {
    const count = this.unsigned();
    if (count > limit) {
      throw new RangeError(`The message lists ${count} items where at most ${limit} are taken`);
    }
    return count;
  }

  table(): TableEntry[] {
    const entries: TableEntry[] = [];
    for (let count = this.count(tableLengthMax); count > 0; count--) {
      entries.push(this.#entry());
    }
    return entries;
  }

  #entry(): TableEntry {
    const kind = this.type();
    if (kind === candidTypes.vec || kind === candidTypes.opt) {
      return { kind, parts: [[0, this.type()]] };
    }
    if (kind !== candidTypes.record && kind !== candidTypes.variant) {
      throw new UnknownCandid();
    }
    const parts: [number, number][] = [];
    for (let count = this.count(tableLengthMax); count > 0; count--) {
      parts.push([this.unsigned(), this.type()]);
    }
    return { kind, parts };
  }

  /** A view into the message. */
  blob(): Uint8Array {
    const length = this.unsigned();
    const start = this.#position;
    this.#position += length;
    if (this.#position > this.#bytes.length) {
      throw new UnknownCandid();
    }
    return this.#bytes.subarray(start, this.#position);
  }

  text(): string {
    const text = decodeUtf8(this.blob());
    if (text === undefined) {
      throw new UnknownCandid();
    }
    return text;
  }

  /** Fails unless every byte has been read. */
  end(): void {
    if (this.#position !== this.#bytes.length) {
      throw new UnknownCandid();
    }
  }
}

/** What `read` makes of the message, or `undefined` when the library is to look at it. */
export function readCandid<T>(bytes: Uint8Array, read: (reader: CandidReader) => T): T | undefined {
  try {
    const reader = new CandidReader(bytes);
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
