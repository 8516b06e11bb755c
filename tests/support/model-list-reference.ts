// The reference model of lists: pages of files, folders by cursors, usage and former versions, each
// computed by sorting all entries. Written from the interface's description; shares no code with
// src.

import { byName, type ReferenceBucket, type ReferenceFile, versionsOf } from './model-reference.ts';

const pageSizeMax = 50;

function selected(bucket: ReferenceBucket, prefix: string, tag?: string): ReferenceFile[] {
  return [...bucket.files.values()]
    .filter(({ path }) => path.startsWith(prefix))
    .filter(({ tags }) => tag === undefined || tags.includes(tag))
    .sort(byName);
}

/** Sorted by name. */
export function pathsBelow(bucket: ReferenceBucket, prefix: string): string[] {
  return selected(bucket, prefix).map(({ path }) => path);
}

export interface ReferenceListing {
  readonly sort: string;
  readonly prefix: string;
  readonly tag: string | undefined;
  readonly page: number;
  readonly pageSize: number;
}

export function listReference(bucket: ReferenceBucket, listing: ReferenceListing) {
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

export interface ReferenceFolderList {
  readonly prefix: string;
  readonly delimiter: string;
  readonly tag: string | undefined;
  readonly sort: string;
}

/** Returns the present files and folders directly below the prefix, after the name `after`. */
export function folderReference(
  bucket: ReferenceBucket,
  list: ReferenceFolderList,
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

export function usageReference(bucket: ReferenceBucket, prefix: string) {
  const files = selected(bucket, prefix);
  const bytes = files.reduce((sum, file) => sum + file.bytes.length, 0);
  return { prefix, files: files.length, bytes };
}

export interface ReferenceVersionList {
  readonly path?: string;
  readonly prefix?: string;
}

/** Returns the former versions after the last shown one, and whether more follow. */
export function versionsReference(
  bucket: ReferenceBucket,
  { path, prefix = '' }: ReferenceVersionList,
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
