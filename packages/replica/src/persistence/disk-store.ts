// A state store under a folder. A commit is one journal record, durable before it is applied to the
// page files; a checkpoint makes those durable, writes the snapshot of the small state and empties
// the journal.
//
//   replica-state            marker           journal    commits since the snapshot
//   lock                     owner            snapshot   records, values, sizes
//   canisters/ID/stable.bin  page files       modules/SHA256.wasm

import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import type { StateStore } from '../core.ts';
import { decodeChange, decodeSnapshot, encodeChange, encodeSnapshot } from './change-codec.ts';
import { folderMode, temporarySuffix, writeFileDurably } from './durable-file.ts';
import { lockFolder } from './folder-lock.ts';
import { Journal } from './journal.ts';
import { PageCache } from './page-cache.ts';
import { PageFile } from './page-file.ts';
import { prepareStateFolder } from './state-folder.ts';
import {
  applyChange,
  createStateStore,
  type PreparedChange,
  type SmallState,
  type StoreBackend,
} from './state-store.ts';

export interface DiskStoreOptions {
  /** Wait for the disk at each commit; default true. Without, only a kill is survived, not a power
   * cut. */
  readonly sync?: boolean;
  /** Journal size in bytes at which a checkpoint is made; default 64 MiB. */
  readonly checkpointBytes?: number;
  /** Memory for pages that were read, in bytes; default 32 MiB. */
  readonly cacheBytes?: number;
}

/** Opens or makes the state in `directory`. Throws when another process uses it, it is damaged, or
 * no state. */
export function openDiskStore(directory: string, options: DiskStoreOptions = {}): StateStore {
  prepareStateFolder(directory);
  const unlock = lockFolder(directory);
  try {
    const backend = new DiskBackend({ directory, unlock, options });
    return createStateStore(backend.asBackend(), backend.state);
  } catch (error) {
    unlock();
    throw error;
  }
}

class DiskBackend {
  readonly state: SmallState;
  readonly #directory: string;
  readonly #unlock: () => void;
  readonly #checkpointBytes: number;
  readonly #cache: PageCache;
  readonly #pageFiles = new Map<string, PageFile>();
  readonly #journal: Journal;
  /** Why no further commit is taken; a restart heals it from the journal. */
  #refusal: string | undefined;
  #isClosed = false;

  constructor(parts: {
    readonly directory: string;
    readonly unlock: () => void;
    readonly options: DiskStoreOptions;
  }) {
    const { directory, options } = parts;
    this.#directory = directory;
    this.#unlock = parts.unlock;
    this.#checkpointBytes = options.checkpointBytes ?? 64 * 2 ** 20;
    this.#cache = new PageCache(options.cacheBytes ?? 32 * 2 ** 20);
    removeLeftovers(directory);
    const snapshot = readSnapshot(join(directory, 'snapshot'));
    this.state = { canisters: new Map(snapshot.canisters), values: new Map(snapshot.values) };
    for (const [id, pages] of snapshot.memories) this.#addPageFile(id, pages);
    this.#journal = new Journal(join(directory, 'journal'), {
      sync: options.sync ?? true,
      lastSequence: snapshot.sequence,
    });
    const target = { state: this.state, backend: this.asBackend() };
    this.#journal.replay(({ payload }) => applyChange(decodeChange(payload), target));
  }

  asBackend(): StoreBackend {
    return {
      persist: (change) => this.#persist(change),
      applied: () => this.#applied(),
      base: (canisterId) => this.#pageFiles.get(canisterId) ?? this.#addPageFile(canisterId, 0),
      removeBase: (canisterId) => this.#pageFiles.get(canisterId)?.remove(),
      putModule: (sha256Hex, module) => {
        const path = this.#modulePath(sha256Hex);
        if (!existsSync(path)) writeFileDurably(path, [module]);
      },
      getModule: (sha256Hex) => {
        const path = this.#modulePath(sha256Hex);
        return existsSync(path) ? new Uint8Array(readFileSync(path)) : undefined;
      },
      close: () => this.#close(),
    };
  }

  #persist(change: PreparedChange): void {
    if (this.#refusal !== undefined) throw new Error(this.#refusal);
    this.#journal.append(encodeChange(change));
    // Stands until the change is applied whole; should applying throw, memory and journal disagree.
    this.#refusal = 'A durable change could not be applied to the state files; restart the replica';
  }

  #applied(): void {
    this.#refusal = undefined;
    if (this.#journal.size < this.#checkpointBytes) return;
    try {
      this.#checkpoint();
    } catch (error) {
      // The commit itself is durable. The journal is kept, and nothing more is built upon doubtful
      // files.
      const place = `${this.#directory} (${error})`;
      this.#refusal = `The state could not be written to ${place}; restart the replica`;
    }
  }

  #checkpoint(): void {
    for (const file of this.#pageFiles.values()) file.sync();
    const memories = [...this.#pageFiles]
      .map(([id, file]) => [id, file.pages()] as const)
      .filter(([, pages]) => pages > 0);
    const bytes = encodeSnapshot({
      sequence: this.#journal.lastSequence,
      canisters: [...this.state.canisters],
      values: [...this.state.values],
      memories,
    });
    const checksum = Buffer.alloc(4);
    checksum.writeUInt32LE(crc32(bytes));
    writeFileDurably(join(this.#directory, 'snapshot'), [checksum, bytes]);
    this.#journal.reset();
  }

  #close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    if (this.#refusal === undefined && this.#journal.size > 0) this.#checkpoint();
    this.#refusal ??= 'The state store is closed';
    for (const file of this.#pageFiles.values()) file.close();
    this.#journal.close();
    this.#unlock();
  }

  #addPageFile(canisterId: string, pages: number): PageFile {
    // The id becomes a folder's name: nothing but a principal's text may.
    if (!/^[a-z0-9-]{1,63}$/.test(canisterId)) {
      throw new Error(`Not a canister id: ${JSON.stringify(canisterId)}`);
    }
    const path = join(this.#directory, 'canisters', canisterId, 'stable.bin');
    const file = new PageFile(path, { cache: this.#cache, pages });
    this.#pageFiles.set(canisterId, file);
    return file;
  }

  #modulePath(sha256Hex: string): string {
    if (!/^[0-9a-f]{64}$/.test(sha256Hex)) {
      throw new Error(`Not a SHA-256 in hex: ${JSON.stringify(sha256Hex)}`);
    }
    return join(this.#directory, 'modules', `${sha256Hex}.wasm`);
  }
}

/** Makes the inner folders and drops files that a crash left half-written. */
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

function readSnapshot(path: string): ReturnType<typeof decodeSnapshot> {
  if (!existsSync(path)) return { sequence: 0, canisters: [], values: [], memories: [] };
  const file = readFileSync(path);
  const bytes = file.subarray(4);
  if (file.length < 4 || file.readUInt32LE(0) !== crc32(bytes)) {
    throw new Error(
      `The snapshot ${path} is damaged; restore the state folder, or start with --clean`,
    );
  }
  return decodeSnapshot(bytes);
}
