// `efs rm`: files, or all that is in a folder.

import type { FileName } from '../interface.ts';
import { StorageError } from '../storage-error.ts';
import { folderPrefix, isFolder, nameOf, parseFileName, parseLocation } from './location.ts';
import { printable, printLine } from './output.ts';
import type { Run } from './run.ts';

export async function remove(
  run: Run,
  names: readonly string[],
  { recursive }: { readonly recursive?: boolean },
): Promise<void> {
  const storage = await run.storage();
  const { signal } = run;
  for (const text of names) {
    const files = recursive ? await filesIn(run, text) : [parseFileName(text)];
    for (const file of files) {
      await storage.remove(file, { signal });
      printLine(printable(nameOf(file)));
    }
  }
}

/**
 * Listed before the first is removed: what cannot be listed whole keeps all that it has. A name
 * with nothing in it is that of a file; a bucket may be empty, but a folder is there by its files
 * alone.
 */
async function filesIn(run: Run, text: string): Promise<FileName[]> {
  const location = parseLocation(text);
  const { bucket } = location;
  const prefix = folderPrefix(location);
  const files: FileName[] = [];
  for await (const { path } of (await run.storage()).list({ bucket, prefix, signal: run.signal })) {
    files.push({ bucket, path });
  }
  if (files.length > 0 || location.path === '') return files;
  if (!isFolder(location)) return [location];
  throw new StorageError('NoSuchFile', `There is no file in ${printable(text)}.`);
}
