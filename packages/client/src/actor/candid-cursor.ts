// Reads values of Candid from a reply whose types are known (specification, "Binary format"): a
// long list takes a tenth of the time that the library needs.

import { StorageError } from '../storage-error.ts';

const two28 = 2 ** 28;
const utf8 = new TextDecoder();

function cutOff(): StorageError {
  return new StorageError('IntegrityError', 'A reply about the journal is cut off.');
}

/** Reads values one after the other; throws IntegrityError at the end of the reply. */
export class CandidCursor {
  readonly #reply: Uint8Array;
  at: number;

  constructor(reply: Uint8Array, at: number) {
    this.#reply = reply;
    this.at = at;
  }

  byte(): number {
    const byte = this.#reply[this.at];
    if (byte === undefined) throw cutOff();
    this.at += 1;
    return byte;
  }

  number(): number {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = this.byte();
      value += (byte & 127) * factor;
      if (byte < 128) return value;
    }
  }

  bigNumber(): bigint {
    let low = 0;
    let high = 0;
    for (let place = 0; ; place++) {
      const byte = this.byte();
      if (place < 4) low += (byte & 127) * 128 ** place;
      else high += (byte & 127) * 128 ** (place - 4);
      if (byte < 128) return BigInt(high) * BigInt(two28) + BigInt(low);
    }
  }

  bytes(length: number): Uint8Array {
    const start = this.at;
    if (start + length > this.#reply.length) throw cutOff();
    this.at += length;
    return this.since(start);
  }

  text(): string {
    return utf8.decode(this.bytes(this.number()));
  }

  since(start: number): Uint8Array {
    return this.#reply.subarray(start, this.at);
  }
}
