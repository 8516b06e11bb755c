// Reads the page of a list by cursors: the records of its files, and its folders. The page ends
// early if one answer cannot carry more records.

import { encodeUtf8 } from '../../lib/text.ts';
import { listedRecordBytesMax } from '../../limits.ts';
import { cutPage, type FolderList, type FolderPage, isFolder } from '../listing/folder-listing.ts';
import type { Stores } from '../shared/stores.ts';
import { type FileParts, fileParts } from './file-parts.ts';
import { eachRecord } from './file-records.ts';
import { listJson } from './json-list.ts';

export interface FilePage<Items> extends FolderPage {
  readonly items: Items;
}

/** Returns the files as UTF-8 of their JSON records, with commas between. */
export function readJsonPage(stores: Stores, list: FolderList): FilePage<readonly Uint8Array[]> {
  const named = { bucketId: list.bucketId, paths: filesOf(list), limit: listedRecordBytesMax };
  const { json, visited } = listJson(stores, named);
  return { items: json, ...cutPage(list, visited) };
}

/** Returns the files as fields of their records. */
export function readPartsPage(stores: Stores, list: FolderList): FilePage<readonly FileParts[]> {
  const bucketId = encodeUtf8(list.bucketId);
  const items: FileParts[] = [];
  let room = listedRecordBytesMax;
  const named = { bucketId: list.bucketId, paths: filesOf(list) };
  const visited = eachRecord(stores, named, (bytes, end, path) => {
    items.push(fileParts(bytes, { bucketId, path }));
    room -= end;
    return room > 0;
  });
  return { items, ...cutPage(list, visited) };
}

function filesOf({ entries }: FolderList): Uint8Array[] {
  return entries.filter((path) => !isFolder(path));
}
