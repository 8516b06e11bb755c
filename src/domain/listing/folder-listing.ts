// Lists by cursors: the files directly below a prefix, and one entry for each folder. The ordered
// index is searched: one entry of each folder is read, then the folder's end is looked up. Without
// a delimiter, lists all files below the prefix.

import { concatBytes } from '../../lib/bytes.ts';
import { encodeUtf8 } from '../../lib/text.ts';
import { filePathBytesMax, listedPathBytesMax } from '../../limits.ts';
import { authorizeFileList, type SentKey } from '../rights/rights.ts';
import type { Call } from '../shared/caller.ts';
import { quote } from '../shared/names.ts';
import { Refusal } from '../shared/refusal.ts';
import type { Stores } from '../shared/stores.ts';
import { cursorOf, parseCursor, parseLimit } from './cursors.ts';
import { nameKey, nameKeyHeadBytes } from './file-index.ts';
import { parseTag, type Selection, selectFiles } from './listing.ts';

export interface FolderRequest {
  readonly bucket: string;
  readonly apiKey: SentKey;
  /** Whether no update answers: then everybody may list a bucket with isListed. */
  readonly isQuery?: boolean;
  /** Compared exactly; '' matches every path, or for a key with a prefix, every path of the key. */
  readonly prefix: string | undefined;
  /** `/`; absent or '': no folders. */
  readonly delimiter: string | undefined;
  /** The previous page's cursor; absent: the first page. */
  readonly cursor: string | undefined;
  /**
   * Replaces the cursor and is compared exactly. The list begins after this name and, if folders
   * are shown, after the folder that contains it.
   */
  readonly startAfter?: string | undefined;
  /** Maximum number of files and folders together: an integer from 1 to 1,000. */
  readonly limit: number | undefined;
  /** `name_asc`, the default, or `name_desc`: the direction of the list. */
  readonly sort: string | undefined;
  readonly tag: string | undefined;
}

export interface FolderList {
  readonly bucketId: string;
  /** UTF-8 of paths in the requested order; a folder's path ends with its slash. */
  readonly entries: readonly Uint8Array[];
  /** Whether more entries follow the last one. */
  readonly hasMore: boolean;
  readonly prefix: string;
  readonly delimiter: string;
}

export interface FolderPage {
  /** UTF-8 of their full paths, with the last slash. */
  readonly folders: readonly Uint8Array[];
  /** `null` on the last page. */
  readonly nextCursor: string | null;
}

const slash = 0x2f;
/** The byte after a slash: a folder's path that ends in it instead follows the folder's files. */
const afterSlash = 0x30;
/** Maximum of files read at once; their number starts at 1 and doubles until a folder is found. */
const batchMax = 256;

/**
 * Lists one page, for callers with the read permission, or for everybody. A page with long paths
 * can have fewer entries than its limit.
 */
export function listFolder(stores: Stores, call: Call, request: FolderRequest): FolderList {
  const { bucket: name, apiKey, isQuery, prefix: asked = '', delimiter = '' } = request;
  const claim = { bucket: name, apiKey, prefix: asked, isQuery };
  const { bucket, prefix } = authorizeFileList(stores, call, claim);
  if (delimiter !== '' && delimiter !== '/') {
    throw new Refusal(
      'InvalidArgument',
      `The delimiter must be / or absent, because folders end with a slash; got ${quote(delimiter)}.`,
    );
  }
  const limit = parseLimit(request.limit);
  const isDescending = parseDirection(request.sort);
  const after = parsePosition(request);
  const tag = request.tag === undefined ? '' : parseTag(request.tag);
  const selection = selectFiles(stores, { bucketId: bucket.id, tag, prefix });
  const hasFolders = delimiter === '/';
  const walk: Walk = {
    stores,
    selection,
    hasFolders,
    entries: [],
    missing: limit,
    room: listedPathBytesMax,
    ...rangeAfter(stores, selection, { after, isDescending, hasFolders }),
  };
  if (isDescending) walkDown(walk);
  else walkUp(walk);
  const { entries, start, end } = walk;
  return { bucketId: bucket.id, entries, hasMore: start < end, prefix, delimiter };
}

/** Returns UTF-8 of the name after which the page begins. */
function parsePosition({ cursor, startAfter }: FolderRequest): Uint8Array | undefined {
  if (startAfter === undefined) return cursor === undefined ? undefined : parseCursor(cursor);
  if (cursor !== undefined) {
    throw new Refusal(
      'InvalidArgument',
      'startAfter begins a list and a cursor continues one: send only one of them.',
    );
  }
  const name = encodeUtf8(startAfter);
  if (name.length > filePathBytesMax) {
    throw new Refusal(
      'InvalidArgument',
      `startAfter must have at most ${filePathBytesMax} bytes of UTF-8, the limit of paths.`,
    );
  }
  return name;
}

/** Returns whether the order is descending. */
function parseDirection(sort: string | undefined): boolean {
  if (sort === undefined || sort === 'name_asc' || sort === 'name_desc') {
    return sort === 'name_desc';
  }
  throw new Refusal(
    'InvalidArgument',
    'With a delimiter, a cursor or a limit the sort must be name_asc or name_desc; got ' +
      `${quote(sort)}. Lists by date use page and pageSize.`,
  );
}

export function isFolder(path: Uint8Array): boolean {
  return path[path.length - 1] === slash;
}

/** Returns the page with the first `files` files and the folders before and between them. */
export function cutPage({ entries, hasMore }: FolderList, files: number): FolderPage {
  const folders: Uint8Array[] = [];
  let end = 0;
  for (let left = files; end < entries.length; end++) {
    const path = entries[end];
    if (path === undefined) break;
    if (isFolder(path)) folders.push(path);
    else if (left === 0) break;
    else left--;
  }
  const last = entries[end - 1];
  const isEnd = end === entries.length && !hasMore;
  return { folders, nextCursor: isEnd || last === undefined ? null : cursorOf(last) };
}

/** Ranks in the index of names, from `start` to before `end`, that still have to be read. */
interface Range {
  start: number;
  end: number;
}

interface Walk extends Range {
  readonly stores: Stores;
  readonly selection: Selection;
  readonly hasFolders: boolean;
  readonly entries: Uint8Array[];
  /** Number of further entries, and of bytes of their paths, that fit into the page. */
  missing: number;
  room: number;
}

interface Position {
  /** A file's path, a folder's path with its last slash, or any other name. */
  readonly after: Uint8Array | undefined;
  readonly isDescending: boolean;
  readonly hasFolders: boolean;
}

function rangeAfter(stores: Stores, selection: Selection, position: Position): Range {
  const { scope, prefix, start, total } = selection;
  const { after, isDescending, hasFolders } = position;
  const end = start + total;
  if (after === undefined) {
    return { start, end };
  }
  const slashEnd = hasFolders ? after.indexOf(slash, prefix.length) + 1 : 0;
  const folder = nameKey(scope, after.subarray(0, slashEnd));
  if (isDescending) {
    // In ascending order, a folder precedes its files.
    const isWithin = slashEnd > 0 && slashEnd < after.length;
    const next = isWithin ? afterFolder(folder) : nameKey(scope, after);
    return { start, end: Math.min(end, stores.index.rank(next)) };
  }
  const next =
    slashEnd > 0 ? afterFolder(folder) : nameKey(scope, concatBytes(after, Uint8Array.of(0)));
  return { start: Math.max(start, stores.index.rank(next)), end };
}

/** Returns a key that follows every key in the folder; `key` ends with the folder's slash. */
function afterFolder(key: Uint8Array): Uint8Array {
  const next = key.slice();
  next[next.length - 1] = afterSlash;
  return next;
}

/** Returns the offset after the folder's slash in the key; 0 without a folder. */
function folderEnd({ hasFolders, selection }: Walk, key: Uint8Array): number {
  if (!hasFolders) return 0;
  const { scope, prefix } = selection;
  return key.indexOf(slash, scope.length + nameKeyHeadBytes + prefix.length) + 1;
}

function take(walk: Walk, path: Uint8Array): void {
  walk.entries.push(path);
  walk.missing -= 1;
  walk.room -= path.length;
}

function isOpen({ start, end, missing, room }: Walk): boolean {
  return start < end && missing > 0 && room > 0;
}

function walkUp(walk: Walk): void {
  const { index } = walk.stores;
  const head = walk.selection.scope.length + nameKeyHeadBytes;
  let batch = walk.hasFolders ? 1 : batchMax;
  while (isOpen(walk)) {
    const count = Math.min(batch, walk.missing, walk.end - walk.start);
    const keys = index.readTails(walk.start, count, 0);
    batch = Math.min(2 * batch, batchMax);
    for (let at = 0; at < keys.length && isOpen(walk); at++) {
      const key = keys[at] ?? walk.selection.scope;
      const end = folderEnd(walk, key);
      take(walk, key.subarray(head, end === 0 ? undefined : end));
      if (end > 0) {
        walk.start = index.rank(afterFolder(key.subarray(0, end)));
        batch = 1;
        break;
      }
      walk.start += 1;
    }
  }
}

function walkDown(walk: Walk): void {
  const { index } = walk.stores;
  const head = walk.selection.scope.length + nameKeyHeadBytes;
  let batch = walk.hasFolders ? 1 : batchMax;
  while (isOpen(walk)) {
    const count = Math.min(batch, walk.missing, walk.end - walk.start);
    const keys = index.readTails(walk.end - count, count, 0);
    batch = Math.min(2 * batch, batchMax);
    for (let at = keys.length - 1; at >= 0 && isOpen(walk); at--) {
      const key = keys[at] ?? walk.selection.scope;
      const end = folderEnd(walk, key);
      take(walk, key.subarray(head, end === 0 ? undefined : end));
      if (end > 0) {
        walk.end = index.rank(key.subarray(0, end));
        batch = 1;
        break;
      }
      walk.end -= 1;
    }
  }
}
