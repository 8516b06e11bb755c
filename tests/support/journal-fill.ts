// Fills the journal of a stopped local replica with millions of entries. The canister's own domain
// and kernel append them here in Node, to a copy of its stable memory, in a hundredth of the time
// that messages to the canister would take. What the canister reads afterwards is what it would
// have written.

import { createHash, randomBytes } from 'node:crypto';
import type { StateStore } from '../../packages/replica/src/core.ts';
import { openDiskStore } from '../../packages/replica/src/persistence/disk-store.ts';
import { appendEntry } from '../../src/domain/journal/bucket-journal.ts';
import { createHeapState } from '../../src/domain/shared/heap-state.ts';
import type { OpenedJournal } from '../../src/domain/shared/secrets.ts';
import type { Stores } from '../../src/domain/shared/stores.ts';
import { emptyBytes } from '../../src/lib/bytes.ts';
import { installUtf8Encoder } from '../../src/lib/text.ts';
import { AlteredEntry, type JournalLog, openJournalLog } from '../../src/storage/journal-log.ts';
import { spaceIds } from '../../src/storage/memory.ts';
import { openOrderedIndex } from '../../src/storage/ordered-index.ts';
import { FakeSystem, installNodeKernel } from './kernel-host.ts';
import { blockHashes } from './memory-stores.ts';

const pageBytes = 65_536;
/** An entry takes about 160 bytes, and a checkpoint and its page's place little more. */
const bytesPerEntry = 180;
const keysBytes = 64;
const storeOptions = { sync: false, checkpointBytes: 2 ** 28, cacheBytes: 2 ** 26 };

export interface JournalFill {
  /** The bucket, which is the only one of the canister that has entries. */
  readonly bucket: string;
  /** Number of entries that the journal has afterwards. */
  readonly count: number;
  /** Returns whether an entry with that number is the bucket's; the others are of 129 more. */
  isOwn(number: number): boolean;
  /** Returns the path in an entry; one of 30 bytes by default. */
  pathOf?(number: number): string;
}

/** Continues at the number of entries that the journal has. */
export async function fillJournal(stateDir: string, fill: JournalFill): Promise<void> {
  const disk = openDiskStore(stateDir, storeOptions);
  try {
    const [stored] = disk.load();
    if (stored === undefined) throw new Error(`${stateDir} has no canister`);
    const memory = disk.stableMemory(stored.id);
    const system = new FakeSystem();
    system.stablePagesMax = 2 ** 16 - 1;
    const size = memory.pages() * pageBytes;
    const capacity = Math.min(size + fill.count * bytesPerEntry + 2 ** 26, 2 ** 32 - pageBytes);
    system.stable = new Uint8Array(new ArrayBuffer(capacity), 0, size);
    memory.read(0, system.stable);
    await installNodeKernel({ system });
    installUtf8Encoder((text) => new TextEncoder().encode(text));
    const log = openJournalLog(spaceIds.journal, () => blockHashes);
    append(log, findOpened(disk, stored.id, fill, log), fill);
    writeBack(disk, stored.id, system.stable);
  } finally {
    disk.close();
  }
}

/**
 * Finds the bucket's keys in the canister's heap, which holds them after an entry was written: no
 * other 64 bytes open that entry.
 */
function findOpened(
  disk: StateStore,
  canisterId: string,
  { bucket }: JournalFill,
  log: JournalLog,
): OpenedJournal {
  const stored = disk.heap(canisterId);
  if (stored === undefined) throw new Error('The state has no heap: stop the replica first');
  const heap = new Uint8Array(stored.pages * pageBytes);
  stored.read(heap);
  const ownerName = Buffer.from(bucket);
  const start = log.lastOf(0);
  const range = { start, bound: start - 1, isForward: true, fromMs: 0, limit: 1 };
  for (let at = 0; at + keysBytes <= heap.length; at += 8) {
    const keys = heap.subarray(at, at + keysBytes);
    // Random bytes are almost never so many zeros, and most of the heap is
    if (keys.filter((byte) => byte === 0).length > 5) continue;
    if (opens(() => log.entries(range, { keys, ownerName }, emptyBytes))) {
      return { owner: 0, ownerName, keys: keys.slice() };
    }
  }
  throw new Error(`The heap has no keys of the journal of ${bucket}`);
}

function opens(read: () => unknown): boolean {
  try {
    read();
    return true;
  } catch (error) {
    if (error instanceof AlteredEntry) return false;
    throw error;
  }
}

function append(log: JournalLog, opened: OpenedJournal, fill: JournalFill): void {
  const { bucket, count, isOwn, pathOf = shortPath } = fill;
  const others = Array.from({ length: 129 }, (_, index) => `other-${index}`);
  const journals = new Map<string, OpenedJournal>([[bucket, opened]]);
  for (const name of others) {
    const keys = new Uint8Array(randomBytes(keysBytes));
    journals.set(name, { owner: log.newOwner(), ownerName: Buffer.from(name), keys });
  }
  const directory = openOrderedIndex(spaceIds.directory);
  const heap = createHeapState();
  const stores = { secrets: { journals }, journalLog: log, directory, heap } as unknown as Stores;
  const actor = { kind: 'principal', id: new Uint8Array(29).fill(7) } as const;
  const digest = new Uint8Array(createHash('sha256').update('content').digest());
  const startNs = BigInt(Date.now() - 30 * 86_400_000) * 1_000_000n;
  for (let number = log.tip().last + 1; number <= count; number++) {
    const name = isOwn(number) ? bucket : (others[number % others.length] as string);
    const subject = pathOf(number);
    const by = { actor, nowNs: startNs + BigInt(number) * 100_000_000n };
    appendEntry(stores, name, { kind: 'file.stored', subject, version: 1, digest }, by);
  }
}

function shortPath(number: number): string {
  return `a/path/of/thirty/bytes/${String(number).padStart(7, '0')}`;
}

/** Writes the changed pages in several commits, so that not all of them are held at once. */
function writeBack(disk: StateStore, canisterId: string, stable: Uint8Array): void {
  const memory = disk.stableMemory(canisterId);
  memory.grow(stable.length / pageBytes - memory.pages());
  const commit = () => {
    const canisters = disk.load().filter(({ id }) => id === canisterId);
    const none = Buffer.alloc(0);
    const heap = { canisterId, registers: undefined, cleared: true, heap: none, former: none };
    const heaps = [{ ...heap, dirty: [] }];
    disk.commit({ canisters, stableMemories: [canisterId], cleared: [], deleted: [], heaps });
  };
  const former = Buffer.alloc(pageBytes);
  let written = 0;
  for (let offset = 0; offset < stable.length; offset += pageBytes) {
    const page = stable.subarray(offset, offset + pageBytes);
    memory.read(offset, former);
    if (former.equals(page)) continue;
    memory.write(offset, page);
    written += 1;
    if (written % 1_000 === 0) commit();
  }
  commit();
}
