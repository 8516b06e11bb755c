// ByteMap in stable memory by Azle's B-tree, with raw serialisers: the default ones write JSON with
// every byte as a decimal number.

import { StableBTreeMap } from 'azle';
import type { ByteMap } from './byte-map.ts';

const raw = {
  toBytes: (bytes: Uint8Array) => bytes,
  fromBytes: (bytes: Uint8Array) => bytes,
};

export function openStableMap(memoryId: number): ByteMap {
  const map = new StableBTreeMap<Uint8Array, Uint8Array>(memoryId, raw, raw);
  return {
    get: (key) => map.get(key),
    has: (key) => map.containsKey(key),
    set: (key, value) => {
      map.insert(key, value);
    },
    delete: (key) => {
      map.remove(key);
    },
    firstKey: () => map.keys(0, 1)[0],
    keys: (start, limit) => map.keys(start, limit),
  };
}
