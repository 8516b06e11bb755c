// `efs rm`: files, or all that is in a folder. A file that cannot be removed keeps none of the
// others.

import type { Storage } from '../storage.ts';
import { isStorageError, StorageError } from '../storage-error.ts';
import { exitCodeOf, exitCodes, sayFailure } from './exit-code.ts';
import { folderPrefix, isFolder, nameOf, parseFileName, parseLocation } from './location.ts';
import { printable, printLine, printNote } from './output.ts';
import type { Run } from './run.ts';

interface Removal {
  readonly run: Run;
  readonly storage: Storage;
  readonly counts: { removed: number };
  readonly failures: unknown[];
}

export async function remove(
  run: Run,
  names: readonly string[],
  { recursive }: { readonly recursive?: boolean },
): Promise<void> {
  const pathsByBucket = new Map<string, string[]>();
  for (const text of names) {
    const { bucket, path } = recursive ? parseLocation(text) : parseFileName(text);
    pathsByBucket.set(bucket, [...(pathsByBucket.get(bucket) ?? []), path]);
  }
  const removal = { run, storage: await run.storage(), counts: { removed: 0 }, failures: [] };
  if (recursive) {
    for (const text of names) {
      await goOnAfterFailure(removal, text, () => removeFolder(removal, text));
    }
  } else {
    for (const [bucket, paths] of pathsByBucket) {
      await goOnAfterFailure(removal, bucket, () => removeAll(removal, { bucket, paths }));
    }
  }
  finish(removal, names.length > 1 || recursive === true);
}

/** What ends the work on one name is kept; what would end it on all of them ends the command. */
async function goOnAfterFailure(
  { failures }: Removal,
  text: string,
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    const { interrupted, unreachable } = exitCodes;
    if ([interrupted, unreachable].some((code) => code === exitCodeOf(error))) throw error;
    failures.push(error);
    printNote(`${printable(text)} is not removed: ${sayFailure(error)}`);
  }
}

async function removeAll(
  { run, storage, counts, failures }: Removal,
  wanted: { readonly bucket: string } & (
    | { readonly paths: readonly string[] }
    | { readonly prefix: string }
  ),
): Promise<void> {
  const { bucket } = wanted;
  for await (const { path, error } of storage.removeAll({ ...wanted, signal: run.signal })) {
    const name = printable(nameOf({ bucket, path }));
    if (error === undefined) {
      counts.removed++;
      printLine(name);
    } else {
      failures.push(error);
      printNote(`${name} is not removed: ${sayFailure(error)}`);
    }
  }
}

/**
 * A name with nothing in it is that of a file; a bucket may be empty, but a folder is there by its
 * files alone.
 */
async function removeFolder(removal: Removal, text: string): Promise<void> {
  const location = parseLocation(text);
  const { bucket, path } = location;
  const { counts, failures } = removal;
  const before = counts.removed + failures.length;
  await removeAll(removal, { bucket, prefix: folderPrefix(location) });
  if (counts.removed + failures.length > before || path === '') return;
  if (!isFolder(location)) return removeAll(removal, { bucket, paths: [path] });
  throw new StorageError('NoSuchFile', `There is no file in ${printable(text)}.`);
}

/** With the exit code of the first failure. */
function finish({ run, counts, failures }: Removal, isSummedUp: boolean): void {
  const { removed } = counts;
  const [first] = failures;
  if (first !== undefined) {
    const text = `${removed} removed, ${failures.length} failed.`;
    if (!isStorageError(first)) throw new Error(text, { cause: first });
    throw new StorageError(first.code, text, { status: first.status, cause: first });
  }
  if (isSummedUp && !run.isQuiet) printNote(`${removed} removed.`);
}
