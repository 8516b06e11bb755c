// Prepares the states that `npm run bench:scale` measures: for each number of files, a state folder
// of the local replica whose bucket has that many files. Each begins as a copy of the previous one.
// A new run continues an interrupted folder.

import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { IDL } from '@dfinity/candid';
import { Principal } from '@dfinity/principal';
import type { HeapChange, StateChange, StateStore } from '../packages/replica/src/core.ts';
import { createEngine, type RunningEngine } from '../packages/replica/src/execution/engine.ts';
import { HeapShadow } from '../packages/replica/src/execution/heap-shadow.ts';
import { createManagement } from '../packages/replica/src/management/management.ts';
import { createSigningKeys } from '../packages/replica/src/management/signing-keys.ts';
import { createVetKeys } from '../packages/replica/src/management/vetkd.ts';
import { openDiskStore } from '../packages/replica/src/persistence/disk-store.ts';
import { principalOf, type ServiceDescription } from '../scripts/local-service.ts';

const reportEvery = 5_000;
const messagesPerCommit = 200;
const storeOptions = { sync: false, checkpointBytes: 2 ** 30, cacheBytes: 2 ** 28 };

const Upload = IDL.Record({
  bucketId: IDL.Text,
  path: IDL.Text,
  contentType: IDL.Text,
  bytes: IDL.Vec(IDL.Nat8),
});

/** Returns a realistic path: in a folder, with a number in no particular order. */
export function pathOf(index: number): string {
  const scattered = (index * 7_919) % 1_000_003;
  return `photos/${2_000 + (scattered % 25)}/img_${String(scattered).padStart(7, '0')}.jpg`;
}

/** Returns the path of the folder for that many files; a new one is a copy of `former`. */
export async function stateFolder(
  folder: string,
  count: number,
  former: string | undefined,
): Promise<string> {
  const path = join(folder, String(count));
  if (existsSync(path) || former === undefined) return path;
  const unfinished = `${path}.copy`;
  await rm(unfinished, { recursive: true, force: true });
  await cp(former, unfinished, { recursive: true });
  await rename(unfinished, path);
  return path;
}

/**
 * Stores the files from number `from` up to, but not including, `to` by real messages to the
 * canister. To save time, nothing waits for the disk, and no `inspect_message` runs.
 */
export async function fillFolder(
  stateDir: string,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<void> {
  if (from >= to) return;
  const text = await readFile(join(stateDir, 'service.json'), 'utf8');
  const service = JSON.parse(text) as ServiceDescription;
  const disk = openDiskStore(stateDir, storeOptions);
  const { store, flush, refuse } = committingSeldom(disk);
  const random = () => new Uint8Array(randomBytes(32));
  const vetKeys = createVetKeys(store.getValue('vetKD seed') ?? random());
  const signingKeys = createSigningKeys(random());
  const engine = createEngine({
    store,
    now: () => BigInt(Date.now()) * 1_000_000n,
    dataCertificate: () => new Uint8Array(0),
    rootKey: () => new Uint8Array(133),
    management: (lifecycle) => createManagement(lifecycle, { random, vetKeys, signingKeys }),
    onReport: ({ kind, error }) => {
      if (error !== undefined) refuse(`${kind} failed: ${error}`);
    },
  });
  const { scan } = HeapShadow.prototype;
  try {
    const [failure] = await engine.resume();
    if (failure !== undefined) throw new Error(failure.reason);
    engine.startTimers();
    await upload(engine, service, { from, to });
    engine.stopTimers();
    await engine.idle();
    flush();
  } finally {
    HeapShadow.prototype.scan = scan;
    store.close();
  }
}

interface SeldomCommits {
  readonly store: StateStore;
  flush(): void;
  /** Prevents all further commits. */
  refuse(reason: string): void;
}

/**
 * Commits many messages at once. Until then the overlay of stable memory holds their changes, and a
 * page that all of them write is stored only once. An interrupted run loses their files, as does a
 * failed message, whose rollback drops the overlay.
 */
function committingSeldom(disk: StateStore): SeldomCommits {
  const records = new Map<string, StateChange['canisters'][number]>();
  const memories = new Set<string>();
  let held = 0;
  let refusal: string | undefined;
  const flush = () => {
    if (refusal !== undefined) throw new Error(refusal);
    const canisters = [...records.values()];
    const heaps = canisters.map(({ id }) => noHeap(id));
    disk.commit({ canisters, stableMemories: [...memories], cleared: [], deleted: [], heaps });
    held = 0;
  };
  const commit = ({ canisters, stableMemories, cleared, deleted }: StateChange) => {
    if (cleared.length + deleted.length > 0) refusal ??= 'The fill cleared or deleted a canister';
    if (refusal !== undefined) throw new Error(refusal);
    for (const stored of canisters) records.set(stored.id, stored);
    for (const id of stableMemories) memories.add(id);
    held += 1;
    if (held === messagesPerCommit) flush();
  };
  const refuse = (reason: string) => {
    refusal ??= reason;
  };
  return { store: { ...disk, commit, keepsHeaps: false }, flush, refuse };
}

/** Drops the stored heap, which is older than the state: the next start works without it. */
function noHeap(canisterId: string): HeapChange {
  const heap = Buffer.alloc(0);
  return { canisterId, registers: undefined, cleared: true, heap, former: heap, dirty: [] };
}

async function upload(
  engine: RunningEngine,
  service: ServiceDescription,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<void> {
  const sender = principalOf(service.identityPem);
  const canisterId = Principal.fromText(service.canisterId);
  let started = performance.now();
  for (let index = from; index < to; index++) {
    const file = {
      bucketId: service.bucket,
      path: pathOf(index),
      contentType: 'text/plain',
      bytes: Uint8Array.of(index),
    };
    const arg = new Uint8Array(IDL.encode([Upload], [file]));
    const outcome = await engine.update({ sender, canisterId, method: 'uploadFile', arg });
    if (outcome.status === 'rejected') throw new Error(outcome.message);
    if (index === from) withoutRollback();
    if ((index + 1) % reportEvery > 0) continue;
    const milliseconds = (performance.now() - started) / reportEvery;
    console.log(`${index + 1} files, ${milliseconds.toFixed(2)} ms each`);
    started = performance.now();
  }
}
/**
 * Saves an eighth of the time by not comparing the heap with its copy. Only rollbacks need the
 * comparison, and a failed message ends this run anyway.
 */
function withoutRollback(): void {
  HeapShadow.prototype.scan = () => [];
}
