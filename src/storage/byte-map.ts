// The interface of ordered maps of bytes: stable-map.ts implements it in stable memory, tests in
// JavaScript. It knows nothing of keys and values.

export interface ByteMap {
  get(key: Uint8Array): Uint8Array | undefined;
  has(key: Uint8Array): boolean;
  /** Returns the replaced value. */
  set(key: Uint8Array, value: Uint8Array): Uint8Array | undefined;
  /** Returns the deleted value. */
  delete(key: Uint8Array): Uint8Array | undefined;
  /** Returns the lowest key in bytewise order. */
  firstKey(): Uint8Array | undefined;
  /** Returns at most `limit` keys in order, from position `start` on; cost grows with `start`. */
  keys(start: number, limit: number): Uint8Array[];
}
