// The directory lists the buckets, the buckets in which a principal has a role, and the keys of a
// bucket, so that listing and counting them never scans all records. It is stored only in an
// ordered index:
//
//   0 | bucket id                                  -> 0
//   1 | principal (length u8, bytes) | bucket id   -> 0
//   2 | bucket id | 0 | SHA-256 of a key           -> its expiry, ns; 0 for never
//   3 | SHA-256 of a key                           -> 0
//   4, 5, 15                                       see open-uploads.ts, kept-contents.ts
//   6 to 14, 16 to 21                              see ARCHITECTURE.md
//
// An API key is listed until it is revoked, or has expired and is cleared.

import { concatBytes, emptyBytes } from '../../lib/bytes.ts';
import { decodeHex, encodeHex } from '../../lib/hex.ts';
import { decodeUtf8, encodeUtf8 } from '../../lib/text.ts';
import { liveKeyCountMax } from '../../limits.ts';
import { entriesUnder } from '../../storage/index-ranges.ts';
import type { OrderedIndex } from '../../storage/ordered-index.ts';
import type { IdRange } from '../shared/heap-state.ts';

const kinds = { bucket: 0, role: 1, bucketKey: 2, key: 3 } as const;
const hashBytes = 32;
const keyIdBytes = 8;

interface Range {
  readonly start: number;
  readonly end: number;
}

/** Returns the ranks of the keys that begin with the prefix, followed by a byte below `limit`. */
function rangeOf(directory: OrderedIndex, prefix: Uint8Array, limit: number): Range {
  const end = concatBytes(prefix, Uint8Array.of(limit));
  return { start: directory.rank(prefix), end: directory.rank(end) };
}

function bucketScope(principal: Uint8Array | undefined): Uint8Array {
  return principal === undefined
    ? Uint8Array.of(kinds.bucket)
    : concatBytes(Uint8Array.of(kinds.role, principal.length), principal);
}

/** Records that the bucket exists or, with a principal, that this principal has a role in it. */
export function noteBucket(directory: OrderedIndex, id: string, principal?: Uint8Array): void {
  directory.insert(concatBytes(bucketScope(principal), encodeUtf8(id)), 0n);
}

export function forgetBucket(directory: OrderedIndex, id: string, principal?: Uint8Array): void {
  directory.remove(concatBytes(bucketScope(principal), encodeUtf8(id)));
}

/** Returns the ids of the buckets in the range, in order. */
export function bucketIdsIn(directory: OrderedIndex, range: IdRange, limit: number): string[] {
  return idsIn(directory, kinds.bucket, range, limit);
}

/** Returns the ids in the range among keys that consist of a kind (u8) and a bucket's id. */
export function idsIn(
  directory: OrderedIndex,
  kind: number,
  { after, through }: IdRange,
  limit: number,
): string[] {
  const scope = Uint8Array.of(kind);
  // No id contains byte 0, so this key follows directly after the id.
  const first = concatBytes(scope, encodeUtf8(after), Uint8Array.of(0));
  const entries = entriesUnder(directory, { scope, first, limit });
  const ids = entries.map(({ key }) => decodeUtf8(key.subarray(1)) ?? '');
  return through === undefined ? ids : ids.filter((id) => id <= through);
}

/** Returns the id of the bucket before that one; '' precedes all. */
export function bucketIdBefore(directory: OrderedIndex, id: string): string {
  const rank = directory.rank(concatBytes(Uint8Array.of(kinds.bucket), encodeUtf8(id))) - 1;
  const [entry] = rank < 0 ? [] : directory.read(rank, 1);
  const isBucket = entry?.key[0] === kinds.bucket;
  return isBucket ? (decodeUtf8(entry.key.subarray(1)) ?? '') : '';
}

/** Counts all buckets, or those in which the principal has a role. */
export function countBuckets(directory: OrderedIndex, principal?: Uint8Array): number {
  const { start, end } = rangeOf(directory, bucketScope(principal), 0xff);
  return end - start;
}

/** Returns the sorted ids of the buckets that countBuckets() counts. */
export function bucketIds(
  directory: OrderedIndex,
  principal: Uint8Array | undefined,
  page: { readonly skip: number; readonly limit: number },
): string[] {
  const scope = bucketScope(principal);
  const { start, end } = rangeOf(directory, scope, 0xff);
  const limit = Math.max(0, Math.min(page.limit, end - start - page.skip));
  const entries = limit === 0 ? [] : directory.read(start + page.skip, limit);
  return entries.map(({ key }) => decodeUtf8(key.subarray(scope.length)) ?? '');
}

/** Returns the sorted ids of the buckets that follow the id; '' comes before all ids. */
export function bucketIdsAfter(directory: OrderedIndex, id: string, limit: number): string[] {
  const scope = bucketScope(undefined);
  // No id contains byte 0, so this key follows directly after the id.
  const rank = directory.rank(concatBytes(scope, encodeUtf8(id), Uint8Array.of(0)));
  const entries = directory.read(rank, limit).filter(({ key }) => key[0] === kinds.bucket);
  return entries.map(({ key }) => decodeUtf8(key.subarray(scope.length)) ?? '');
}

function keyScope(bucketId: string): Uint8Array {
  return concatBytes(Uint8Array.of(kinds.bucketKey), encodeUtf8(`${bucketId}\0`));
}

export interface NotedKey {
  readonly hash: Uint8Array;
  /** 0n: never. */
  readonly expiresAtNs: bigint;
}

export function noteKey(
  directory: OrderedIndex,
  key: NotedKey & { readonly buckets: readonly string[] },
): void {
  directory.insert(concatBytes(Uint8Array.of(kinds.key), key.hash), 0n);
  for (const bucketId of key.buckets) {
    directory.insert(concatBytes(keyScope(bucketId), key.hash), key.expiresAtNs);
  }
}

/** Removes the key from these buckets only; its id stays known. */
export function forgetKey(
  directory: OrderedIndex,
  key: { readonly hash: Uint8Array; readonly buckets: readonly string[] },
): void {
  for (const bucketId of key.buckets) {
    directory.remove(concatBytes(keyScope(bucketId), key.hash));
  }
}

/** Returns the bucket's keys that are not revoked, including expired ones. */
export function bucketKeys(directory: OrderedIndex, bucketId: string): NotedKey[] {
  const scope = keyScope(bucketId);
  const start = directory.rank(scope);
  // The scope ends in 0; the same bytes ending in 1 follow directly after it.
  const next = scope.slice();
  next[scope.length - 1] = 1;
  const count = Math.min(directory.rank(next) - start, liveKeyCountMax);
  const entries = count === 0 ? [] : directory.read(start, count);
  return entries.map(({ key, value }) => ({
    hash: key.slice(scope.length),
    expiresAtNs: value,
  }));
}

/** Returns the hash of the key with that id, which is the hash's first 8 bytes in hexadecimal. */
export function hashOfKeyId(directory: OrderedIndex, id: string): Uint8Array | undefined {
  const bytes = (id.length === 2 * keyIdBytes ? decodeHex(id) : undefined) ?? emptyBytes;
  if (bytes.length !== keyIdBytes) {
    return undefined;
  }
  const prefix = concatBytes(Uint8Array.of(kinds.key), bytes);
  const found = directory.read(directory.rank(prefix), 1)[0]?.key;
  const isIt =
    found?.length === 1 + hashBytes &&
    encodeHex(found.subarray(0, prefix.length)) === encodeHex(prefix);
  return isIt ? found.slice(1) : undefined;
}
