// Reads a stream of chunks as lines and runs of bytes. Buffers a line and the present chunk.

import { S3Error } from '../s3-error.ts';

const newline = 10;

export class ByteReader {
  readonly #pieces: AsyncIterator<Uint8Array>;
  #rest: Uint8Array = new Uint8Array();

  constructor(pieces: AsyncIterable<Uint8Array>) {
    this.#pieces = pieces[Symbol.asyncIterator]();
  }

  /** Returns whether the stream has ended. */
  async isAtEnd(): Promise<boolean> {
    while (this.#rest.length === 0) {
      const next = await this.#pieces.next();
      if (next.done) return true;
      this.#rest = next.value;
    }
    return false;
  }

  /** Returns at least one byte and at most `bytesMax`; undefined at the end. */
  async some(bytesMax: number): Promise<Uint8Array | undefined> {
    if (await this.isAtEnd()) return undefined;
    const taken = this.#rest.subarray(0, bytesMax);
    this.#rest = this.#rest.subarray(taken.length);
    return taken;
  }

  /** Returns the text up to the newline, one byte per character. Throws IncompleteBody. */
  async line(bytesMax: number): Promise<string> {
    let line = '';
    for (;;) {
      if (await this.isAtEnd()) {
        throw new S3Error('IncompleteBody', 'The body ends within a chunk header.');
      }
      const end = this.#rest.indexOf(newline);
      const bytes = end === -1 ? this.#rest : this.#rest.subarray(0, end);
      if (line.length + bytes.length > bytesMax) {
        throw new S3Error(
          'InvalidRequest',
          `A chunk header of the body has more than ${bytesMax} bytes.`,
        );
      }
      line += Buffer.from(bytes).toString('latin1');
      this.#rest = this.#rest.subarray(bytes.length + (end === -1 ? 0 : 1));
      if (end !== -1) return line;
    }
  }

  /** Closes the source, so that nothing reads an abandoned body. */
  async close(): Promise<void> {
    await this.#pieces.return?.();
  }
}
