// Reads the page of a list by cursors: the records of its files, and its folders. The page ends
// early if one answer cannot carry more records.

import { encodeUtf8 } from '../../lib/text.ts';
import { listedRecordBytesMax } from '../../limits.ts';
import { cutPage, type FolderList, type FolderPage, isFolder } from '../listing/folder-listing.ts';
import type { Stores } from '../shared/stores.ts';
import { jsonStart } from './file-layout.ts';
import { type FileParts, fileParts } from './file-parts.ts';
import { eachRecord } from './file-records.ts';

export interface FilePage<Item> extends FolderPage {
  readonly items: readonly Item[];
}

/** Returns the files as UTF-8 of their JSON records. */
export function readJsonPage(stores: Stores, list: FolderList): FilePage<Uint8Array> {
  return readPage(stores, list, (bytes, end) => bytes.subarray(jsonStart(bytes), end));
}

/** Returns the files as fields of their records. */
export function readPartsPage(stores: Stores, list: FolderList): FilePage<FileParts> {
  const bucketId = encodeUtf8(list.bucketId);
  return readPage(stores, list, (bytes, _, path) => fileParts(bytes, { bucketId, path }));
}

function readPage<Item>(
  stores: Stores,
  list: FolderList,
  show: (bytes: Uint8Array, jsonEnd: number, path: Uint8Array) => Item,
): FilePage<Item> {
  const paths = list.entries.filter((path) => !isFolder(path));
  const items: Item[] = [];
  let room = listedRecordBytesMax;
  const gone = eachRecord(stores, { bucketId: list.bucketId, paths }, (bytes, end, path) => {
    items.push(show(bytes, end, path));
    room -= end;
    return room > 0;
  });
  return { items, ...cutPage(list, gone) };
}
