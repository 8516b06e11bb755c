// Pages of a public list. One node answers, without proof: each entry is checked, shown as text
// only, and its address is built from the bucket and the path.

import { retry } from '../../client/src/connection/retry.ts';
import { exchangeJson, type HttpPlace } from '../../client/src/http/exchange.ts';
import {
  type ListedFolder,
  type ListedPage,
  listingRows,
} from '../../client/src/operations/listings.ts';
import { pageSizeMax } from '../../wire/src/limits.ts';
import { nameOf } from './file-kinds.ts';

/** By name the list has folders; by date it has all files below the prefix. */
export type GallerySort = 'name_asc' | 'name_desc' | 'date_asc' | 'date_desc';

/** A file in a gallery. */
export interface GalleryFile {
  readonly bucket: string;
  readonly path: string;
  readonly name: string;
  readonly size: number;
  readonly contentType: string;
  /** Whether the service has a small picture of it. */
  readonly hasThumbnail: boolean;
}

export interface GalleryQuery {
  readonly bucket: string;
  readonly prefix: string;
  readonly sort: GallerySort;
  readonly limit: number;
}

export interface GalleryPage {
  /** Paths, with a slash at the end. */
  readonly folders: readonly string[];
  readonly files: readonly GalleryFile[];
  /** The beginning of the next page; absent on the last one. */
  readonly next?: string | undefined;
}

interface Reading {
  readonly connection: HttpPlace;
  readonly signal: AbortSignal;
}

/** A visitor waits for a list: fewer attempts than for an upload. */
const policy = { attemptsMax: 4, delayMsMin: 250, delayMsMax: 2_000, stoppedMsMax: 10_000 };

/** Throws StorageError. */
export function readPage(
  query: GalleryQuery,
  start: string | undefined,
  { connection, signal }: Reading,
): Promise<GalleryPage> {
  const read = query.sort.startsWith('date') ? readByDate : readFolder;
  return retry(() => read(query, start, { connection, signal }), { policy, signal });
}

async function readFolder(
  query: GalleryQuery,
  cursor: string | undefined,
  { connection, signal }: Reading,
): Promise<GalleryPage> {
  const { bucket, prefix, limit } = query;
  const sort = query.sort === 'name_desc' ? 'name_desc' : 'name_asc';
  const { request, read } = listingRows.listFolder;
  const asked = request({ bucket, prefix, sort, cursor, limit, delimiter: '/' });
  const sent = await exchangeJson<ListedFolder>(connection, { ...asked, signal });
  const { items, folders, nextCursor } = read(sent);
  return {
    folders: listOf(folders, limit).flatMap((folder) => {
      const path = textIn(folder, 'path');
      const isBelow = path.startsWith(prefix) && path.endsWith('/') && path !== prefix;
      return isBelow ? [path] : [];
    }),
    files: checkedFiles(items, query),
    next: nextCursor,
  };
}

/** Lists by date have numbered pages, and no folders. */
async function readByDate(
  query: GalleryQuery,
  start: string | undefined,
  { connection, signal }: Reading,
): Promise<GalleryPage> {
  const { bucket, prefix, sort } = query;
  const { request, read } = listingRows.listFiles;
  const page = Number(start ?? 1);
  const asked = request({ bucket, prefix, sort, page });
  const sent = await exchangeJson<ListedPage>(connection, { ...asked, signal });
  const { items, nextPage } = read(sent);
  const files = checkedFiles(items, { ...query, limit: pageSizeMax });
  return { folders: [], files, next: nextPage === undefined ? undefined : String(page + 1) };
}

function checkedFiles(items: unknown, { bucket, prefix, limit }: GalleryQuery): GalleryFile[] {
  return listOf(items, limit).flatMap((item) => {
    const path = textIn(item, 'path');
    if (path === '' || !path.startsWith(prefix)) return [];
    const { size, thumbnail } = item as { readonly size?: unknown; readonly thumbnail?: unknown };
    const bytes = typeof size === 'number' && size >= 0 ? size : 0;
    const contentType = textIn(item, 'contentType');
    const isSealed = contentType === 'application/age';
    const hasThumbnail = typeof thumbnail === 'object' && thumbnail !== null && !isSealed;
    return [{ bucket, path, name: nameOf(path), size: bytes, contentType, hasThumbnail }];
  });
}

function listOf(list: unknown, lengthMax: number): readonly unknown[] {
  return Array.isArray(list) ? list.slice(0, lengthMax) : [];
}

function textIn(record: unknown, name: 'path' | 'contentType'): string {
  const value = (record as Readonly<Record<string, unknown>> | null)?.[name];
  return typeof value === 'string' ? value : '';
}
