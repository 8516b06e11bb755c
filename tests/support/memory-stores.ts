// The domain's stores in the memory of Node: ordered maps that count their writes, so that a test
// can prove that a refused call changes nothing, and the real blob store with the real kernel.

import { createHash } from 'node:crypto';
import { createRandomSource } from '../../src/crypto/random.ts';
import {
  acceptRootKey,
  configureRootKey,
  missingRootKeys,
} from '../../src/domain/keys/root-keys.ts';
import { createHeapState } from '../../src/domain/shared/heap-state.ts';
import { type Change, entryKinds } from '../../src/domain/shared/journal.ts';
import type { Stores } from '../../src/domain/shared/stores.ts';
import { installUtf8Encoder } from '../../src/lib/text.ts';
import { type Blobs, openBlobs } from '../../src/storage/blobs.ts';
import type { ByteMap } from '../../src/storage/byte-map.ts';
import { type ErasableSlots, openErasableSlots } from '../../src/storage/erasable-slots.ts';
import { type Records, withFormerRecords } from '../../src/storage/former-records.ts';
import { openJournalLog } from '../../src/storage/journal-log.ts';
import { spaceIds } from '../../src/storage/memory.ts';
import {
  type OrderedIndex,
  openOrderedIndex,
  openSummedIndex,
} from '../../src/storage/ordered-index.ts';
import { openRecordMap } from '../../src/storage/record-map.ts';
import { openSpace } from '../../src/storage/space.ts';
import { FakeSystem, installNodeKernel } from './kernel-host.ts';

/** As src/actor/runtime/journal.ts computes them. */
export const blockHashes = Buffer.concat(
  ['btype', 'ts', 'phash', 'entry', ...entryKinds.map((kind) => `efs.${kind}`)].map((text) =>
    createHash('sha256').update(text).digest(),
  ),
);

export type Entry = readonly [key: Uint8Array, value: Uint8Array];

export interface MemoryMap extends ByteMap {
  /** Returns copies, in bytewise order of the keys. */
  entries(): Entry[];
}

type MapName = Exclude<
  keyof Stores,
  | 'blobs'
  | 'index'
  | 'records'
  | 'directory'
  | 'keySlots'
  | 'secrets'
  | 'heap'
  | 'isController'
  | 'journalLog'
  | 'journal'
  | 'publication'
>;
export type MemoryMaps = { readonly [name in MapName]: MemoryMap };

export interface MemoryState {
  readonly maps: { readonly [name in MapName]: readonly Entry[] };
  /** The system whose stable memory contains the blobs, indexes and key slots. */
  readonly system: FakeSystem;
}

export interface NotedChange extends Change {
  readonly bucket: string;
}

export interface MemoryStores extends Stores, MemoryMaps {
  readonly meta: MemoryMap;
  readonly buckets: MemoryMap;
  readonly apiKeys: MemoryMap;
  /** The records of files, former versions and links, in `records`. */
  readonly files: MemoryMap;
  /** The records of chunks, in `records`; keys without their first byte. */
  readonly chunks: MemoryMap;
  readonly uploads: MemoryMap;
  readonly uploadExpirations: MemoryMap;
  readonly reclaims: MemoryMap;
  readonly members: MemoryMap;
  /** Its stable memory contains the blobs, indexes and key slots; the maps are separate. */
  readonly system: FakeSystem;
  /** The changes that the domain has reported to the journal; the log stays empty. */
  readonly noted: readonly NotedChange[];
  /** Number of writes to the maps, indexes, key slots, blob store and publication. */
  writeCount(): number;
  /** Returns every value of every map. */
  values(): Uint8Array[];
}

/** Creates an ordered map that copies keys and values in and out, as stable memory does. */
export function createMemoryMap(
  countWrite: () => void = () => undefined,
  entries: readonly Entry[] = [],
): MemoryMap {
  const keys = entries.map(([key]) => key.slice());
  const values = entries.map(([, value]) => value.slice());
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
      return values.splice(position, isThere ? 1 : 0, value.slice())[0];
    },
    delete(key) {
      countWrite();
      const { position, isThere } = find(key);
      keys.splice(position, isThere ? 1 : 0);
      return values.splice(position, isThere ? 1 : 0)[0];
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
    fill(by) {
      countWrite();
      blobs.fill(by);
    },
  };
}

function countIndexWrites<T extends OrderedIndex>(index: T, countWrite: () => void): T {
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

function countRecordWrites(records: Records, countWrite: () => void): Records {
  return {
    ...records,
    set(key, record, weight) {
      countWrite();
      return records.set(key, record, weight);
    },
    delete(key) {
      countWrite();
      return records.delete(key);
    },
  };
}

const chunkKind = 2;

/** Returns some of the records as a map. Setting one keeps its weight. */
function viewOf(records: Records, kind: 'files' | 'chunks'): MemoryMap {
  const index = openSummedIndex(spaceIds.records);
  const head = kind === 'chunks' ? Uint8Array.of(chunkKind) : new Uint8Array(0);
  const keyOf = (key: Uint8Array) => Uint8Array.of(...head, ...key);
  const keys = () =>
    index
      .read(0, index.count())
      .filter(({ key }) => (key[0] === chunkKind) === (kind === 'chunks'))
      .map(({ key }) => key.slice(head.length));
  return {
    get: (key) => records.get(keyOf(key)),
    has: (key) => records.has(keyOf(key)),
    set: (key, value) => {
      return records.set(keyOf(key), value, Number(index.find(keyOf(key)) ?? 0n));
    },
    delete: (key) => records.delete(keyOf(key)),
    firstKey: () => keys()[0],
    keys: (start, limit) => keys().slice(start, start + limit),
    entries: () => keys().map((key) => [key, records.get(keyOf(key)) ?? key] as const),
  };
}

function countSlotWrites(slots: ErasableSlots, countWrite: () => void): ErasableSlots {
  return {
    ...slots,
    add(bytes) {
      countWrite();
      return slots.add(bytes);
    },
    replace(slot, bytes) {
      countWrite();
      slots.replace(slot, bytes);
    },
    erase(slot) {
      countWrite();
      slots.erase(slot);
    },
  };
}

/** Installs the text encoder that the canister gets from Azle. */
export function installNodeText(): void {
  const encoder = new TextEncoder();
  installUtf8Encoder((text) => encoder.encode(text));
}

/**
 * Installs a new kernel, which src calls from now on, and creates stores on it: empty ones, or
 * copies of those in `state`, as after an upgrade. `seed` determines their random bytes.
 */
export async function createMemoryStores(state?: MemoryState, seed = 7): Promise<MemoryStores> {
  installNodeText();
  const { system } = await installNodeKernel({ system: copyOf(state?.system) });
  return openStores(system, state?.maps, seed);
}

/** Restores the stores to `state`; the state of src on the heap begins anew. */
export async function rewind(
  stores: MemoryStores,
  state: MemoryState,
  seed = 7,
): Promise<MemoryStores> {
  const { stable } = stores.system;
  const [now, then] = [stable, state.system.stable].map((bytes) => bytes.subarray(0, 2 ** 21));
  // The kernel caches the superblock and the table of extents, which are in the first 2 MiB, so a
  // new kernel must start if these bytes differ.
  if (Buffer.compare(now ?? stable, then ?? stable) !== 0) {
    return createMemoryStores(state, seed);
  }
  stable.set(state.system.stable);
  return openStores(stores.system, state.maps, seed);
}

function openStores(
  system: FakeSystem,
  entries: MemoryState['maps'] | undefined,
  seed: number,
): MemoryStores {
  let writes = 0;
  const countWrite = () => {
    writes += 1;
  };
  const map = (name: MapName) => createMemoryMap(countWrite, entries?.[name]);
  const maps: MemoryMaps = {
    meta: map('meta'),
    buckets: map('buckets'),
    apiKeys: map('apiKeys'),
    uploads: map('uploads'),
    uploadExpirations: map('uploadExpirations'),
    reclaims: map('reclaims'),
    members: map('members'),
  };
  const noted: NotedChange[] = [];
  const stores = {
    ...maps,
    blobs: countBlobWrites(openBlobs(openSpace(spaceIds.blobs)), countWrite),
    index: countIndexWrites(openOrderedIndex(spaceIds.index), countWrite),
    records: countRecordWrites(withFormerRecords(openRecordMap(spaceIds.records)), countWrite),
    directory: countIndexWrites(openOrderedIndex(spaceIds.directory), countWrite),
    keySlots: countSlotWrites(openErasableSlots(openSpace(spaceIds.wrappedKeys)), countWrite),
    secrets: createTestSecrets(seed),
    heap: createHeapState(),
    isController: (principal: Uint8Array) => principal.join() === '1,1,1',
    publication: {
      put: countWrite,
      remove: countWrite,
      show: countWrite,
      putLink: countWrite,
      putLinkUpdate: countWrite,
      removeLink: countWrite,
      removeBucket: countWrite,
      putSiteFile: countWrite,
      putSiteReply: countWrite,
      removeSite: countWrite,
      siteProof: () => Uint8Array.of(1),
      putText: countWrite,
      removeText: countWrite,
      putAddress: countWrite,
      removeAddress: countWrite,
    },
    journalLog: openJournalLog(spaceIds.journal, () => blockHashes),
    journal: {
      note(bucket: string, change: Change): void {
        countWrite();
        noted.push({ bucket, ...change });
      },
    },
    noted,
    system,
    writeCount: () => writes,
  };
  const views = {
    files: viewOf(stores.records, 'files'),
    chunks: viewOf(stores.records, 'chunks'),
  };
  const all = [...Object.values(maps), ...Object.values(views)];
  giveRootKey(stores);
  writes = 0;
  return {
    ...stores,
    ...views,
    values: () => all.flatMap((map) => map.entries().map(([, value]) => value)),
  };
}

/** Moves all records to maps as those of release 0.1.0, which the stores then also read. */
export function moveToFormerMaps({ records, files, chunks }: MemoryStores): void {
  const maps = { files: createMemoryMap(), chunks: createMemoryMap() };
  for (const name of ['files', 'chunks'] as const) {
    const from = name === 'files' ? files : chunks;
    for (const [key, value] of from.entries()) {
      from.delete(key);
      maps[name].set(key, value);
    }
  }
  records.attachFormer(maps);
}

function copyOf(system: FakeSystem = new FakeSystem()): FakeSystem {
  const copy = new FakeSystem();
  copy.stable = system.stable.slice();
  return copy;
}

/** Returns a copy of the state, which rewind() can restore. */
export function stateOf(stores: MemoryStores): MemoryState {
  return { system: copyOf(stores.system), maps: entriesOf(stores) };
}

function entriesOf(stores: MemoryStores): MemoryState['maps'] {
  const { meta, buckets, apiKeys, uploads, reclaims, members } = stores;
  return {
    meta: meta.entries(),
    buckets: buckets.entries(),
    apiKeys: apiKeys.entries(),
    uploads: uploads.entries(),
    uploadExpirations: stores.uploadExpirations.entries(),
    reclaims: reclaims.entries(),
    members: members.entries(),
  };
}

/**
 * Creates a new kernel instance on the existing stable memory; the state of src on the heap is
 * lost.
 */
export async function upgradeStores(stores: MemoryStores, seed: number): Promise<MemoryStores> {
  const { system } = await installNodeKernel({ system: stores.system });
  return openStores(system, entriesOf(stores), seed);
}

/** Returns secrets whose random bytes come from a seeded source, the same in every run. */
function createTestSecrets(seed: number): Stores['secrets'] {
  const source = createRandomSource();
  source.seed(new Uint8Array(Uint32Array.from({ length: 8 }, () => seed).buffer), 0n);
  return { random: (length) => source.next(length, 0n), rootKeys: new Map(), journals: new Map() };
}

/** Provides root keys as the network's derivation does; their bytes are always the same. */
export function giveRootKey(stores: Stores): void {
  configureRootKey(stores, undefined);
  for (const { version } of missingRootKeys(stores)) {
    const key = new Uint8Array(32).fill(version);
    acceptRootKey(stores, version, { key, keyName: 'key_1' });
  }
}
