// Lists all files below a prefix: by cursors, which mark a name, or by numbered pages.

import { folderPageDefault, folderPageMax } from '../../../wire/src/limits.ts';
import { type Connection, perform } from '../connection/connection.ts';
import { allItems } from '../connection/pages.ts';
import type { PageRequest } from '../operations/listings.ts';
import { isStorageError } from '../storage-error.ts';
import type { FileRecord } from '../types/files.ts';
import type { FilePage, FolderOptions, FolderPage, ListOptions } from '../types/listings.ts';

export function listFiles(
  connection: Connection,
  options: ListOptions,
): AsyncGenerator<FileRecord> {
  const { sort, ...rest } = options;
  return sort === 'date_asc' || sort === 'date_desc'
    ? listByPages(connection, options)
    : listByName(connection, { ...rest, sort });
}

/** Lists one page of a folder. Version 0.1.0 lists only files, by numbered pages. */
export async function listFolder(
  connection: Connection,
  options: FolderOptions,
): Promise<FolderPage> {
  try {
    return await perform(connection, 'listFolder', options, options.signal);
  } catch (error) {
    if (!isStorageError(error, 'Unsupported')) throw error;
    const { folderOf } = await import('../connection/earlier-operations.ts');
    return folderOf(listByPages(connection, options), options);
  }
}

/**
 * Returns all paths below a prefix. Deleting files during the listing would shift its numbered
 * pages.
 */
export async function pathsOf(connection: Connection, options: ListOptions): Promise<string[]> {
  const paths: string[] = [];
  for await (const { path } of listByPages(connection, options)) paths.push(path);
  return paths;
}

/** Lists by cursors; version 0.1.0 supports only numbered pages. */
async function* listByName(
  connection: Connection,
  options: FolderOptions,
): AsyncGenerator<FileRecord> {
  try {
    yield* listByCursors(connection, options);
  } catch (error) {
    if (!isStorageError(error, 'Unsupported')) throw error;
    yield* listByPages(connection, options);
  }
}

/** The first page is short, because many callers read only the beginning. */
function listByCursors(
  connection: Connection,
  { signal, ...options }: FolderOptions,
): AsyncGenerator<FileRecord> {
  return allItems((cursor = options.cursor) => {
    const limit = cursor === undefined ? folderPageDefault : folderPageMax;
    return perform(connection, 'listFolder', { ...options, limit, cursor }, signal);
  });
}

async function* listByPages(
  connection: Connection,
  options: ListOptions,
): AsyncGenerator<FileRecord> {
  for (let page: number | undefined = 1; page !== undefined; ) {
    const request: PageRequest = { ...options, page };
    const listed: FilePage = await perform(connection, 'listFiles', request, options.signal);
    yield* listed.items;
    page = listed.nextPage;
  }
}
