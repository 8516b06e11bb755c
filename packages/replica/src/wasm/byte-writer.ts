// A growing buffer for the bytes of a WebAssembly binary, the counterpart of byte-reader.

export class ByteWriter {
  #bytes: Uint8Array;
  #length = 0;

  constructor(capacity = 1024) {
    this.#bytes = new Uint8Array(capacity);
  }

  get length(): number {
    return this.#length;
  }

  /** Drops the written bytes and keeps the buffer. */
  reset(): void {
    this.#length = 0;
  }

  #reserve(count: number): void {
    const needed = this.#length + count;
    if (needed <= this.#bytes.length) return;
    const larger = new Uint8Array(Math.max(needed, this.#bytes.length * 2));
    larger.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = larger;
  }

  byte(value: number): void {
    this.#reserve(1);
    this.#bytes[this.#length] = value;
    this.#length += 1;
  }

  bytes(source: Uint8Array | readonly number[]): void {
    this.#reserve(source.length);
    this.#bytes.set(source, this.#length);
    this.#length += source.length;
  }

  /** Copies `source[start, end)`. */
  slice(source: Uint8Array, range: { readonly start: number; readonly end: number }): void {
    this.bytes(source.subarray(range.start, range.end));
  }

  u32(value: number): void {
    let rest = value;
    while (rest >= 0x80) {
      this.byte((rest % 0x80) | 0x80);
      rest = Math.floor(rest / 0x80);
    }
    this.byte(rest);
  }

  /** Writes a non-negative number below 2^53 as signed LEB128. */
  signed(value: number): void {
    let rest = value;
    while (rest >= 0x40) {
      this.byte((rest % 0x80) | 0x80);
      rest = Math.floor(rest / 0x80);
    }
    this.byte(rest);
  }

  name(text: string): void {
    const encoded = new TextEncoder().encode(text);
    this.u32(encoded.length);
    this.bytes(encoded);
  }

  /** Returns the written bytes, as a view that later writes may invalidate. */
  view(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }
}
