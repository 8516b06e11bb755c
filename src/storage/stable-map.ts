// ByteMap in stable memory by Azle's B-tree with raw serializers: the default ones write JSON with
// every byte as a decimal number. Frequent operations call Azle's native functions directly,
// because its class takes 8,000 more instructions per call.

import { StableBTreeMap } from 'azle';
import type { ByteMap } from './byte-map.ts';
import { spaceRead, spaceSize } from './stable-space.ts';

const raw = {
  toBytes: (bytes: Uint8Array) => bytes,
  fromBytes: (bytes: Uint8Array) => bytes,
};

export interface StableMap extends ByteMap {
  /**
   * Opens the map if it has had a record before: for setup, because a map that a query opens does
   * not stay open.
   */
  open(): void;
}

/**
 * A map takes a MiB of stable memory, which the network charges for, from its first record on.
 * Until then reading finds nothing and opens nothing.
 */
export function stableMap(memoryId: number): StableMap {
  let opened: StableBTreeMap<Uint8Array, Uint8Array> | undefined;
  let isCreated: boolean | undefined;
  const azle = globalThis._azleIc;
  if (azle === undefined) throw new Error('Stable maps exist only in a canister of Azle');

  function create(): StableBTreeMap<Uint8Array, Uint8Array> {
    isCreated = true;
    opened ??= new StableBTreeMap<Uint8Array, Uint8Array>(memoryId, raw, raw);
    return opened;
  }
  function open(): StableBTreeMap<Uint8Array, Uint8Array> | undefined {
    isCreated ??= hasMemory(memoryId);
    return isCreated ? create() : undefined;
  }
  const isOpen = () => open() !== undefined;

  return {
    open: () => void open(),
    get: (key) => (isOpen() ? azle.stableBTreeMapGet(memoryId, key) : undefined),
    has: (key) => isOpen() && azle.stableBTreeMapContainsKey(memoryId, key),
    set(key, value) {
      create();
      return azle.stableBTreeMapInsert(memoryId, key, value);
    },
    delete: (key) => (isOpen() ? azle.stableBTreeMapRemove(memoryId, key) : undefined),
    firstKey: () => open()?.keys(0, 1)[0],
    keys: (start, limit) => open()?.keys(start, limit) ?? [],
  };
}

/** Header of Azle's memory manager (ic-stable-structures): "MGR", 1; sizes in pages, u64, at 40. */
const managerMagic = 0x0152_474d;
const managerSizesAt = 40;

function hasMemory(memoryId: number): boolean {
  if (spaceSize(0) === 0) return false;
  const words = new Uint32Array(2);
  const bytes = new Uint8Array(words.buffer);
  spaceRead({ space: 0, offset: 0 }, bytes);
  if (words[0] !== managerMagic) {
    throw new Error('Cannot read stable memory: it does not begin with a memory manager');
  }
  spaceRead({ space: 0, offset: managerSizesAt + memoryId * bytes.length }, bytes);
  return words.some((word) => word !== 0);
}
