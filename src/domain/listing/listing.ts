// Pages of a bucket's files by name or by date, with any prefix. The ordered index finds them in a
// time that does not depend on the number of files. Files are sorted first, then split into pages.

import { pageSizeMax } from '../../../packages/wire/src/limits.ts';
import { concatBytes, emptyBytes } from '../../lib/bytes.ts';
import { encodeUtf8 } from '../../lib/text.ts';
import { filePathBytesMax, pageSizeDefault } from '../../limits.ts';
import { authorizeFileList, type SentKey } from '../rights/rights.ts';
import type { Call } from '../shared/caller.ts';
import { parseTags, quote } from '../shared/names.ts';
import { Refusal } from '../shared/refusal.ts';
import type { Stores } from '../shared/stores.ts';
import { readByDate } from './date-order.ts';
import { nameKey, nameKeyHeadBytes, scopeOf } from './file-index.ts';

const sorts = ['name_asc', 'name_desc', 'date_asc', 'date_desc'] as const;
export type Sort = (typeof sorts)[number];

export interface ListRequest {
  readonly bucket: string;
  readonly apiKey: SentKey;
  /** Whether no update answers: then everybody may list a bucket with isListed. */
  readonly isQuery?: boolean;
  /** Compared exactly; '' matches every path, or for a key with a prefix, every path of the key. */
  readonly prefix: string | undefined;
  /** From 1; refuses other numbers, including NaN. */
  readonly page: number | undefined;
  readonly pageSize: number | undefined;
  readonly sort: string | undefined;
  readonly tag: string | undefined;
}

export interface FileList {
  readonly bucketId: string;
  /** UTF-8 of the paths of the files on the page. */
  readonly paths: readonly Uint8Array[];
  readonly page: number;
  /** The requested page size, at most 50. */
  readonly pageSize: number;
  /** Number of files with the prefix and the tag, on all pages. */
  readonly total: number;
  readonly pages: number;
  readonly hasMore: boolean;
  /** `null` on and after the last page. */
  readonly nextPage: number | null;
  readonly prefix: string;
  readonly sort: Sort;
}

/** Lists one page, for callers with the read permission, or for everybody. */
export function listFiles(stores: Stores, call: Call, request: ListRequest): FileList {
  const { bucket: name, apiKey, isQuery, prefix: asked = '', page = 1 } = request;
  const claim = { bucket: name, apiKey, prefix: asked, isQuery };
  const { bucket, prefix } = authorizeFileList(stores, call, claim);
  const sort = parseSort(request.sort);
  requireCount('page', page);
  const pageSize = request.pageSize ?? pageSizeDefault;
  requireCount('pageSize', pageSize);
  const size = Math.min(pageSize, pageSizeMax);
  const tag = request.tag === undefined ? '' : parseTag(request.tag);
  const selection = selectFiles(stores, { bucketId: bucket.id, tag, prefix });
  const { total } = selection;
  const skip = (page - 1) * size;
  const limit = Math.max(Math.min(size, total - skip), 0);
  const paths = limit === 0 ? [] : readPaths(stores, selection, { sort, skip, limit });
  const pages = Math.ceil(total / size);
  const hasMore = page < pages;
  const nextPage = hasMore ? page + 1 : null;
  const numbers = { page, pageSize: size, total, pages, hasMore, nextPage };
  return { bucketId: bucket.id, paths, ...numbers, prefix, sort };
}

function parseSort(text: string | undefined): Sort {
  const sort = text === undefined ? 'name_asc' : sorts.find((known) => known === text);
  if (sort === undefined) {
    throw new Refusal(
      'InvalidArgument',
      `The sort must be one of ${sorts.join(', ')}; got ${quote(text ?? '')}.`,
    );
  }
  return sort;
}

function requireCount(name: string, value: number): void {
  if (!Number.isInteger(value) || value < 1) {
    throw new Refusal('InvalidArgument', `${name} must be a whole number from 1 on.`);
  }
}

export function parseTag(text: string): string {
  const [tag] = parseTags([text]);
  if (tag === undefined) {
    throw new Refusal('InvalidArgument', 'The tag is empty: name one, or omit it.');
  }
  return tag;
}

/** The files of a list: those of a scope whose paths begin with a prefix. */
export interface Selection {
  readonly bucketId: string;
  readonly scope: Uint8Array;
  readonly prefix: Uint8Array;
  /** Rank of the first one by name. */
  readonly start: number;
  readonly total: number;
}

/** UTF-8 never contains this byte, so the key follows every path with the prefix. */
const afterUtf8 = Uint8Array.of(0xff);

export function selectFiles(
  stores: Stores,
  wanted: { readonly bucketId: string; readonly tag: string; readonly prefix: string },
): Selection {
  const { bucketId } = wanted;
  const scope = scopeOf(bucketId, wanted.tag);
  const prefix = encodeUtf8(wanted.prefix);
  if (prefix.length > filePathBytesMax) {
    return { bucketId, scope, prefix: emptyBytes, start: 0, total: 0 };
  }
  const first = nameKey(scope, prefix);
  const start = stores.index.rank(first);
  const total = stores.index.rank(concatBytes(first, afterUtf8)) - start;
  return { bucketId, scope, prefix, start, total };
}

interface Cut {
  readonly sort: Sort;
  readonly skip: number;
  readonly limit: number;
}

/** Returns UTF-8 of the paths of the page, which must exist. */
function readPaths(stores: Stores, selection: Selection, cut: Cut): Uint8Array[] {
  const { scope, start, total } = selection;
  const { skip, limit } = cut;
  if (cut.sort === 'date_asc' || cut.sort === 'date_desc') {
    return readByDate(stores, selection, { ...cut, isDescending: cut.sort === 'date_desc' });
  }
  const head = scope.length + nameKeyHeadBytes;
  return cut.sort === 'name_asc'
    ? stores.index.readTails(start + skip, limit, head)
    : stores.index.readTails(start + total - skip - limit, limit, head).reverse();
}
