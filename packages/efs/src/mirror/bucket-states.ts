// Reads what a bucket stores: all paths by lists, or single paths.

import { inParallel } from '../../../client/src/connection/parallel.ts';
import type { Storage } from '../../../client/src/storage.ts';
import type { FileRecord } from '../../../client/src/types/files.ts';
import type { FileVersion } from '../../../client/src/types/versions.ts';
import { type PathChange, presentRecord } from '../transfers/journal-changes.ts';
import { GrowingList } from './growing-list.ts';
import { emptyState, type PathState } from './path-plan.ts';

/** One of the two buckets. */
export interface Side {
  readonly storage: Storage;
  readonly bucket: string;
  readonly signal: AbortSignal;
  /** Whether former versions are read. */
  readonly readsVersions: boolean;
}

export type PathStates = ReadonlyMap<string, PathState>;

/** `arriving`: receives the present files while they are listed. */
export async function allStates(
  side: Side,
  arriving = new GrowingList<FileRecord>(),
): Promise<PathStates> {
  const { storage, bucket, signal, readsVersions } = side;
  const [present, former] = await Promise.all([
    listed(arriving.filledBy(storage.list({ bucket, signal }))),
    readsVersions ? listed(storage.versions.list({ bucket, signal })) : [],
  ]);
  const states = new Map<string, PathState>();
  for (const [path, versions] of former) states.set(path, { former: versions });
  for (const [path, [file]] of present) {
    states.set(path, { present: file, former: states.get(path)?.former ?? [] });
  }
  return states;
}

async function listed<T extends FileRecord | FileVersion>(
  items: AsyncIterable<T>,
): Promise<Map<string, T[]>> {
  const found = new Map<string, T[]>();
  for await (const item of items) {
    const others = found.get(item.path);
    if (others === undefined) found.set(item.path, [item]);
    else others.push(item);
  }
  return found;
}

/** Reads single paths. `changes`: entries of the journal that a record must not be older than. */
export async function statesOf(
  side: Side,
  paths: Iterable<string>,
  { concurrency, changes }: StateReading,
): Promise<PathStates> {
  const { storage, bucket, signal, readsVersions } = side;
  const states = new Map<string, PathState>();
  const left = [...paths][Symbol.iterator]();
  await inParallel({ concurrency, signal }, async (stopped) => {
    for (const path of left) {
      if (stopped.aborted) return;
      const name = { bucket, path };
      const [present, former] = await Promise.all([
        presentRecord(side, name, changes?.get(path)),
        readsVersions ? listed(storage.versions.list({ ...name, signal })) : undefined,
      ]);
      states.set(path, { present, former: former?.get(path) ?? [] });
    }
  });
  return states;
}

interface StateReading {
  readonly concurrency: number;
  readonly changes?: ReadonlyMap<string, PathChange> | undefined;
}

export function stateAt(states: PathStates, path: string): PathState {
  return states.get(path) ?? emptyState;
}
