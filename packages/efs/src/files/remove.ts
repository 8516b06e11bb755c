// `efs rm`: removes files, or all files of a folder. One failure does not stop the others.

import type { Storage } from '../../../client/src/storage.ts';
import { StorageError } from '../../../client/src/storage-error.ts';
import type { Run } from '../config/run.ts';
import {
  folderPrefix,
  isFolder,
  nameOf,
  parseFileName,
  parseLocation,
} from '../output/location.ts';
import { printable } from '../output/printable.ts';
import {
  continueAfterFailure,
  countDone,
  countFailure,
  finish,
  type Summary,
  startSummary,
} from '../transfers/summary.ts';

interface Removal {
  readonly run: Run;
  readonly storage: Storage;
  readonly summary: Summary;
  readonly bypassGovernance: boolean | undefined;
}

export async function remove(
  run: Run,
  names: readonly string[],
  { recursive, bypassGovernance }: { recursive?: boolean; bypassGovernance?: boolean },
): Promise<void> {
  const pathsByBucket = new Map<string, string[]>();
  for (const text of names) {
    const { bucket, path } = recursive ? parseLocation(text) : parseFileName(text);
    pathsByBucket.set(bucket, [...(pathsByBucket.get(bucket) ?? []), path]);
  }
  const summary = startSummary('removed');
  const removal = { run, storage: await run.storage(), summary, bypassGovernance };
  if (recursive) {
    for (const text of names) {
      await continueAfterFailure(summary, text, () => removeFolder(removal, text));
    }
  } else {
    for (const [bucket, paths] of pathsByBucket) {
      await continueAfterFailure(summary, bucket, () => removeAll(removal, { bucket, paths }));
    }
  }
  finish(run, summary, names.length > 1 || recursive === true);
}

async function removeAll(
  { run, storage, summary, bypassGovernance }: Removal,
  wanted: { readonly bucket: string } & (
    | { readonly paths: readonly string[] }
    | { readonly prefix: string }
  ),
): Promise<void> {
  const { bucket } = wanted;
  const options = { ...wanted, bypassGovernance, signal: run.signal };
  for await (const { path, error } of storage.removeAll(options)) {
    const name = nameOf({ bucket, path });
    if (error === undefined) countDone(summary, name);
    else countFailure(summary, name, error);
  }
}

/**
 * Removes all files of a folder or bucket, or else the file of that name. Throws NoSuchFile if
 * neither exists; a bucket may be empty.
 */
async function removeFolder(removal: Removal, text: string): Promise<void> {
  const location = parseLocation(text);
  const { bucket, path } = location;
  const { summary } = removal;
  const before = summary.done + summary.failures.length;
  await removeAll(removal, { bucket, prefix: folderPrefix(location) });
  if (summary.done + summary.failures.length > before || path === '') return;
  if (!isFolder(location)) return removeAll(removal, { bucket, paths: [path] });
  throw new StorageError('NoSuchFile', `${printable(text)} has no files.`);
}
