// Random bytes derived from seeds of the network (raw_rand) by HKDF-Expand in steps. The key is
// replaced after each step, so that earlier output cannot be computed from the state. This module
// fetches no seeds. The times that callers pass show whether the state may come from a snapshot.
// The language's own generator is predictable in a canister and never used.

import { assert } from '../lib/assert.ts';
import { concatBytes, emptyBytes } from '../lib/bytes.ts';
import { expandSha256, hkdfSha256 } from './kdf.ts';

const keyBytes = 32;
/** Time without use after which a source is not fresh. */
export const staleAfterNs = 3_600_000_000_000n;

export interface RandomSource {
  /**
   * Whether the source is seeded and cannot come from a loaded snapshot: since its last use, time
   * has neither run backwards nor advanced by more than an hour. Otherwise its next bytes may have
   * been drawn before.
   */
  isFresh(nowNs: bigint): boolean;
  /** Mixes in 32 unpredictable bytes. */
  seed(entropy: Uint8Array, nowNs: bigint): void;
  /**
   * Returns up to 8,000 bytes. `timeNs` is mixed in, so that a canister that continues from a
   * snapshot does not draw the same bytes again.
   */
  next(length: number, timeNs: bigint): Uint8Array;
}

export function createRandomSource(): RandomSource {
  let key: Uint8Array = emptyBytes;
  let usedAtNs = 0n;
  return {
    isFresh: (nowNs) => key.length > 0 && nowNs >= usedAtNs && nowNs - usedAtNs <= staleAfterNs,
    seed(entropy, nowNs) {
      assert(entropy.length === keyBytes, 'a seed has 32 bytes');
      usedAtNs = nowNs;
      const keyMaterial = concatBytes(key, entropy);
      key = hkdfSha256({ keyMaterial, salt: emptyBytes, info: emptyBytes, length: keyBytes });
    },
    next(length, timeNs) {
      assert(key.length > 0, 'the random source is seeded');
      usedAtNs = timeNs;
      const info = new Uint8Array(BigUint64Array.of(timeNs).buffer);
      const output = expandSha256(key, { info, length: keyBytes + length });
      key = output.slice(0, keyBytes);
      const drawn = output.slice(keyBytes);
      output.fill(0);
      return drawn;
    },
  };
}
