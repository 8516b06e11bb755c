// ByteMap in stable memory by Azle's B-tree with raw serializers: the default ones write JSON with
// every byte as a decimal number. Frequent operations call Azle's native functions directly,
// because its class takes 8,000 more instructions per call.

import { StableBTreeMap } from 'azle';
import type { ByteMap } from './byte-map.ts';

const raw = {
  toBytes: (bytes: Uint8Array) => bytes,
  fromBytes: (bytes: Uint8Array) => bytes,
};

export function openStableMap(memoryId: number): ByteMap {
  const map = new StableBTreeMap<Uint8Array, Uint8Array>(memoryId, raw, raw);
  const azle = globalThis._azleIc;
  if (azle === undefined) throw new Error('Stable maps are in a canister of Azle');
  return {
    get: (key) => azle.stableBTreeMapGet(memoryId, key),
    has: (key) => azle.stableBTreeMapContainsKey(memoryId, key),
    set: (key, value) => azle.stableBTreeMapInsert(memoryId, key, value),
    delete: (key) => azle.stableBTreeMapRemove(memoryId, key),
    firstKey: () => map.keys(0, 1)[0],
    keys: (start, limit) => map.keys(start, limit),
  };
}
