// Verifies the signatures of chunks; each depends on the one before, the first on the request's.

import { createHash, createHmac } from 'node:crypto';
import { isSameText } from './same-text.ts';

const emptyHash = createHash('sha256').digest('hex');

export class ChunkSigner {
  readonly #key: Uint8Array;
  readonly #bound: string;
  #previous: string;

  /** `time` and `scope` are those of the request; `seed` is its signature. */
  constructor(
    key: Uint8Array,
    { time, scope, seed }: { readonly time: string; readonly scope: string; readonly seed: string },
  ) {
    this.#key = key;
    this.#bound = `${time}\n${scope}`;
    this.#previous = seed;
  }

  /** Returns whether the signature belongs to the next chunk, which has this SHA-256. */
  isChunk(sha256: string, signature: string): boolean {
    return this.#isNext(
      `PAYLOAD\n${this.#bound}\n${this.#previous}\n${emptyHash}\n${sha256}`,
      signature,
    );
  }

  /** Returns whether the signature belongs to the trailer: `name:value\n` for each header. */
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
