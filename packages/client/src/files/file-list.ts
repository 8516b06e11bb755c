// Lists all files below a prefix: by cursors, which stand for names, if they are sorted by name,
// otherwise by numbered pages.

import { folderPageDefault, folderPageMax } from '../../../wire/src/limits.ts';
import type { Connection } from '../connection/connection.ts';
import { trying } from '../connection/connection.ts';
import { folderOf } from '../connection/earlier-service.ts';
import type { PageRequest } from '../connection/transport.ts';
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
    return await trying(connection, options.signal, () => connection.transport.listFolder(options));
  } catch (error) {
    if (!isStorageError(error, 'Unsupported')) throw error;
    return folderOf(listByPages(connection, options), options);
  }
}

/** Returns all paths below a prefix; read before any is deleted, because pages are numbered. */
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
async function* listByCursors(
  connection: Connection,
  options: FolderOptions,
): AsyncGenerator<FileRecord> {
  let request: FolderOptions | undefined = { ...options, limit: folderPageDefault };
  while (request !== undefined) {
    const asked: FolderOptions = request;
    const page: FolderPage = await trying(connection, options.signal, () =>
      connection.transport.listFolder(asked),
    );
    yield* page.items;
    const cursor = page.nextCursor;
    request = cursor === undefined ? undefined : { ...options, limit: folderPageMax, cursor };
  }
}

async function* listByPages(
  connection: Connection,
  options: ListOptions,
): AsyncGenerator<FileRecord> {
  for (let page: number | undefined = 1; page !== undefined; ) {
    const request: PageRequest = { ...options, page };
    const { items, nextPage }: FilePage = await trying(connection, options.signal, () =>
      connection.transport.listFiles(request),
    );
    yield* items;
    page = nextPage;
  }
}
