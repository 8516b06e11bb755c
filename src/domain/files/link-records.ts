// Links: whoever has the address of a link can read its file, also in a private bucket, until the
// link expires. link-layout.ts has the records. In the directory:
//
//   10 | bucket id | 0 | path | 0 | id     -> its expiry, ns; 0 for never
//   11 | maker | bucket id | 0 | id         -> 0
//   12 | expiry u64, big-endian | id        -> 0
//   13 | maker | bucket id that it has lost -> 0, until its links there are deleted
//
// The maker is the SHA-256 of the API key or, without one, of the principal that created the link.

import { sha256 } from '../../crypto/hash.ts';
import { concatBytes } from '../../lib/bytes.ts';
import { decodeUtf8, encodeUtf8 } from '../../lib/text.ts';
import { endedLinksPerMessage, fileLinkCountMax, othersFileLinkCountMax } from '../../limits.ts';
import { u64Key } from '../../storage/codec.ts';
import { dueNames, entriesUnder } from '../../storage/index-ranges.ts';
import { type Bucket, findBucket, getBucket, saveBucket } from '../buckets/buckets.ts';
import { chunkDigests } from '../contents/digest-tables.ts';
import { findKeyByHash } from '../rights/api-keys.ts';
import { isWithin } from '../rights/rights.ts';
import { Refusal } from '../shared/refusal.ts';
import type { Stores } from '../shared/stores.ts';
import type { FileRecord } from './file-fields.ts';
import { isUsedUp } from './link-downloads.ts';
import { deleteStoredLink, findLink, type Link, storeLink } from './link-layout.ts';

const kinds = { ofPath: 10, ofMaker: 11, expiry: 12, endedMaker: 13 } as const;
/** Maximum number of stored links of a file, including expired ones. */
const storedLinkCountMax = 2 * fileLinkCountMax;

/** Returns the key prefix of all paths that begin with `path`; of one path if it ends in a NUL. */
function scopeOf(bucketId: string, path: string): Uint8Array {
  return concatBytes(Uint8Array.of(kinds.ofPath), encodeUtf8(`${bucketId}\0${path}`));
}

function pathKey({ bucketId, path, id }: Link): Uint8Array {
  return scopeOf(bucketId, `${path}\0${id}`);
}

type Made = Pick<Link, 'maker' | 'keyHash' | 'bucketId'>;

/** Returns the maker, 32 bytes: the hash of the API key or, without a key, of the principal. */
export function linkMaker({ maker, keyHash }: Pick<Link, 'maker' | 'keyHash'>): Uint8Array {
  return keyHash.length > 0 ? keyHash : sha256(maker);
}

/** Returns the key prefix of all links of a maker in a bucket. */
function makerScope(maker: Uint8Array, bucketId: string): Uint8Array {
  return concatBytes(Uint8Array.of(kinds.ofMaker), maker, encodeUtf8(`${bucketId}\0`));
}

function makerKey(link: Link): Uint8Array {
  return concatBytes(makerScope(linkMaker(link), link.bucketId), encodeUtf8(link.id));
}

function endedKey(maker: Uint8Array, bucketId: string): Uint8Array {
  return concatBytes(Uint8Array.of(kinds.endedMaker), maker, encodeUtf8(bucketId));
}

/** Whether the maker has lost the right to the bucket and upkeep is still deleting its links. */
export function hasMakerEnded({ directory }: Stores, made: Made): boolean {
  return directory.find(endedKey(linkMaker(made), made.bucketId)) !== undefined;
}

function expiryKey({ expiresAtNs, id }: Link): Uint8Array {
  return concatBytes(Uint8Array.of(kinds.expiry), u64Key(expiresAtNs), encodeUtf8(id));
}

function noteLink(stores: Stores, link: Link): void {
  storeLink(stores, link);
  stores.directory.insert(pathKey(link), link.expiresAtNs);
}

/** Certifies the file at the link, unless updates count its downloads. */
function publishLink(stores: Stores, link: Link, file: FileRecord, digests: Uint8Array): void {
  if (link.limit === undefined) stores.publication.putLink(link, file, digests);
  else if (!isUsedUp(link)) stores.publication.putLinkUpdate(link.id);
}

/** Stores a new link to the file; from now on, anybody with its address can read the file. */
export function addLink(stores: Stores, link: Link, file: FileRecord): void {
  // Refuses a damaged file before it writes
  const digests = chunkDigests(stores, file);
  noteLink(stores, link);
  stores.directory.insert(makerKey(link), 0n);
  if (link.expiresAtNs > 0n) stores.directory.insert(expiryKey(link), 0n);
  publishLink(stores, link, file, digests);
}

/** Removes the link; its bucket still counts it. */
function forgetLink(stores: Stores, link: Link): void {
  deleteStoredLink(stores, link);
  stores.directory.remove(pathKey(link));
  stores.directory.remove(makerKey(link));
  if (link.expiresAtNs > 0n) stores.directory.remove(expiryKey(link));
  stores.publication.removeLink(link.id);
}

export function removeLink(stores: Stores, link: Link): void {
  forgetLink(stores, link);
  const bucket = findBucket(stores, link.bucketId);
  if (bucket !== undefined) saveBucket(stores, withoutLinks(bucket, [link]), bucket);
  stores.journal.note(link.bucketId, { kind: 'link.removed', subject: `${link.path}\0${link.id}` });
}

function withoutLinks(bucket: Bucket, links: readonly Link[]): Bucket {
  const bytes = links.reduce((sum, link) => sum + linkBytesOf(link), 0);
  const overheadBytes = Math.max(0, bucket.overheadBytes - bytes);
  return { ...bucket, linkCount: bucket.linkCount - links.length, overheadBytes };
}

/** Estimates of a link's record, index entries and labels, not measured one by one. */
const linkRecordBytes = 900;
const bytesPerLinkText = 6;
const bytesPerPart = 90;

/** Returns the bytes that the link takes of its bucket's quota. */
export function linkBytesOf(link: LinkSize): number {
  const { bucketId, path, name, downloadName, title = '', partCount } = link;
  const texts = [bucketId, path, name, downloadName, title].map((text) => encodeUtf8(text).length);
  const textBytes = texts.reduce((sum, length) => sum + length, 0) * bytesPerLinkText;
  return linkRecordBytes + textBytes + partCount * bytesPerPart;
}

type LinkSize = Pick<Link, 'bucketId' | 'path' | 'name' | 'downloadName' | 'title' | 'partCount'>;

export function partCountOf({ chunkCount }: Pick<FileRecord, 'chunkCount'>): number {
  return Math.max(1, chunkCount);
}

/**
 * Returns ids of links to the file, or to all files whose paths begin with a prefix, by path, after
 * the given path and id.
 */
export function linkIds(
  stores: Stores,
  range: {
    readonly bucketId: string;
    readonly path?: string | undefined;
    readonly prefix?: string | undefined;
    readonly after?: string | undefined;
  },
  limit: number,
): { readonly path: string; readonly id: string }[] {
  const { bucketId, path, prefix = '', after } = range;
  const { directory } = stores;
  const scope = scopeOf(bucketId, path === undefined ? prefix : `${path}\0`);
  const first =
    after === undefined ? scope : concatBytes(scopeOf(bucketId, after), Uint8Array.of(0));
  return entriesUnder(directory, { scope, first, limit }).map(({ key }) => {
    const [, ofPath = '', id = ''] = (decodeUtf8(key.subarray(1)) ?? '').split('\0');
    return { path: ofPath, id };
  });
}

/** Counts the links of the file, including expired ones. */
export function countLinks({ directory }: Stores, bucket: Bucket, path: string): number {
  if (bucket.linkCount === 0) return 0;
  const [start, end] = ['\0', '\x01'].map((next) =>
    directory.rank(scopeOf(bucket.id, path + next)),
  );
  return (end ?? 0) - (start ?? 0);
}

/** Returns all links of a file; checkLinkRoom() and checkLinkMove() limit their number. */
function linksOf(stores: Stores, bucket: Bucket, path: string): Link[] {
  if (bucket.linkCount === 0) return [];
  const ids = linkIds(stores, { bucketId: bucket.id, path }, storedLinkCountMax);
  return ids.flatMap(({ id }) => findLink(stores, id) ?? []);
}

export function isOver({ expiresAtNs }: Link, nowNs: bigint): boolean {
  return expiresAtNs > 0n && expiresAtNs <= nowNs;
}

/** Refuses another link if the file has its maximum, which is higher for owners. */
export function checkLinkRoom(
  stores: Stores,
  {
    bucket,
    path,
    isOwners,
  }: { readonly bucket: Bucket; readonly path: string; readonly isOwners: boolean },
  nowNs: bigint,
): void {
  const links = linksOf(stores, bucket, path);
  const others = links.filter(isOthers);
  const mayOthers = isOwners || areFewer(others, nowNs, othersFileLinkCountMax);
  if (mayOthers && areFewer(links, nowNs, fileLinkCountMax)) return;
  const limit = mayOthers ? fileLinkCountMax : othersFileLinkCountMax;
  const whose = mayOthers ? 'live links' : 'live links of keys and of members who are not owners';
  throw new Refusal('QuotaExceeded', `A file has at most ${limit} ${whose}: remove one first.`, {
    limit,
  });
}

/** Whether an API key or a member who is not an owner created the link. */
function isOthers({ keyHash, isMembers }: Link): boolean {
  return keyHash.length > 0 || isMembers;
}

/** Whether another live link is within the limit, and a stored one within twice the limit. */
function areFewer(links: readonly Link[], nowNs: bigint, limit: number): boolean {
  const live = links.filter((link) => !isOver(link, nowNs) && !isUsedUp(link)).length;
  return live < limit && links.length < 2 * limit;
}

/** Refuses a move onto another file if both files together have more links than one may have. */
export function checkLinkMove(
  stores: Stores,
  bucket: Bucket,
  move: { readonly from: string; readonly to: string },
  nowNs: bigint,
): void {
  const coming = linksOf(stores, bucket, move.from).filter((one) => goesTo(stores, one, move.to));
  if (coming.length === 0) return;
  if (areWithin([...coming, ...linksOf(stores, bucket, move.to)], nowNs)) return;
  throw new Refusal(
    'QuotaExceeded',
    `A file has at most ${fileLinkCountMax} live links, and the two files together have more: remove some first.`,
    { limit: fileLinkCountMax },
  );
}

/** Expired links stay stored until upkeep deletes them. */
function areWithin(links: readonly Link[], nowNs: bigint): boolean {
  const live = links.filter((link) => !isOver(link, nowNs) && !isUsedUp(link));
  return live.length <= fileLinkCountMax && links.length <= storedLinkCountMax;
}

/** Whether the link follows its file: it does not if the key that created it may not read there. */
function goesTo(stores: Stores, { keyHash }: Link, path: string): boolean {
  const key = keyHash.length === 0 ? undefined : findKeyByHash(stores, keyHash);
  return isWithin({ key }, { path });
}

/**
 * Publishes the links of a changed file; returns their additional bytes. Expired links lose their
 * leaves, which would be those of the former file; their records stay until upkeep removes them.
 */
export function publishLinks(
  stores: Stores,
  bucket: Bucket,
  file: FileRecord,
  digests: Uint8Array,
): number {
  const partCount = partCountOf(file);
  let added = 0;
  for (const link of linksOf(stores, bucket, file.path)) {
    if (isOver(link, file.updatedAtNs)) {
      stores.publication.removeLink(link.id);
      continue;
    }
    publishLink(stores, link, file, digests);
    if (link.partCount === partCount) continue;
    const sized = { ...link, partCount };
    storeLink(stores, sized);
    added += linkBytesOf(sized) - linkBytesOf(link);
  }
  return added;
}

/** Moves a file's links within its bucket, except for links of keys that may not read there. */
export function moveLinks(stores: Stores, bucket: Bucket, from: string, file: FileRecord): void {
  const all = linksOf(stores, bucket, from);
  const links = all.filter((link) => goesTo(stores, link, file.path));
  for (const link of all) if (!links.includes(link)) removeLink(stores, link);
  if (links.length === 0) return;
  const digests = chunkDigests(stores, file);
  let added = 0;
  for (const link of links) {
    stores.directory.remove(pathKey(link));
    const moved = { ...link, path: file.path };
    noteLink(stores, moved);
    added += linkBytesOf(moved) - linkBytesOf(link);
    if (isOver(link, file.updatedAtNs)) stores.publication.removeLink(link.id);
    else publishLink(stores, link, file, digests);
  }
  const counted = getBucket(stores, bucket.id);
  saveBucket(stores, { ...counted, overheadBytes: counted.overheadBytes + added }, counted);
}

/** Removes the links of a deleted file; returns the changed bucket. */
export function dropLinks(stores: Stores, bucket: Bucket, path: string): Bucket {
  const links = linksOf(stores, bucket, path);
  for (const link of links) forgetLink(stores, link);
  return links.length === 0 ? bucket : withoutLinks(bucket, links);
}

/** Ends all links of the maker in the bucket at once; upkeep deletes them later. */
export function endLinksOf({ directory }: Stores, maker: Uint8Array, bucketId: string): void {
  const made = entriesUnder(directory, { scope: makerScope(maker, bucketId), limit: 1 });
  if (made.length > 0) directory.insert(endedKey(maker, bucketId), 0n);
}

/** Whether any link exists, or the links of a maker are being deleted. */
export function hasLinks({ directory }: Stores): boolean {
  const [entry] = directory.read(directory.rank(Uint8Array.of(kinds.ofMaker)), 1);
  return (entry?.key[0] ?? Infinity) <= kinds.endedMaker;
}

/** Returns a link of the next maker and bucket in turn; after the last, begins with the first. */
export function linkOfNextMaker(stores: Stores): Link | undefined {
  const { directory, heap } = stores;
  const first = heap.nextMaker ?? Uint8Array.of(kinds.ofMaker);
  const [entry] = directory.read(directory.rank(first), 1);
  heap.nextMaker = undefined;
  if (entry?.key[0] !== kinds.ofMaker) return undefined;
  const idAt = entry.key.lastIndexOf(0) + 1;
  heap.nextMaker = concatBytes(entry.key.subarray(0, idAt), Uint8Array.of(0xff));
  return findLink(stores, decodeUtf8(entry.key.subarray(idAt)) ?? '');
}

/** Runs one bounded step of deleting ended links; true while more may be left. */
export function endLinks(stores: Stores, nowNs: bigint): boolean {
  const ofMaker = idsOfEndedMaker(stores);
  const due = [...dueIds(stores, nowNs), ...(ofMaker ?? [])];
  for (const id of due.slice(0, endedLinksPerMessage)) {
    const link = findLink(stores, id);
    if (link !== undefined) removeLink(stores, link);
  }
  // Another maker may follow, and upkeep would look at it only after ten minutes.
  return ofMaker !== undefined || due.length >= endedLinksPerMessage;
}

function dueIds({ directory }: Stores, nowNs: bigint): string[] {
  const due = dueNames(directory, { kind: kinds.expiry, nowNs }, endedLinksPerMessage);
  return due.map((id) => decodeUtf8(id) ?? '');
}

/**
 * Returns ids of links of a maker that lost a bucket, or `undefined` if no maker did. Forgets its
 * loss after the last link.
 */
function idsOfEndedMaker({ directory }: Stores): string[] | undefined {
  const [ended] = directory.read(directory.rank(Uint8Array.of(kinds.endedMaker)), 1);
  if (ended?.key[0] !== kinds.endedMaker) return undefined;
  const scope = concatBytes(Uint8Array.of(kinds.ofMaker), ended.key.subarray(1), Uint8Array.of(0));
  const entries = entriesUnder(directory, { scope, limit: endedLinksPerMessage });
  if (entries.length === 0) directory.remove(ended.key);
  return entries.map(({ key }) => decodeUtf8(key.subarray(scope.length)) ?? '');
}
