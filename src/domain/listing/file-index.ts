// The ordered index of files by name and by date, for each bucket and each tag. This module defines
// the keys; listing.ts reads pages with them.
//
//   scope      bucket id | 0 | tag, empty for all files | 0
//   by name    scope | 0 | path                                       -> sequence number
//   by date    scope | 1 + level u8 | block u32, big-endian | path    -> sequence number
//   counters   bucket id | 1 -> sequence number of the latest date    bucket id | 2 -> that date
//
// Each date at which a bucket's files changed has a sequence number; files of one date share it and
// are ordered by path. A block of level n contains the files of 16^n such numbers. A file is in its
// block of every level, except for block 0 of the levels above the lowest, whose files the levels
// below already have. So a higher level begins when the numbers reach it, and no earlier file has
// to move.

import { assert, present } from '../../lib/assert.ts';
import { concatBytes } from '../../lib/bytes.ts';
import { decodeUtf8, encodeUtf8 } from '../../lib/text.ts';
import type { OrderedIndex } from '../../storage/ordered-index.ts';
import type { Stores } from '../shared/stores.ts';

export interface IndexedFile {
  readonly bucketId: string;
  readonly path: string;
  readonly tags: readonly string[];
  readonly updatedAtNs: bigint;
}

/** Number of blocks of a level that form one block of the level above. */
export const blockFanOut = 16;
const blockBytes = 4;
const sequenceMax = 2 ** 32 - 1;

const nameOrder = Uint8Array.of(0);
const sequenceCounter = '\x01';
const dateCounter = '\x02';

/** Offset of the path in a key, after the scope. */
export const nameKeyHeadBytes = 1;
export const dateKeyHeadBytes = 1 + blockBytes;

/** Returns the scope of all files of the bucket, or of those with the tag. */
export function scopeOf(bucketId: string, tag: string): Uint8Array {
  return encodeUtf8(`${bucketId}\0${tag}\0`);
}

export function nameKey(scope: Uint8Array, path: Uint8Array): Uint8Array {
  return concatBytes(scope, nameOrder, path);
}

/** Returns a key whose level and block setBlock() sets later. */
export function dateKey(scope: Uint8Array, path: Uint8Array): Uint8Array {
  return concatBytes(scope, new Uint8Array(dateKeyHeadBytes), path);
}

export interface Block {
  readonly level: number;
  readonly number: number;
}

/** Changes the key in place. */
export function setBlock(key: Uint8Array, scope: Uint8Array, block: Block): void {
  key[scope.length] = 1 + block.level;
  new DataView(key.buffer, key.byteOffset).setUint32(scope.length + 1, block.number);
}

/** Returns the latest sequence number of a bucket; 0 before the first. */
export function latestSequence(index: OrderedIndex, bucketId: string): number {
  return Number(index.find(encodeUtf8(bucketId + sequenceCounter)) ?? 0n);
}

/** Returns the sequence number of that date, which is not before the latest date. */
function sequenceOf(index: OrderedIndex, bucketId: string, dateNs: bigint): number {
  const dateCounterKey = encodeUtf8(bucketId + dateCounter);
  const latest = latestSequence(index, bucketId);
  if (latest > 0 && index.find(dateCounterKey) === dateNs) {
    return latest;
  }
  assert(latest < sequenceMax, 'a bucket has at most 2^32 dates');
  index.insert(encodeUtf8(bucketId + sequenceCounter), BigInt(latest + 1));
  index.insert(dateCounterKey, dateNs);
  return latest + 1;
}

/**
 * Indexes the file's new version in place of its old one. Returns the old one's sequence number, or
 * undefined if the path was free. The file's date is the time of this message unless it has a
 * sequence number from an earlier time.
 */
export function indexFile(
  stores: Stores,
  file: IndexedFile,
  {
    old,
    sequence: known,
  }: { readonly old: IndexedFile | undefined; readonly sequence?: number | undefined },
): number | undefined {
  const { index } = stores;
  const sequence = known ?? sequenceOf(index, file.bucketId, file.updatedAtNs);
  const path = encodeUtf8(file.path);
  let oldSequence: bigint | undefined;
  for (const tag of ['', ...file.tags]) {
    const scope = scopeOf(file.bucketId, tag);
    const former = index.insert(nameKey(scope, path), BigInt(sequence));
    if (tag === '') oldSequence = former;
    if (former === BigInt(sequence)) continue;
    const key = dateKey(scope, path);
    if (former !== undefined) eachBlock({ key, scope }, Number(former), index.remove);
    eachBlock({ key, scope }, sequence, (blockKey) => index.insert(blockKey, BigInt(sequence)));
  }
  const goneTags = old?.tags.filter((tag) => !file.tags.includes(tag)) ?? [];
  removeScopes(stores, { ...file, path }, goneTags);
  return oldSequence === undefined ? undefined : Number(oldSequence);
}

/** Returns the file's sequence number, or undefined if it had none. */
export function unindexFile(stores: Stores, file: IndexedFile): number | undefined {
  const path = encodeUtf8(file.path);
  const sequence = stores.index.find(nameKey(scopeOf(file.bucketId, ''), path));
  removeScopes(stores, { ...file, path }, ['', ...file.tags]);
  return sequence === undefined ? undefined : Number(sequence);
}

/** Removes the entries of a deleted bucket, which has no files. */
export function unindexBucket(stores: Stores, bucketId: string): void {
  stores.index.remove(encodeUtf8(bucketId + sequenceCounter));
  stores.index.remove(encodeUtf8(bucketId + dateCounter));
}

function readPaths(
  index: OrderedIndex,
  { start, count, scope }: { start: number; count: number; scope: Uint8Array },
): string[] {
  const head = scope.length + nameKeyHeadBytes;
  const entries = count === 0 ? [] : index.read(start, count);
  return entries.map(({ key }) => present(decodeUtf8(key.subarray(head)), 'path of a file'));
}

/** Returns paths of the bucket's files in order, after the given one; '' comes before all. */
export function pathsAfter(
  stores: Stores,
  place: { readonly bucketId: string; readonly path: string },
  limit: number,
): string[] {
  const { index } = stores;
  const scope = scopeOf(place.bucketId, '');
  const first = nameKey(scope, encodeUtf8(`${place.path}\0`));
  const start = index.rank(first);
  const end = index.rank(nameKey(scope, Uint8Array.of(0xff)));
  return readPaths(index, { start, count: Math.min(limit, end - start), scope });
}

function removeScopes(
  stores: Stores,
  file: { readonly bucketId: string; readonly path: Uint8Array },
  tags: readonly string[],
): void {
  const { index } = stores;
  for (const tag of tags) {
    const scope = scopeOf(file.bucketId, tag);
    const former = index.remove(nameKey(scope, file.path));
    // A damaged record may contain tags that the file never had.
    if (former === undefined) continue;
    eachBlock({ key: dateKey(scope, file.path), scope }, Number(former), index.remove);
  }
}

/** Calls `visit` with the key of each of the file's blocks. It reuses one array. */
function eachBlock(
  { key, scope }: { readonly key: Uint8Array; readonly scope: Uint8Array },
  sequence: number,
  visit: (key: Uint8Array) => unknown,
): void {
  let number = sequence;
  for (let level = 0; level === 0 || number > 0; level++) {
    setBlock(key, scope, { level, number });
    visit(key);
    number = Math.floor(number / blockFanOut);
  }
}
