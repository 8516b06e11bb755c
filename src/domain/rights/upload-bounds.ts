// Limits of a key for its uploads: a key with `upload` but without `write` only adds files, and a
// key may have a maximum number of files and of bytes for each. Retries and open uploads do not
// count; a file counts when it is stored.

import { quote } from '../shared/names.ts';
import { Refusal } from '../shared/refusal.ts';
import type { Stores } from '../shared/stores.ts';
import { type ApiKey, saveKey } from './api-keys.ts';

type Key = ApiKey | undefined;

/** Parses a maximum; 0n: no limit. */
export function parseUploadLimit(name: 'maxFileBytes' | 'maxFiles', sent: bigint): number {
  if (sent <= BigInt(Number.MAX_SAFE_INTEGER)) return Number(sent);
  throw new Refusal(
    'InvalidArgument',
    `${name} is ${sent}: send at most ${Number.MAX_SAFE_INTEGER}, or 0 for no limit.`,
  );
}

/** Refuses a file that is larger than the key allows. */
export function checkFileBytes(key: Key, size: number): void {
  const limit = key?.bounds?.fileBytesMax ?? 0;
  if (limit === 0 || size <= limit) return;
  throw new Refusal(
    'EntityTooLarge',
    `This key or upload link accepts files of at most ${limit} bytes; this one has ${size}.`,
    { limit, size },
  );
}

/** Refuses more files than the key may still store. */
export function checkFileCount(key: Key, files: number): void {
  const { filesMax = 0, fileCount = 0 } = key?.bounds ?? {};
  if (filesMax === 0 || fileCount + files <= filesMax) return;
  throw new Refusal(
    'QuotaExceeded',
    `This key or upload link is for ${filesMax} files, of which ${fileCount} are stored; ` +
      `got ${files} more.`,
    { limit: filesMax },
  );
}

/** Refuses to replace a file by a key that may only add files. */
export function checkAddition(key: Key, path: string, isReplacing: boolean): void {
  if (!isReplacing || key === undefined || key.permissions.includes('write')) return;
  throw new Refusal(
    'PreconditionFailed',
    `A file exists at ${quote(path)}, and this key or upload link can only add files: choose another path.`,
  );
}

/** Counts stored files; the key is the one that authorized them. */
export function countFiles(stores: Stores, key: Key, files: number): void {
  if (key?.bounds === undefined || key.bounds.filesMax === 0) return;
  const fileCount = key.bounds.fileCount + files;
  saveKey(stores, { ...key, bounds: { ...key.bounds, fileCount } });
}
