// ByteMap in stable memory by Azle's B-tree with raw serializers: the default ones write JSON with
// every byte as a decimal number. Frequent operations call Azle's native functions directly,
// because its class takes 8,000 more instructions per call.

import { StableBTreeMap } from 'azle';
import type { ByteMap } from './byte-map.ts';

const raw = {
  toBytes: (bytes: Uint8Array) => bytes,
  fromBytes: (bytes: Uint8Array) => bytes,
};

export interface StableMap extends ByteMap {
  /**
   * Opens the map, unless it is open. A new one takes a MiB of stable memory, so a front opens only
   * those that it needs. Every operation opens it too, but a map that a query opens does not stay
   * open.
   */
  open(): void;
}

export function stableMap(memoryId: number): StableMap {
  let opened: StableBTreeMap<Uint8Array, Uint8Array> | undefined;
  function open(): StableBTreeMap<Uint8Array, Uint8Array> {
    opened ??= new StableBTreeMap<Uint8Array, Uint8Array>(memoryId, raw, raw);
    return opened;
  }
  const azle = globalThis._azleIc;
  if (azle === undefined) throw new Error('Stable maps exist only in a canister of Azle');
  return {
    open: () => void open(),
    get: (key) => {
      open();
      return azle.stableBTreeMapGet(memoryId, key);
    },
    has: (key) => {
      open();
      return azle.stableBTreeMapContainsKey(memoryId, key);
    },
    set: (key, value) => {
      open();
      return azle.stableBTreeMapInsert(memoryId, key, value);
    },
    delete: (key) => {
      open();
      return azle.stableBTreeMapRemove(memoryId, key);
    },
    firstKey: () => open().keys(0, 1)[0],
    keys: (start, limit) => open().keys(start, limit),
  };
}
