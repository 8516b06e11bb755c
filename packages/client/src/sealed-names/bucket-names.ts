// Paths of buckets that seal names: as they are stored, and as they are shown. Who has the key is
// shown clear ones; who has none sees and tells paths as they are stored, and names no new file.

import type { Signal } from '../connection/transport.ts';
import { isStorageError, StorageError } from '../storage-error.ts';
import type { EndToEndRecord } from '../types/end-to-end.ts';
import type { ShownPath } from '../types/files.ts';

export interface OpenedPath extends ShownPath {
  readonly path: string;
}

export interface PathNames {
  /** Paths are told and shown clear, and stored sealed. */
  readonly isSealing: boolean;
  /** Of a path, or of a folder with its last slash; '' stays. InvalidPath of what can be none. */
  seal(path: string): string;
  open(path: string): OpenedPath;
  /** What the service says of clear paths, with their names in place of sealed ones. */
  openText(text: string, paths: readonly string[]): string;
}

/** Of buckets that store paths as they are told. */
export const plainNames: PathNames = {
  isSealing: false,
  seal: (path) => path,
  open: (path) => ({ path }),
  openText: (text) => text,
};

/** To who has no key for them. */
const unopenedNames: PathNames = {
  ...plainNames,
  open: (path) => ({ path, isPathAsStored: true }),
};

/** `name` is for what is to be stored under a path: NoIdentity to who cannot seal it. */
export type NamesOf = (bucket: string, use: 'find' | 'name', signal: Signal) => Promise<PathNames>;

export interface NamesSource {
  /** Somebody signs, who may be a member: else names are those that are stored. */
  readonly hasIssuer: boolean;
  mode(bucket: string, signal: Signal): Promise<EndToEndRecord | undefined>;
  keys(): Promise<{
    namesOf(bucket: { readonly id: string; readonly mode: EndToEndRecord }): Promise<PathNames>;
  }>;
}

export function namesOf(source: NamesSource): NamesOf {
  /** As long as the mode is taken to be what it was. */
  const opened = new WeakMap<EndToEndRecord, Promise<PathNames | undefined>>();
  return async (bucket, use, signal) => {
    // Whoever has no identity would ask for the mode in vain: over HTTP that takes seconds.
    if (use === 'find' && !source.hasIssuer) return plainNames;
    const asked = source.mode(bucket, signal);
    const mode = await (use === 'name' ? asked : asked.catch(unlessRefused));
    if (!mode?.sealsNames) return plainNames;
    const opening =
      opened.get(mode) ??
      source
        .keys()
        .then((keys) => keys.namesOf({ id: bucket, mode }))
        .catch(unlessRefused);
    opened.set(mode, opening);
    // What may pass, such as too many derivations, is asked for anew.
    opening.catch(() => opened.delete(mode));
    const names = await opening;
    if (names === undefined && use === 'name') throw noNames(bucket);
    return names ?? unopenedNames;
  };
}

/** Of who is no member: what they ask for is refused or answered by itself. */
function unlessRefused(error: unknown): undefined {
  const statuses = [401, 403, 404];
  if (isStorageError(error, 'NoIdentity')) return undefined;
  if (isStorageError(error) && statuses.includes(error.status ?? 0)) return undefined;
  throw error;
}

function noNames(bucket: string): StorageError {
  return new StorageError(
    'NoIdentity',
    `Bucket ${bucket} seals the names of its files: its members name them, by their own signature, ` +
      'and no API key does.',
  );
}
