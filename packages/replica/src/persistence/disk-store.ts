// A state store in a folder. A commit is one journal record, durable before it takes effect. A
// checkpoint copies committed pages into the page files, writes the snapshot of the small state and
// starts a new journal. README.md describes the folder.

import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { StateStore } from '../core.ts';
import { StateDamage } from '../state-damage.ts';
import { encodeChange } from './change-codec.ts';
import { folderMode, temporarySuffix } from './durable-file.ts';
import { lockFolder } from './folder-lock.ts';
import { takeUpFormerState } from './former-state.ts';
import { Journal, writeEmptyJournal } from './journal.ts';
import { getModule, putModule } from './module-files.ts';
import { journalPath, type OpenState, openState, type StatePlace } from './open-state.ts';
import { PageCache } from './page-cache.ts';
import { repairState } from './repair-state.ts';
import { writeSnapshot } from './snapshot-file.ts';
import { prepareStateFolder } from './state-folder.ts';
import { createStateStore, type PreparedChange, type StoreBackend } from './state-store.ts';

export interface DiskStoreOptions {
  /** Waits for the disk at each commit; default true. If false, a power cut may lose changes. */
  readonly sync?: boolean;
  /** Journal size in bytes that triggers a checkpoint; default 64 MiB. */
  readonly checkpointBytes?: number;
  /** Cache size for read pages, in bytes; default 32 MiB. */
  readonly cacheBytes?: number;
  /**
   * Called before each write with its number of bytes; an exception fails the write, like a full
   * disk.
   */
  readonly onWrite?: (bytes: number) => void;
  /** Returns to the last intact state if data is damaged; receives sentences about the result. */
  readonly onRepair?: (sentence: string) => void;
  /** Called with a sentence when a folder of the former layout was converted. */
  readonly onNote?: (sentence: string) => void;
}

/**
 * Opens or creates the state. Throws an Error with a remedy if the state is in use or damaged, or
 * if the folder has other files.
 */
export function openDiskStore(directory: string, options: DiskStoreOptions = {}): StateStore {
  const format = prepareStateFolder(directory);
  const unlock = lockFolder(directory);
  try {
    removeLeftovers(directory);
    const place = {
      directory,
      sync: options.sync ?? true,
      cache: new PageCache(options.cacheBytes ?? 32 * 2 ** 20),
      onWrite: options.onWrite ?? (() => undefined),
    };
    if (format === 'former') {
      takeUpFormerState(place);
      options.onNote?.(
        'The state is of an earlier version: stable memory, settings and certified data are as ' +
          'they were; heaps were not stored, so canisters are started as by an upgrade.',
      );
    }
    if (options.onRepair) repairState(place, options.onRepair);
    const backend = new DiskBackend(place, { ...options, unlock, open: openState(place) });
    return createStateStore(backend.asBackend(), backend.state);
  } catch (error) {
    unlock();
    throw error instanceof StateDamage ? withAdvice(error, directory) : error;
  }
}

function withAdvice({ message }: StateDamage, directory: string): StateDamage {
  return new StateDamage(
    `${message}; nothing was changed. Start with --repair to go back to the last intact state, restore ` +
      `${directory} from a copy, or start over with --clean`,
  );
}

class DiskBackend {
  readonly #place: StatePlace;
  readonly #unlock: () => void;
  readonly #checkpointBytes: number;
  readonly #open: Omit<OpenState, 'journal'>;
  #journal: Journal;
  /** The reason why no further commit is accepted; a restart recovers from the journal. */
  #refusal: string | undefined;
  #isClosed = false;

  constructor(
    place: StatePlace,
    parts: DiskStoreOptions & { readonly unlock: () => void; readonly open: OpenState },
  ) {
    this.#place = place;
    this.#unlock = parts.unlock;
    this.#checkpointBytes = parts.checkpointBytes ?? 64 * 2 ** 20;
    this.#open = parts.open;
    this.#journal = parts.open.journal;
  }

  get state() {
    return this.#open.content.small;
  }

  asBackend(): StoreBackend {
    const { content } = this.#open;
    return {
      persist: (change) => this.#persist(change),
      applied: () => this.#applied(),
      base: (canisterId) => content.base(canisterId),
      removeBase: (canisterId) => content.removeBase(canisterId),
      heaps: content.heaps,
      putModule: (sha256Hex, module) => putModule(this.#place, sha256Hex, module),
      getModule: (sha256Hex) => this.#getModule(sha256Hex),
      close: () => this.#close(),
    };
  }

  #persist(change: PreparedChange): void {
    if (this.#refusal !== undefined) throw new Error(this.#refusal);
    this.#journal.append(encodeChange(change));
    // Set until the whole change is applied: if applying throws, memory and journal differ.
    this.#refusal = 'A durable change could not be applied to the state; restart the replica';
    this.#open.mark.write(this.#journal.lastSequence);
  }

  #applied(): void {
    this.#refusal = undefined;
    if (this.#journal.size < this.#checkpointBytes) return;
    try {
      this.#checkpoint();
    } catch (error) {
      // The commit itself is durable; no further one may depend on files whose content is unknown.
      const place = `${this.#place.directory} (${error})`;
      this.#refusal = `The state could not be written to ${place}; restart the replica`;
    }
  }

  #checkpoint(): void {
    const { directory, sync, onWrite } = this.#place;
    const sequence = this.#journal.lastSequence;
    const checksum = writeSnapshot(directory, { ...this.#open.content.checkpoint(), sequence });
    const path = journalPath(directory);
    const snapshot = { sequence, checksum };
    writeEmptyJournal(path, snapshot);
    const former = this.#journal;
    this.#journal = new Journal(path, { sync, onWrite, snapshot, answered: sequence });
    former.close();
  }

  #close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    try {
      if (this.#refusal === undefined && this.#journal.size > 0) this.#checkpoint();
    } finally {
      this.#refusal ??= 'The state store is closed';
      this.#open.content.close();
      this.#open.mark.close();
      this.#journal.close();
      this.#unlock();
    }
  }

  #getModule(sha256Hex: string): Uint8Array | undefined {
    const { directory } = this.#place;
    try {
      return getModule(directory, sha256Hex);
    } catch (error) {
      throw error instanceof StateDamage ? withAdvice(error, directory) : error;
    }
  }
}

/** Creates the inner folders and removes incomplete files of a crash. */
function removeLeftovers(directory: string): void {
  for (const folder of ['canisters', 'modules']) {
    mkdirSync(join(directory, folder), { recursive: true, mode: folderMode });
  }
  for (const folder of [directory, join(directory, 'modules')]) {
    for (const name of readdirSync(folder)) {
      if (name.endsWith(temporarySuffix)) rmSync(join(folder, name), { force: true });
    }
  }
}
