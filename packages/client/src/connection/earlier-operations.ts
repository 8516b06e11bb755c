// Replacements for operations that version 0.1.0 of the service lacks, composed of operations that
// it has. Loaded for such a service only.

import { folderPageDefault } from '../../../wire/src/limits.ts';
import type { Deletion, DeletionAnswer } from '../operations/files.ts';
import { isStorageError } from '../storage-error.ts';
import type { FileRecord, RemovedFile } from '../types/files.ts';
import type { FolderOptions, FolderPage } from '../types/listings.ts';
import type { Connection } from './connection.ts';
import { inParallel } from './parallel.ts';
import type { Signal } from './transport.ts';

const concurrency = 8;

/** Groups all files into folders; a cursor is the path of the previous page's last entry. */
export async function folderOf(
  files: AsyncIterable<FileRecord>,
  options: FolderOptions,
): Promise<FolderPage> {
  const { prefix = '', delimiter, limit = folderPageDefault, sort } = options;
  const entries = new Map<string, FileRecord | undefined>();
  for await (const file of files) {
    const end = delimiter === undefined ? -1 : file.path.indexOf(delimiter, prefix.length);
    if (end < 0) entries.set(file.path, file);
    else entries.set(file.path.slice(0, end + 1), undefined);
  }
  const sign = sort === 'name_desc' ? -1 : 1;
  const order = (one: string, other: string) => sign * (one < other ? -1 : Number(one > other));
  const after = options.cursor ?? options.startAfter;
  const left = [...entries.keys()]
    .filter((path) => after === undefined || order(path, after) > 0)
    .sort(order);
  const shown = left.slice(0, limit);
  const items = shown.flatMap((path) => entries.get(path) ?? []);
  const folders = shown.filter((path) => entries.get(path) === undefined);
  return {
    items,
    folders: folders.map((path) => ({ path })),
    nextCursor: left.length > limit ? shown.at(-1) : undefined,
  };
}

/** Runs the work for each item, instead of one request for all; results are in the items' order. */
export async function forEachAlone<Item, Result>(
  items: readonly Item[],
  signal: Signal,
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  // The workers share one iterator.
  const left = items.entries();
  await inParallel({ concurrency, signal }, async () => {
    for (const [index, item] of left) results[index] = await work(item);
  });
  return results;
}

export async function deleteEach(
  { transport }: Connection,
  { bucket, ifMatch }: Deletion,
  paths: readonly string[],
  signal: Signal,
): Promise<DeletionAnswer> {
  const results = await forEachAlone(paths, signal, async (path): Promise<RemovedFile> => {
    try {
      await transport.deleteFile({ bucket, path, ifMatch }, signal);
      return { path, error: undefined };
    } catch (error) {
      if (isStorageError(error)) return { path, error };
      throw error;
    }
  });
  return { results, nextCursor: undefined };
}
