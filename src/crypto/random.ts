// Random bytes stretched from seeds that the network made (raw_rand): HKDF-Expand in steps, the key
// replaced after each, so that what was given out cannot be computed from what is kept. Fetches
// nothing itself; knows by the time when it may be an older self, out of a snapshot. The language's
// own generator is predictable in a canister and never used.

import { assert } from '../lib/assert.ts';
import { concatBytes, emptyBytes } from '../lib/bytes.ts';
import { expandSha256, hkdfSha256 } from './kdf.ts';

const keyBytes = 32;
/** Whoever keeps the source seeds it more often than that. */
export const staleAfterNs = 3_600_000_000_000n;

export interface RandomSource {
  /**
   * Seeded, and no load of a snapshot is to be feared: since it was last used, time has neither run
   * back nor gone on for over an hour. Otherwise it may have drawn already what it would draw.
   */
  isFresh(nowNs: bigint): boolean;
  /** Mixes 32 unpredictable bytes in. */
  seed(entropy: Uint8Array, nowNs: bigint): void;
  /**
   * Up to 8,000 bytes. `timeNs` is mixed in, so that a canister that goes on from a snapshot does
   * not draw again what it drew before.
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
