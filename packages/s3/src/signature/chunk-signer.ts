// Signatures of the chunks of a body: each is bound to the one before it, the first to that of the
// request.

import { createHash, createHmac } from 'node:crypto';
import { isSameText } from './same-text.ts';

const emptyHash = createHash('sha256').digest('hex');

export class ChunkSigner {
  readonly #key: Uint8Array;
  readonly #bound: string;
  #previous: string;

  /** `time` and `scope` of the request, and its signature as `seed`. */
  constructor(
    key: Uint8Array,
    { time, scope, seed }: { readonly time: string; readonly scope: string; readonly seed: string },
  ) {
    this.#key = key;
    this.#bound = `${time}\n${scope}`;
    this.#previous = seed;
  }

  /** Whether the next chunk, of this SHA-256, has this signature. */
  isChunk(sha256: string, signature: string): boolean {
    return this.#isNext(
      `PAYLOAD\n${this.#bound}\n${this.#previous}\n${emptyHash}\n${sha256}`,
      signature,
    );
  }

  /** Whether the trailer, `name:value\n` for each header, has this signature. */
  isTrailer(trailer: string, signature: string): boolean {
    const sha256 = createHash('sha256').update(trailer).digest('hex');
    return this.#isNext(`TRAILER\n${this.#bound}\n${this.#previous}\n${sha256}`, signature);
  }

  #isNext(text: string, signature: string): boolean {
    const right = createHmac('sha256', this.#key).update(`AWS4-HMAC-SHA256-${text}`).digest('hex');
    if (!isSameText(right, signature)) return false;
    this.#previous = right;
    return true;
  }
}
