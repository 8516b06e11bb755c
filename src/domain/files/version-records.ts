// Former versions of files: in a bucket that stores versions, a replaced or deleted file keeps its
// content and key until the version expires. In the map of files, after a NUL, which no bucket id
// has:
//
//   0 | bucket id | 0 | path | 0 | version, decimal
//     -> 0: version 1 | retired at u64 | sequence number u64 | file record
//
// The record is unchanged, and its seal includes its former map key. The sequence number is that of
// its date in the index of files. In the directory:
//
//   8 | bucket id | 0 | path | 0 | version u32, big-endian             -> its expiry, ns
//   9 | expiry u64 | bucket id | 0 | path | 0 | version u32, big-endian -> 0

import { present } from '../../lib/assert.ts';
import { concatBytes } from '../../lib/bytes.ts';
import { decodeUtf8, encodeUtf8 } from '../../lib/text.ts';
import { expiredVersionsPerMessage } from '../../limits.ts';
import { RecordReader, RecordWriter, u64Key } from '../../storage/codec.ts';
import { dueNames, entriesUnder, firstDueNs } from '../../storage/index-ranges.ts';
import { type Bucket, findBucket, saveBucket } from '../buckets/buckets.ts';
import { overheadBytesOf } from '../buckets/quota.ts';
import { damagedFile } from '../contents/chunk-records.ts';
import { keepContent } from '../contents/kept-contents.ts';
import { releaseContent } from '../contents/shared-contents.ts';
import { unlessRefused } from '../shared/refusal.ts';
import type { Stores } from '../shared/stores.ts';
import type { FileRecord } from './file-fields.ts';
import { decodeFile } from './file-layout.ts';
import { isHeld, type Release, requireNotHeld, requireReleased } from './retention.ts';
import { streamedUntilNs } from './streams.ts';

const recordVersion = 1;
const recordHeadBytes = 17;
const kinds = { ofPath: 8, due: 9 } as const;
const nsPerDay = 86_400_000_000_000n;
const numberBytes = 4;

/** The name of a former version. */
export interface VersionName {
  readonly bucketId: string;
  readonly path: string;
  readonly version: number;
}

export interface FormerVersion {
  readonly file: FileRecord;
  /** The file's record as it was sealed. */
  readonly record: Uint8Array;
  /** Its number in the index of dates. */
  readonly sequence: number;
  readonly retiredAtNs: bigint;
  readonly expiresAtNs: bigint;
}

function mapKeyOf({ bucketId, path, version }: VersionName): Uint8Array {
  return encodeUtf8(`\0${bucketId}\0${path}\0${version}`);
}

/** Returns the name in the form in which both keys of the directory contain it. */
function nameBytes({ bucketId, path, version }: VersionName): Uint8Array {
  const number = new Uint8Array(numberBytes);
  new DataView(number.buffer).setUint32(0, version);
  return concatBytes(encodeUtf8(`${bucketId}\0${path}\0`), number);
}

function readName(bytes: Uint8Array): VersionName {
  const at = bytes.length - numberBytes;
  const version = new DataView(bytes.buffer, bytes.byteOffset).getUint32(at);
  const [bucketId = '', path = ''] = (decodeUtf8(bytes.subarray(0, at)) ?? '').split('\0');
  return { bucketId, path, version };
}

function pathKey(name: Uint8Array): Uint8Array {
  return concatBytes(Uint8Array.of(kinds.ofPath), name);
}

function dueKey(atNs: bigint, name: Uint8Array): Uint8Array {
  return concatBytes(Uint8Array.of(kinds.due), u64Key(atNs), name);
}

/** A file that was replaced or deleted. */
export interface Retired {
  /** The bucket without the file. */
  readonly bucket: Bucket;
  readonly file: FileRecord;
  readonly record: Uint8Array | undefined;
  /** Its number in the index of dates; undefined if that entry was damaged. */
  readonly sequence: number | undefined;
  readonly nowNs: bigint;
}

/** Whether the bucket stores the file as a former version; false for an unreadable file. */
function isKept(bucket: Bucket, file: FileRecord): boolean {
  return bucket.keepVersionsDays > 0 && file.contentId !== 0;
}

/**
 * Refuses with FileHeld to replace or delete a held file whose bucket stores no former versions.
 * Returns the record for retireFile().
 */
export function requireRetirable(bucket: Bucket, file: FileRecord, release: Release): FileRecord {
  if (file.retention === undefined || isKept(bucket, file)) return file;
  return requireNotHeld(file, { remedy: keepVersions, ...release });
}

const keepVersions =
  'With keepVersionsDays above 0, the bucket stores this version as a former one, and a new one ' +
  'can take its place.';

/** Returns the bytes that the bucket frees when the file is replaced or deleted. */
export function freedBytes(bucket: Bucket, file: FileRecord | undefined): number {
  return file === undefined || isKept(bucket, file) ? 0 : usedBytes(file);
}

/**
 * Returns the bytes of the file with its overhead, also if the bucket has not counted that yet: its
 * conversion counts it, whatever the quota is.
 */
export function usedBytes(file: FileRecord): number {
  return file.size + overheadBytesOf(file);
}

/** Returns the overhead that the bucket has counted: 0 for a record of an earlier version. */
export function countedOverhead(file: FileRecord | undefined): number {
  return file === undefined || file.leavesVersion === 1 ? 0 : overheadBytesOf(file);
}

/**
 * Retires a replaced or deleted file: stores it as a former version, keeps only its content for a
 * running stream, or erases it. Returns the bucket with these counts.
 */
export function retireFile(stores: Stores, retired: Retired): Bucket {
  const { bucket, file, record, sequence = 0, nowNs } = retired;
  if (record !== undefined && isKept(bucket, file)) {
    const expiresAtNs = nowNs + BigInt(bucket.keepVersionsDays) * nsPerDay;
    const head = new RecordWriter(recordVersion).u64(nowNs).u64(BigInt(sequence)).finish([]);
    stores.records.set(mapKeyOf(file), concatBytes(head, record));
    const name = nameBytes(file);
    stores.directory.insert(pathKey(name), expiresAtNs);
    stores.directory.insert(dueKey(expiresAtNs, name), 0n);
    return withVersionCounted(bucket, file, 1);
  }
  requireReleased(file);
  const untilNs = streamedUntilNs(stores, file.contentId, nowNs);
  if (untilNs === undefined || !keepContent(stores, file, untilNs)) releaseContent(stores, file);
  return bucket;
}

/** Counts or uncounts the version in the bucket; the bytes of a damaged one are unknown. */
function withVersionCounted(bucket: Bucket, file: FileRecord | undefined, change: 1 | -1): Bucket {
  const bytes = bucket.versionBytes + change * ((file?.size ?? 0) + countedOverhead(file));
  return {
    ...bucket,
    versionCount: bucket.versionCount + change,
    versionBytes: Math.max(0, bytes),
  };
}

/** Returns the highest number of a former version at the path; 0 without one. */
export function latestVersion(stores: Stores, bucket: Bucket, path: string): number {
  if (bucket.versionCount === 0) return 0;
  const name = { bucketId: bucket.id, path, version: 0xffff_ffff };
  const { directory } = stores;
  const rank = directory.rank(pathKey(nameBytes(name)));
  const [entry] = rank === 0 ? [] : directory.read(rank - 1, 1);
  if (entry?.key[0] !== kinds.ofPath) return 0;
  const found = readName(entry.key.subarray(1));
  return found.bucketId === bucket.id && found.path === path ? found.version : 0;
}

/** Refuses a damaged record with IntegrityError. */
export function findVersion(stores: Stores, name: VersionName): FormerVersion | undefined {
  const stored = stores.records.get(mapKeyOf(name));
  const expiresAtNs = stored && stores.directory.find(pathKey(nameBytes(name)));
  if (stored === undefined || expiresAtNs === undefined) return undefined;
  const head = new RecordReader(stored, recordVersion);
  const [retiredAtNs, sequence] = [head.u64(), Number(head.u64())];
  const record = stored.slice(recordHeadBytes);
  const file = decodeFile(name.bucketId, name.path, record);
  // The seal's associated data omits the version number, so compare the record's own.
  if (file.version !== name.version) throw damagedFile();
  return { file, record, sequence, retiredAtNs, expiresAtNs };
}

export interface VersionRange {
  readonly bucketId: string;
  /** Restricts to this path; absent: all paths that begin with the prefix. */
  readonly path?: string | undefined;
  readonly prefix?: string | undefined;
  /** Begins after this version. */
  readonly after?: VersionName | undefined;
}

/** Returns names of former versions by path, the oldest first. */
export function versionNames(stores: Stores, range: VersionRange, limit: number): VersionName[] {
  const { directory } = stores;
  const { bucketId, path, prefix = '', after } = range;
  const scope = pathKey(encodeUtf8(`${bucketId}\0${path === undefined ? prefix : `${path}\0`}`));
  const first =
    after === undefined ? scope : concatBytes(pathKey(nameBytes(after)), Uint8Array.of(0));
  // UTF-8 never contains byte 0xff, and the bytes of a version number never begin with it
  const entries = entriesUnder(directory, { scope, first, limit });
  return entries.map(({ key }) => readName(key.subarray(1)));
}

interface Taken {
  /** The bucket without the version. */
  readonly bucket: Bucket;
  /** Absent if its record is damaged. */
  readonly file: FileRecord | undefined;
}

/** Removes a former version, but not its content. Returns `undefined` if it does not exist. */
export function takeVersion(stores: Stores, bucket: Bucket, name: VersionName): Taken | undefined {
  const bytes = nameBytes(name);
  const expiresAtNs = stores.directory.remove(pathKey(bytes));
  if (expiresAtNs === undefined) return undefined;
  stores.directory.remove(dueKey(expiresAtNs, bytes));
  const stored = stores.records.delete(mapKeyOf(name));
  const record = stored?.subarray(recordHeadBytes);
  const file = record && unlessRefused(() => decodeFile(name.bucketId, name.path, record));
  return { bucket: withVersionCounted(bucket, file, -1), file };
}

/**
 * Erases a version and its key at once; returns false if it does not exist. Refuses a held one with
 * FileHeld before it writes.
 */
export function eraseVersion(stores: Stores, name: VersionName, release: Release): boolean {
  const bucket = findBucket(stores, name.bucketId);
  const former = unlessRefused(() => findVersion(stores, name));
  if (former !== undefined) requireNotHeld(former.file, release);
  const taken = bucket && takeVersion(stores, bucket, name);
  if (taken === undefined) return false;
  saveBucket(stores, taken.bucket, bucket);
  if (taken.file !== undefined) releaseContent(stores, taken.file);
  return true;
}

export function nextVersionExpiryNs({ directory }: Stores): bigint | undefined {
  return firstDueNs(directory, kinds.due);
}

/** Runs one bounded step of erasing expired versions; true while more may be left. */
export function expireVersions(stores: Stores, nowNs: bigint): boolean {
  const due = dueNames(stores.directory, { kind: kinds.due, nowNs }, expiredVersionsPerMessage);
  for (const bytes of due) {
    const name = readName(bytes);
    if (!postponeHeld(stores, name, nowNs)) eraseVersion(stores, name, { nowNs });
  }
  return due.length === expiredVersionsPerMessage;
}

/** Replaces the record of a former version, whose dates stay. */
export function replaceRecord(stores: Stores, name: VersionName, record: Uint8Array): void {
  const key = mapKeyOf(name);
  const head = present(stores.records.get(key), 'a former version').slice(0, recordHeadBytes);
  stores.records.set(key, concatBytes(head, record));
}

/** The expiry of a version that only a removed hold can end; no other version expires then. */
const neverNs = 2n ** 64n - 1n;

/** Lets an expired version expire when its retention ends; returns false if it is not held. */
function postponeHeld(stores: Stores, name: VersionName, nowNs: bigint): boolean {
  const former = unlessRefused(() => findVersion(stores, name));
  if (former === undefined || !isHeld(former.file, nowNs)) return false;
  const { retention } = former.file;
  const expiresAtNs = retention?.hasHold ? neverNs : (retention?.untilNs ?? nowNs);
  setExpiry(stores, name, { from: former.expiresAtNs, to: expiresAtNs });
  return true;
}

/** Lets a version expire at that time if its hold was removed and its own time was over before. */
export function resumeExpiry(stores: Stores, name: VersionName, atNs: bigint): void {
  const isPostponed = stores.directory.find(pathKey(nameBytes(name))) === neverNs;
  if (isPostponed) setExpiry(stores, name, { from: neverNs, to: atNs });
}

function setExpiry(
  { directory }: Stores,
  name: VersionName,
  { from, to }: { readonly from: bigint; readonly to: bigint },
): void {
  const bytes = nameBytes(name);
  directory.insert(pathKey(bytes), to);
  directory.remove(dueKey(from, bytes));
  if (to !== neverNs) directory.insert(dueKey(to, bytes), 0n);
}
