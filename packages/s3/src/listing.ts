// Pages of a bucket's keys in the order of their UTF-8, as S3 lists them: objects after a name and,
// with a delimiter, common prefixes in place of the objects below them.

import { isOfSharedList } from '../../client/src/links/folder-address.ts';
import type { FileRecord } from '../../client/src/types/files.ts';
import type { FolderOptions, FolderPage } from '../../client/src/types/listings.ts';
import { folderPageMax } from '../../wire/src/limits.ts';
import type { Account } from './account.ts';
import { keyOfPath } from './keys.ts';
import { S3Error } from './s3-error.ts';
import { objectOf, type StoredObject } from './stored-object.ts';

export interface ListRequest {
  readonly bucket: string;
  readonly prefix: string;
  /** Empty: none. */
  readonly delimiter: string;
  /** Lists only names after this one. */
  readonly after: string;
  /** At least 1. */
  readonly limit: number;
  readonly signal: AbortSignal;
}

export interface ListedName {
  /** A key, or a common prefix. */
  readonly name: string;
  /** Absent for a common prefix. */
  readonly object?: StoredObject | undefined;
}

export interface ListPage {
  readonly names: readonly ListedName[];
  /** The name after which the next page begins; absent on the last page. */
  readonly next?: string | undefined;
}

interface Reading extends ListRequest {
  readonly isEndToEnd: boolean;
}

/** Maximum number of names that one request reads if the service cannot group or sort them. */
const walkedNamesMax = 20_000;

export async function listPage(account: Account, request: ListRequest): Promise<ListPage> {
  const mode = await account.secrets.readerMode(request.bucket);
  const reading = { ...request, isEndToEnd: mode !== undefined };
  if (mode?.sealsNames) return listSealed(account, reading);
  const isGrouped = request.delimiter === '' || request.delimiter === '/';
  return isGrouped ? listByService(account, reading) : listByWalk(account, reading);
}

/** Compares by UTF-8, which differs from the order of UTF-16 for some characters. */
export function compareNames(one: string, other: string): number {
  return Buffer.compare(Buffer.from(one), Buffer.from(other));
}

async function listByService(account: Account, request: Reading): Promise<ListPage> {
  const delimiter = request.delimiter === '/' ? ('/' as const) : undefined;
  const names: ListedName[] = [];
  for await (const page of pagesOf(account, { ...request, delimiter })) {
    names.push(...namesOf(page, request));
    if (names.length < request.limit) continue;
    const shown = names.slice(0, request.limit);
    const hasMore = names.length > request.limit || page.nextCursor !== undefined;
    return { names: shown, next: hasMore ? shown.at(-1)?.name : undefined };
  }
  return { names };
}

type Walk = Pick<ListRequest, 'bucket' | 'prefix' | 'after' | 'signal'> & {
  readonly delimiter: '/' | undefined;
  readonly limit: number;
};

async function* pagesOf({ storage }: Account, walk: Walk): AsyncGenerator<FolderPage> {
  const { bucket, prefix, after, delimiter, signal } = walk;
  const limit = Math.min(walk.limit, folderPageMax);
  const common = { bucket, prefix, delimiter, limit, signal };
  // The marker of a folder is the first file in it, and its key is the folder's name.
  const startAfter = after === '' ? undefined : after.endsWith('/') ? `${after} ` : after;
  let request: FolderOptions | undefined = { ...common, startAfter };
  while (request !== undefined) {
    const page: FolderPage = await storage.listFolder(request);
    yield page;
    const cursor = page.nextCursor;
    request = cursor === undefined ? undefined : { ...common, cursor };
  }
}

/** Files and folders of a page are sorted separately. */
function namesOf({ items, folders }: FolderPage, reading: Reading): ListedName[] {
  const names: ListedName[] = [
    ...listedObjects(items, reading),
    ...folders.map(({ path }) => ({ name: path })),
  ];
  return folders.length === 0 ? names : names.sort((a, b) => compareNames(a.name, b.name));
}

/** A prefix that ends in a space matches the path of a marker, but not its key. */
function listedObjects(
  records: readonly FileRecord[],
  { prefix, isEndToEnd }: Pick<Reading, 'prefix' | 'isEndToEnd'>,
): ListedName[] {
  return records.flatMap((record) => {
    // No member can decrypt the lists of file keys of links to folders
    if (isEndToEnd && isOfSharedList(record.path)) return [];
    const name = keyOfPath(record.path);
    return name.startsWith(prefix) ? [{ name, object: objectOf(record) }] : [];
  });
}

/** The page may be short if many names have one common prefix. */
async function listByWalk(account: Account, request: Reading): Promise<ListPage> {
  const { prefix, delimiter, after, limit } = request;
  const names: ListedName[] = [];
  let walked = 0;
  let last = after;
  const walk = { ...request, delimiter: undefined, limit: folderPageMax };
  for await (const page of pagesOf(account, walk)) {
    for (const listed of listedObjects(page.items, request)) {
      const grouped = groupOf(listed, prefix, delimiter);
      const isNew = compareNames(grouped.name, after) > 0 && names.at(-1)?.name !== grouped.name;
      if (isNew && names.length === limit) return { names, next: last };
      if (isNew) names.push(grouped);
      last = grouped.object === undefined && isNew ? grouped.name : listed.name;
    }
    walked += page.items.length;
    if (walked >= walkedNamesMax && page.nextCursor !== undefined) return { names, next: last };
  }
  return { names };
}

export function groupOf<T extends { readonly name: string }>(
  listed: T,
  prefix: string,
  delimiter: string,
): T | { readonly name: string; readonly object?: undefined } {
  const at = delimiter === '' ? -1 : listed.name.indexOf(delimiter, prefix.length);
  return at === -1 ? listed : { name: listed.name.slice(0, at + delimiter.length) };
}

/** Sealed names are stored in the order of their ciphertext, so all of them are sorted here. */
async function listSealed({ storage }: Account, request: Reading): Promise<ListPage> {
  const { bucket, prefix, delimiter, after, limit, signal } = request;
  const names = new Map<string, ListedName>();
  let walked = 0;
  for await (const record of storage.list({ bucket, signal })) {
    if (++walked > walkedNamesMax) {
      throw new S3Error(
        'NotImplemented',
        `The bucket seals names and has more than ${walkedNamesMax} of them, too many to sort: use efs ls.`,
      );
    }
    for (const listed of listedObjects([record], request)) {
      const grouped = groupOf(listed, prefix, delimiter);
      if (compareNames(grouped.name, after) > 0) names.set(grouped.name, grouped);
    }
  }
  const sorted = [...names.values()].sort((a, b) => compareNames(a.name, b.name));
  const shown = sorted.slice(0, limit);
  return { names: shown, next: sorted.length > limit ? shown.at(-1)?.name : undefined };
}
