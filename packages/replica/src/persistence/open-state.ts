// Reads a state folder: the snapshot, the page files, and the journal's commits. Inconsistent data
// throws StateDamage, and nothing is changed then.

import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { HeapChange, StoredHeap } from '../core.ts';
import { StateDamage } from '../state-damage.ts';
import { AnsweredMark, writeAnsweredMark } from './answered-mark.ts';
import { decodeChange } from './change-codec.ts';
import { prepareHeap } from './heap-change.ts';
import { Journal, writeEmptyJournal } from './journal.ts';
import type { PageCache } from './page-cache.ts';
import { noPages, PageFile } from './page-file.ts';
import {
  emptySnapshot,
  type MemoryKind,
  type ReadSnapshot,
  readSnapshot,
  type StoredMemory,
  snapshotFileName,
} from './snapshot-file.ts';
import { applyChange, type HeapBackend, type SmallState } from './state-store.ts';

export interface StatePlace {
  readonly directory: string;
  readonly sync: boolean;
  readonly cache: PageCache;
  readonly onWrite: (bytes: number) => void;
}

/** The memories of all canisters, and the state in memory. */
export class StateContent {
  readonly small: SmallState;
  readonly #place: StatePlace;
  readonly #registers: Map<string, Uint8Array>;
  readonly #files: Record<MemoryKind, Map<string, PageFile>> = {
    stable: new Map(),
    heap: new Map(),
  };

  constructor(place: StatePlace, snapshot: ReadSnapshot) {
    this.#place = place;
    this.small = { canisters: new Map(snapshot.canisters), values: new Map(snapshot.values) };
    this.#registers = new Map(snapshot.registers);
    for (const memory of snapshot.memories) this.#add(memory);
  }

  readonly heaps: HeapBackend = {
    prepare: (change: HeapChange) => {
      const file = this.#file(change.canisterId, 'heap');
      return prepareHeap(change, (page) => file.hasPending(page));
    },
    apply: (change) => {
      const { canisterId, registers } = change;
      this.#file(canisterId, 'heap').applyHeap(change);
      if (registers === undefined) this.#registers.delete(canisterId);
      else this.#registers.set(canisterId, registers);
    },
    get: (canisterId) => this.#heap(canisterId),
  };

  base(canisterId: string): PageFile {
    return this.#file(canisterId, 'stable');
  }

  removeBase(canisterId: string): void {
    this.#registers.delete(canisterId);
    for (const files of Object.values(this.#files)) files.get(canisterId)?.remove();
  }

  files(): { readonly canisterId: string; readonly kind: MemoryKind; readonly file: PageFile }[] {
    return (['stable', 'heap'] as const).flatMap((kind) =>
      [...this.#files[kind]].map(([canisterId, file]) => ({ canisterId, kind, file })),
    );
  }

  /** Writes the page files to the disk; returns the content of a snapshot. */
  checkpoint(): Omit<ReadSnapshot, 'sequence' | 'checksum' | 'isFormer'> {
    const memories = this.files().map(({ canisterId, kind, file }) => {
      return { canisterId, kind, ...file.checkpoint() };
    });
    return {
      canisters: [...this.small.canisters],
      values: [...this.small.values],
      memories: memories.filter(({ pages }) => pages > 0),
      registers: [...this.#registers],
    };
  }

  forgetHeap(canisterId: string): void {
    this.#registers.delete(canisterId);
    this.#file(canisterId, 'heap').clear();
  }

  close(): void {
    for (const { file } of this.files()) file.close();
  }

  #heap(canisterId: string): StoredHeap | undefined {
    const registers = this.#registers.get(canisterId);
    if (registers === undefined) return undefined;
    const file = this.#file(canisterId, 'heap');
    return { pages: file.pages(), registers, read: (target) => file.read(0, target) };
  }

  #file(canisterId: string, kind: MemoryKind): PageFile {
    return this.#files[kind].get(canisterId) ?? this.#add({ ...noPages, canisterId, kind });
  }

  #add({ canisterId, kind, ...facts }: StoredMemory): PageFile {
    // The id becomes a folder's name, so only the text of a principal is allowed.
    if (!/^[a-z0-9-]{1,63}$/.test(canisterId)) {
      throw new Error(`Not a canister id: ${JSON.stringify(canisterId)}`);
    }
    const { directory, cache, onWrite } = this.#place;
    const path = join(directory, 'canisters', canisterId, kind);
    const file = new PageFile(path, { cache, facts, onWrite });
    this.#files[kind].set(canisterId, file);
    return file;
  }
}

export interface OpenState {
  readonly content: StateContent;
  readonly journal: Journal;
  readonly mark: AnsweredMark;
}

export const journalPath = (directory: string) => join(directory, 'journal');
export const markPath = (directory: string) => join(directory, 'answered');

/** Throws StateDamage. */
export function openState(place: StatePlace): OpenState {
  const { directory } = place;
  if (isFresh(directory)) {
    writeAnsweredMark(markPath(directory), 0);
    writeEmptyJournal(journalPath(directory), emptySnapshot);
  }
  const snapshot = readSnapshot(directory) ?? emptySnapshot;
  const mark = new AnsweredMark(markPath(directory));
  let journal: Journal | undefined;
  const content = new StateContent(place, snapshot);
  try {
    const { sync, onWrite } = place;
    const options = { sync, onWrite, snapshot, answered: mark.found };
    journal = new Journal(journalPath(directory), options);
    replayInto(content, journal);
    for (const { file } of content.files()) file.check();
    return { content, journal, mark };
  } catch (error) {
    content.close();
    journal?.close();
    mark.close();
    throw error;
  }
}

/** Applies the journal's commits to the snapshot. */
export function replayInto(content: StateContent, journal: Journal): void {
  const backend = {
    base: (id: string) => content.base(id),
    removeBase: (id: string) => content.removeBase(id),
    heaps: content.heaps,
  };
  journal.replay(({ payload }) =>
    applyChange(decodeChange(payload), { state: content.small, backend }),
  );
}

/** Returns whether nothing was committed; an interrupted first start may have left the mark. */
function isFresh(directory: string): boolean {
  const holds = (name: string) => existsSync(join(directory, name));
  if (holds('journal') || holds(snapshotFileName)) return false;
  for (const folder of ['canisters', 'modules']) {
    if (holds(folder) && readdirSync(join(directory, folder)).length > 0) return false;
  }
  if (!holds('answered')) return true;
  const mark = new AnsweredMark(markPath(directory));
  mark.close();
  if (mark.found > 0) {
    throw new StateDamage(`The journal and the snapshot of ${directory} are missing`);
  }
  return true;
}
