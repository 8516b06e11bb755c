// The reference model of lists: pages of files, folders by cursors, usage and former versions, each
// computed by sorting all entries. Written from the interface's description; shares no code with
// src.

import { byName, type TwinBucket, type TwinFile, versionsOf } from './model-twin.ts';

const pageSizeMax = 50;

function selected(bucket: TwinBucket, prefix: string, tag?: string): TwinFile[] {
  return [...bucket.files.values()]
    .filter(({ path }) => path.startsWith(prefix))
    .filter(({ tags }) => tag === undefined || tags.includes(tag))
    .sort(byName);
}

/** Sorted by name. */
export function pathsBelow(bucket: TwinBucket, prefix: string): string[] {
  return selected(bucket, prefix).map(({ path }) => path);
}

export interface TwinListing {
  readonly sort: string;
  readonly prefix: string;
  readonly tag: string | undefined;
  readonly page: number;
  readonly pageSize: number;
}

export function listTwin(bucket: TwinBucket, listing: TwinListing) {
  const { sort, prefix, tag, page, pageSize } = listing;
  const sign = sort.endsWith('asc') ? 1 : -1;
  const size = Math.min(pageSize, pageSizeMax);
  const wanted = selected(bucket, prefix, tag).sort((left, right) =>
    sort.startsWith('name')
      ? sign * byName(left, right)
      : sign * Number(left.date - right.date) || byName(left, right),
  );
  const paths = wanted.slice((page - 1) * size, page * size).map(({ path }) => path);
  const pages = Math.ceil(wanted.length / size);
  return { paths, total: wanted.length, pages, hasMore: page < pages };
}

export interface TwinFolderList {
  readonly prefix: string;
  readonly delimiter: string;
  readonly tag: string | undefined;
  readonly sort: string;
}

/**
 * Returns the files and folders directly below the prefix, after that name, in the present state.
 */
export function folderTwin(
  bucket: TwinBucket,
  list: TwinFolderList,
  page: { readonly after: string | undefined; readonly limit: number },
) {
  const { prefix, delimiter, tag, sort } = list;
  const sign = sort === 'name_asc' ? 1 : -1;
  const names = selected(bucket, prefix, tag).map(({ path }) => {
    const slash = delimiter === '' ? -1 : path.indexOf(delimiter, prefix.length);
    return slash < 0 ? path : path.slice(0, slash + 1);
  });
  const compare = (left: string, right: string) =>
    sign * Buffer.compare(Buffer.from(left), Buffer.from(right));
  const { after, limit } = page;
  const left = [...new Set(names)]
    .filter((name) => after === undefined || compare(name, after) > 0)
    .sort(compare);
  return { entries: left.slice(0, limit), hasMore: left.length > limit };
}

export function usageTwin(bucket: TwinBucket, prefix: string) {
  const files = selected(bucket, prefix);
  const bytes = files.reduce((sum, file) => sum + file.bytes.length, 0);
  return { prefix, files: files.length, bytes };
}

export interface TwinVersionList {
  readonly path?: string;
  readonly prefix?: string;
}

/** Returns the former versions after the last shown one, and whether more follow. */
export function versionsTwin(
  bucket: TwinBucket,
  { path, prefix = '' }: TwinVersionList,
  page: { readonly after: string | undefined; readonly limit: number },
) {
  const wanted = versionsOf(bucket).filter(({ file }) =>
    path === undefined ? file.path.startsWith(prefix) : file.path === path,
  );
  const names = wanted.map(({ file }) => ({ path: file.path, version: file.version }));
  const [afterPath = '', afterVersion = '0'] = page.after?.split('\0') ?? [];
  const left = names.filter((name) => {
    const order = byName(name, { path: afterPath });
    return order > 0 || (order === 0 && name.version > Number(afterVersion));
  });
  const shown = left.slice(0, page.limit).map((name) => `${name.path}\0${name.version}`);
  return { shown, hasMore: left.length > page.limit };
}
