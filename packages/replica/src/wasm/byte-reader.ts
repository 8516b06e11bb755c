// A cursor over the bytes of a WebAssembly binary, which reads LEB128 numbers and vectors.
// WebAssembly Core specification, §5.2 "Values".

import { InvalidModule, notDecoded } from './invalid-module.ts';

export class ByteReader {
  readonly bytes: Uint8Array;
  readonly end: number;
  position: number;

  constructor(bytes: Uint8Array, start = 0, end = bytes.length) {
    this.bytes = bytes;
    this.position = start;
    this.end = end;
  }

  done(): boolean {
    return this.position >= this.end;
  }

  byte(): number {
    const value = this.position < this.end ? this.bytes[this.position] : undefined;
    if (value === undefined) throw notDecoded('the module ends in the middle of a value');
    this.position += 1;
    return value;
  }

  /** Reads an unsigned LEB128 number of at most 32 bits. */
  u32(): number {
    let value = 0;
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = this.byte();
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
    throw notDecoded('a number in the module is longer than 32 bits');
  }

  /** Reads an unsigned LEB128 number of at most 64 bits; inexact from 2^53 on. */
  u64(): number {
    let value = 0;
    for (let shift = 0; shift < 70; shift += 7) {
      const byte = this.byte();
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
    throw notDecoded('a number in the module is longer than 64 bits');
  }

  /** Skips a LEB128 number of any width. */
  skipNumber(): void {
    while (this.byte() >= 0x80);
  }

  skip(count: number): void {
    if (this.position + count > this.end) throw notDecoded('the module is cut short');
    this.position += count;
  }

  /** Reads a vector of bytes as a view. */
  blob(): Uint8Array {
    const length = this.u32();
    const start = this.position;
    this.skip(length);
    return this.bytes.subarray(start, this.position);
  }

  name(): string {
    try {
      return new TextDecoder('utf-8', { fatal: true }).decode(this.blob());
    } catch (error) {
      if (error instanceof InvalidModule) throw error;
      throw notDecoded('a name in the module is not UTF-8');
    }
  }
}
