// Every damage to every file of a small state folder: the folder opens undamaged, or is refused
// with a reason, and a repair restores the state of one commit. A mixture of commits never appears.

import { createHash } from 'node:crypto';
import {
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { osPageBytes, type StateStore, wasmPageBytes } from '../../../packages/replica/src/core.ts';
import { openDiskStore } from '../../../packages/replica/src/persistence/disk-store.ts';
import { randomNumbers } from '../../support/random-numbers.ts';

const id = 'rrkah-fqaaa-aaaaa-aaaaq-cai';
const module = Buffer.from('the module of the canister');
const moduleHash = createHash('sha256').update(module).digest('hex');
const stableOffsets = [10, 5_000, 70_000, 200_000];
const heapOffsets = [0, 4_096, 66_000];
const heapBytes = 2 * wasmPageBytes;
const last = 9;

const stamp = (generation: number) => Buffer.from(`generation ${generation} `.repeat(3));

function writeGeneration(store: StateStore, generation: number, heap: Buffer): void {
  const memory = store.stableMemory(id);
  if (memory.pages() === 0) memory.grow(4);
  for (const offset of stableOffsets) memory.write(offset, stamp(generation));
  const former = Buffer.from(heap);
  for (const offset of heapOffsets) heap.set(stamp(generation), offset);
  const isFirst = generation === 1;
  const change = { canisterId: id, registers: stamp(generation), heap, former };
  const dirty = heapOffsets.map((offset) => Math.floor(offset / osPageBytes));
  store.commit({
    canisters: [{ id, record: stamp(generation) }],
    stableMemories: [id],
    cleared: [],
    deleted: [],
    heaps: [{ ...change, cleared: isFirst, dirty }],
  });
}

/** Returns the number of the commit that all parts of the state have. Fails if they differ. */
function generationOf(store: StateStore): number {
  const [canister] = store.load();
  if (canister === undefined) return 0;
  const record = Buffer.from(canister.record).toString();
  const generation = Number(/^generation (\d+) /.exec(record)?.[1]);
  const expected = stamp(generation).toString();
  const parts = [record, ...stableOffsets.map((offset) => readStable(store, offset))];
  const heap = store.heap(id);
  if (heap !== undefined) {
    const bytes = Buffer.alloc(heap.pages * wasmPageBytes);
    heap.read(bytes);
    parts.push(Buffer.from(heap.registers).toString());
    parts.push(...heapOffsets.map((at) => bytes.subarray(at, at + expected.length).toString()));
  }
  expect(parts).toEqual(parts.map(() => expected));
  const found = store.getModule(moduleHash);
  // The engine reports this, and keeps the canister.
  if (found === undefined) throw new Error('the module is missing, and --repair cannot restore it');
  expect(Buffer.from(found).equals(module)).toBe(true);
  return generation;

  function readStable(from: StateStore, offset: number): string {
    const bytes = Buffer.alloc(expected.length);
    from.stableMemory(id).read(offset, bytes);
    return bytes.toString();
  }
}

/**
 * Makes a folder as a kill leaves it, after a checkpoint, and an older folder of the same state.
 */
function makeFolders(root: string): { readonly folder: string; readonly older: string } {
  const live = join(root, 'live');
  const [folder, older] = [join(root, 'state'), join(root, 'older')];
  const heap = Buffer.alloc(heapBytes);
  let store = openDiskStore(live);
  store.putModule(moduleHash, module);
  for (let generation = 1; generation <= last; generation += 1) {
    if (generation === 3 || generation === 6) {
      store.close();
      store = openDiskStore(live);
    }
    if (generation === 5) cpSync(live, older, { recursive: true });
    writeGeneration(store, generation, heap);
  }
  cpSync(live, folder, { recursive: true });
  store.close();
  for (const path of [folder, older]) rmSync(join(path, 'lock'));
  return { folder, older };
}

type Random = (limit: number) => number;

interface Damage {
  readonly name: string;
  readonly path: string;
  /** `undefined` removes the file. */
  readonly bytes: Buffer | undefined;
}

function damagesOf(
  path: string,
  parts: { readonly bytes: Buffer; readonly older: Buffer | undefined; random: Random },
): Damage[] {
  const { bytes, older, random } = parts;
  const damages: Damage[] = [{ name: 'removed', path, bytes: undefined }];
  if (older !== undefined) damages.push({ name: 'older copy', path, bytes: older });
  for (let count = 0; count < 20; count += 1) {
    const length = random(bytes.length);
    damages.push({ name: `cut at ${length}`, path, bytes: bytes.subarray(0, length) });
  }
  for (let count = 0; count < 50; count += 1) {
    const bit = random(bytes.length * 8);
    const changed = Buffer.from(bytes);
    changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    damages.push({ name: `bit ${bit}`, path, bytes: changed });
  }
  return damages;
}

function tryOpening(folder: string, onRepair?: (sentence: string) => void): number | string {
  let store: StateStore | undefined;
  try {
    store = openDiskStore(folder, onRepair ? { onRepair } : {});
    return generationOf(store);
  } catch (error) {
    if (!(error instanceof Error) || error.name === 'AssertionError') throw error;
    return error.message;
  } finally {
    store?.close();
  }
}

export interface DamageCounts {
  whole: number;
  refused: number;
  repaired: number;
}

/** Tries a `share` of all damages, chosen by the seed. */
export function damageState(options: { seed: number; share: number }): DamageCounts {
  const random = randomNumbers(options.seed);
  const root = mkdtempSync(join(tmpdir(), 'replica-damage-'));
  const counts = { whole: 0, refused: 0, repaired: 0 };
  try {
    const { folder, older } = makeFolders(root);
    const names = readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
    expect(names).toHaveLength(10);
    for (const name of names) {
      const bytes = readFileSync(join(folder, name));
      const former = readFileSync(join(older, name));
      for (const damage of damagesOf(name, { bytes, older: former, random })) {
        if (random(1_000) < options.share * 1_000) tryDamage({ root, folder, damage }, counts);
      }
    }
    return counts;
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

function tryDamage(
  place: { readonly root: string; readonly folder: string; readonly damage: Damage },
  counts: DamageCounts,
): void {
  const { root, folder, damage } = place;
  const copy = join(root, 'damaged');
  rmSync(copy, { recursive: true, force: true });
  cpSync(folder, copy, { recursive: true });
  const path = join(copy, damage.path);
  if (damage.bytes === undefined) rmSync(path);
  else writeFileSync(path, damage.bytes);
  const what = `${damage.path}, ${damage.name}`;
  const found = tryOpening(copy);
  if (typeof found === 'number') {
    expect(found, what).toBe(last);
    counts.whole += 1;
    return;
  }
  expect(found, what).toMatch(/damaged|missing|corrupt|cut|older|not a replica|another format/);
  expect(found, what).toMatch(/--repair|--clean|--state/);
  counts.refused += 1;
  const told: string[] = [];
  const repaired = tryOpening(copy, (sentence) => told.push(sentence));
  if (typeof repaired === 'string') return;
  expect(told.join(' '), what).toMatch(/The state is now as of change|needed/);
  expect(repaired, what).toBeLessThanOrEqual(last);
  counts.repaired += 1;
}

/** A folder before its first checkpoint: the journal has the whole state. */
function makeYoungFolder(root: string): string {
  const [live, folder] = [join(root, 'live'), join(root, 'state')];
  const store = openDiskStore(live);
  store.putModule(moduleHash, module);
  for (const generation of [1, 2]) writeGeneration(store, generation, Buffer.alloc(heapBytes));
  cpSync(live, folder, { recursive: true });
  store.close();
  rmSync(join(folder, 'lock'));
  return folder;
}

function changeByte(path: string, at: number): void {
  const bytes = readFileSync(path);
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  writeFileSync(path, bytes);
}

const snapshotNames = ['snapshot', 'snapshot.copy'];
/** The journal's first commit follows its 40 bytes of header. */
const firstCommitAt = 40;

/** Damages that leave no intact state, each for a folder of its age. */
export const finalDamages = {
  'both snapshots changed': {
    make: (root: string) => makeFolders(root).folder,
    damage: (folder: string) => {
      for (const name of snapshotNames) changeByte(join(folder, name), 20);
    },
  },
  'both snapshots missing': {
    make: (root: string) => makeFolders(root).folder,
    damage: (folder: string) => {
      for (const name of snapshotNames) rmSync(join(folder, name));
    },
  },
  "an only journal's header changed": {
    make: makeYoungFolder,
    damage: (folder: string) => changeByte(join(folder, 'journal'), 10),
  },
  "an only journal's first commit changed": {
    make: makeYoungFolder,
    damage: (folder: string) => changeByte(join(folder, 'journal'), firstCommitAt),
  },
  "an only journal's first commit cut": {
    make: makeYoungFolder,
    damage: (folder: string) => truncateSync(join(folder, 'journal'), firstCommitAt + 30),
  },
  'an only journal missing': {
    make: makeYoungFolder,
    damage: (folder: string) => rmSync(join(folder, 'journal')),
  },
} as const;

/** Tries a repair. Returns its message, and the folder's files before and after it. */
export function repairAfter(name: keyof typeof finalDamages) {
  const root = mkdtempSync(join(tmpdir(), 'replica-damage-'));
  try {
    const { make, damage } = finalDamages[name];
    const folder = make(root);
    damage(folder);
    const filesOf = () =>
      readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile() && entry.name !== 'lock')
        .map(({ parentPath, name: file }) => join(parentPath, file))
        .map((path) => [path, readFileSync(path).toString('hex')]);
    const before = filesOf();
    return { answer: tryOpening(folder, () => {}), before, after: filesOf() };
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}
