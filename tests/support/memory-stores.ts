// The domain's stores in the memory of Node: ordered maps that count their writes, so that a test can
// prove that a refused call changes nothing, and the true blob store over the true kernel.

import type { Stores } from '../../src/domain/stores.ts';
import { installUtf8Encoder } from '../../src/lib/text.ts';
import { type Blobs, openBlobs } from '../../src/storage/blobs.ts';
import type { ByteMap } from '../../src/storage/byte-map.ts';
import { spaceIds } from '../../src/storage/memory.ts';
import { type OrderedIndex, openOrderedIndex } from '../../src/storage/ordered-index.ts';
import { openSpace } from '../../src/storage/space.ts';
import { installNodeKernel } from './kernel-host.ts';

export type Entry = readonly [key: Uint8Array, value: Uint8Array];

export interface MemoryMap extends ByteMap {
  /** Copies, in bytewise order of the keys. */
  entries(): Entry[];
}

type MapName = Exclude<keyof Stores, 'blobs' | 'index' | 'directory'>;
type MemoryMaps = { readonly [name in MapName]: MemoryMap };

export interface MemoryStores extends Stores, MemoryMaps {
  readonly meta: MemoryMap;
  readonly buckets: MemoryMap;
  readonly keys: MemoryMap;
  readonly files: MemoryMap;
  readonly chunks: MemoryMap;
  readonly uploads: MemoryMap;
  readonly uploadExpirations: MemoryMap;
  readonly reclaims: MemoryMap;
  readonly members: MemoryMap;
  /** Of all maps, the index and the blob store since the beginning. */
  writeCount(): number;
  /** Every value of every map. */
  values(): Uint8Array[];
}

/** An ordered map; keys and values are copied in and out, as stable memory does it. */
export function createMemoryMap(countWrite: () => void = () => undefined): MemoryMap {
  const keys: Uint8Array[] = [];
  const values: Uint8Array[] = [];
  const find = (key: Uint8Array) => {
    let low = 0;
    let high = keys.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (Buffer.compare(keys[middle] ?? key, key) < 0) low = middle + 1;
      else high = middle;
    }
    const found = keys[low];
    return { position: low, isThere: found !== undefined && Buffer.compare(found, key) === 0 };
  };
  return {
    get(key) {
      const { position, isThere } = find(key);
      return isThere ? values[position]?.slice() : undefined;
    },
    has: (key) => find(key).isThere,
    set(key, value) {
      countWrite();
      const { position, isThere } = find(key);
      keys.splice(position, isThere ? 1 : 0, key.slice());
      values.splice(position, isThere ? 1 : 0, value.slice());
    },
    delete(key) {
      countWrite();
      const { position, isThere } = find(key);
      keys.splice(position, isThere ? 1 : 0);
      values.splice(position, isThere ? 1 : 0);
    },
    firstKey: () => keys[0]?.slice(),
    keys: (start, limit) => keys.slice(start, start + limit).map((key) => key.slice()),
    entries: () => keys.map((key, index) => [key.slice(), values[index]?.slice() ?? key] as const),
  };
}

function countBlobWrites(blobs: Blobs, countWrite: () => void): Blobs {
  return {
    ...blobs,
    allocate(sizes) {
      countWrite();
      return blobs.allocate(sizes);
    },
    free(offsets, sizes) {
      countWrite();
      blobs.free(offsets, sizes);
    },
    write(offset, source) {
      countWrite();
      blobs.write(offset, source);
    },
  };
}

function countIndexWrites(index: OrderedIndex, countWrite: () => void): OrderedIndex {
  return {
    ...index,
    insert(key, value) {
      countWrite();
      return index.insert(key, value);
    },
    remove(key) {
      countWrite();
      return index.remove(key);
    },
  };
}

/** Installs the text encoder that the canister gets from Azle. */
export function installNodeText(): void {
  const encoder = new TextEncoder();
  installUtf8Encoder((text) => encoder.encode(text));
}

/** Empty stores over a new kernel, which becomes the one that src calls. */
export async function createMemoryStores(): Promise<MemoryStores> {
  installNodeText();
  await installNodeKernel();
  let writes = 0;
  const countWrite = () => {
    writes += 1;
  };
  const maps: MemoryMaps = {
    meta: createMemoryMap(countWrite),
    buckets: createMemoryMap(countWrite),
    keys: createMemoryMap(countWrite),
    files: createMemoryMap(countWrite),
    chunks: createMemoryMap(countWrite),
    uploads: createMemoryMap(countWrite),
    uploadExpirations: createMemoryMap(countWrite),
    reclaims: createMemoryMap(countWrite),
    members: createMemoryMap(countWrite),
  };
  return {
    ...maps,
    blobs: countBlobWrites(openBlobs(openSpace(spaceIds.blobs)), countWrite),
    index: countIndexWrites(openOrderedIndex(spaceIds.index), countWrite),
    directory: countIndexWrites(openOrderedIndex(spaceIds.directory), countWrite),
    writeCount: () => writes,
    values: () => Object.values(maps).flatMap((map) => map.entries().map(([, value]) => value)),
  };
}
