// Maps between the stored and the plain paths of buckets that seal names. Callers with the names
// key see plain paths; others see and pass stored paths and cannot create files.

import type { Signal } from '../connection/transport.ts';
import { isStorageError, StorageError } from '../storage-error.ts';
import type { EndToEndRecord } from '../types/end-to-end.ts';
import type { ShownPath } from '../types/files.ts';

export interface OpenedPath extends ShownPath {
  readonly path: string;
}

export interface PathNames {
  /** True if the caller uses plain paths and the service stores sealed ones. */
  readonly isSealing: boolean;
  /** Seals a path, or a folder with its final slash ('' stays ''). Throws InvalidPath. */
  seal(path: string): string;
  open(path: string): OpenedPath;
  /** Replaces the sealed names of `paths` in a message of the service by plain ones. */
  openText(text: string, paths: readonly string[]): string;
}

/** For buckets that do not seal names. */
export const plainNames: PathNames = {
  isSealing: false,
  seal: (path) => path,
  open: (path) => ({ path }),
  openText: (text) => text,
};

/** For callers without the names key. */
const unopenedNames: PathNames = {
  ...plainNames,
  open: (path) => ({ path, isPathAsStored: true }),
};

/** `find` for operations on existing files, `name` for storing a file under a new path. */
export type NamesUse = 'find' | 'name';

/**
 * Returns a bucket's names. With the use `name`, throws NoIdentity if the caller cannot seal names.
 */
export type NamesOf = (bucket: string, use: NamesUse, signal: Signal) => Promise<PathNames>;

export interface NamesSource {
  /** Whether calls are signed, so that the caller may be a member; else names stay as stored. */
  readonly hasIssuer: boolean;
  mode(bucket: string, use: NamesUse, signal: Signal): Promise<EndToEndRecord | undefined>;
  keys(): Promise<{
    namesOf(bucket: { readonly id: string; readonly mode: EndToEndRecord }): Promise<PathNames>;
  }>;
}

export function namesOf(source: NamesSource): NamesOf {
  /** Names by the cached mode of their bucket. */
  const opened = new WeakMap<EndToEndRecord, Promise<PathNames | undefined>>();
  return async (bucket, use, signal) => {
    // Without an identity the mode does not matter, and over HTTP it takes seconds to get.
    if (use === 'find' && !source.hasIssuer) return plainNames;
    const asked = source.mode(bucket, use, signal);
    const mode = await (use === 'name' ? asked : asked.catch(unlessRefused));
    if (!mode?.sealsNames) return plainNames;
    const opening =
      opened.get(mode) ??
      source
        .keys()
        .then((keys) => keys.namesOf({ id: bucket, mode }))
        .catch(unlessRefused);
    opened.set(mode, opening);
    // Temporary failures, such as too many derivations, are retried with the next call.
    opening.catch(() => opened.delete(mode));
    const names = await opening;
    if (names === undefined && use === 'name') throw noNames(bucket);
    return names ?? unopenedNames;
  };
}

/** Ignores refusals to non-members: the operation itself then succeeds or is refused. */
function unlessRefused(error: unknown): undefined {
  const statuses = [401, 403, 404];
  if (isStorageError(error, 'NoIdentity')) return undefined;
  if (isStorageError(error) && statuses.includes(error.status ?? 0)) return undefined;
  throw error;
}

function noNames(bucket: string): StorageError {
  return new StorageError(
    'NoIdentity',
    `Bucket ${bucket} seals the names of its files: only members who sign their calls can create ` +
      'files, not API keys.',
  );
}
