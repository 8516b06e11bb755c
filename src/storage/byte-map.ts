// The interface of every ordered map of bytes: the canister's are in stable memory (stable-map.ts),
// the tests' in JavaScript. Knows nothing of what keys and values mean.

export interface ByteMap {
  get(key: Uint8Array): Uint8Array | undefined;
  has(key: Uint8Array): boolean;
  /** The value that it had. */
  set(key: Uint8Array, value: Uint8Array): Uint8Array | undefined;
  /** The value that it had. */
  delete(key: Uint8Array): Uint8Array | undefined;
  /** The lowest key in bytewise order. */
  firstKey(): Uint8Array | undefined;
  /** At most `limit` keys in bytewise order, from position `start` on; costs grow with `start`. */
  keys(start: number, limit: number): Uint8Array[];
}
