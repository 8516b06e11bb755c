// Random bytes stretched from seeds that the network made (raw_rand): HKDF-Expand in steps, the key
// replaced after each, so that what was given out cannot be computed from what is kept. Fetches
// nothing itself. The language's own generator is predictable in a canister and never used.

import { assert } from '../lib/assert.ts';
import { concatBytes, emptyBytes } from '../lib/bytes.ts';
import { expandSha256, hkdfSha256 } from './kdf.ts';

const keyBytes = 32;

export interface RandomSource {
  isSeeded(): boolean;
  /** Mixes 32 unpredictable bytes in. */
  seed(entropy: Uint8Array): void;
  /**
   * Up to 8,000 bytes. `timeNs` is mixed in, so that a canister that goes on from a snapshot does
   * not draw again what it drew before.
   */
  next(length: number, timeNs: bigint): Uint8Array;
}

export function createRandomSource(): RandomSource {
  let key: Uint8Array = emptyBytes;
  return {
    isSeeded: () => key.length > 0,
    seed(entropy) {
      assert(entropy.length === keyBytes, 'a seed has 32 bytes');
      const keyMaterial = concatBytes(key, entropy);
      key = hkdfSha256({ keyMaterial, salt: emptyBytes, info: emptyBytes, length: keyBytes });
    },
    next(length, timeNs) {
      assert(key.length > 0, 'the random source is seeded');
      const info = new Uint8Array(BigUint64Array.of(timeNs).buffer);
      const output = expandSha256(key, { info, length: keyBytes + length });
      key = output.slice(0, keyBytes);
      const drawn = output.slice(keyBytes);
      output.fill(0);
      return drawn;
    },
  };
}
