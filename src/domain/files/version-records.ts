// Former versions of files: in a bucket that stores versions, a replaced or deleted file keeps its
// content and key until the version expires. version-entries.ts has their records and entries.

import { expiredVersionsPerMessage } from '../../limits.ts';
import { type Bucket, findBucket, saveBucket } from '../buckets/buckets.ts';
import { overheadBytesOf } from '../buckets/quota.ts';
import { damagedFile } from '../contents/chunk-records.ts';
import { keepContent } from '../contents/kept-contents.ts';
import { releaseContent, releaseThumbnail } from '../contents/shared-contents.ts';
import { unlessRefused } from '../shared/refusal.ts';
import type { Stores } from '../shared/stores.ts';
import type { FileRecord } from './file-fields.ts';
import { decodeFile } from './file-layout.ts';
import { isHeld, type Release, requireNotHeld, requireReleased } from './retention.ts';
import { streamedUntilNs } from './streams.ts';
import {
  changeExpiry,
  expiredVersions,
  forgetVersion,
  neverNs,
  noteVersion,
  type StoredVersion,
  storedVersion,
  storeVersion,
  takeStored,
  type VersionName,
  versionBefore,
  versionExpiryNs,
} from './version-entries.ts';
import { isStillDue, noteByRules } from './version-rules.ts';

const nsPerDay = 86_400_000_000_000n;

export interface FormerVersion extends StoredVersion {
  readonly file: FileRecord;
  readonly expiresAtNs: bigint;
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
    const ownNs = nowNs + BigInt(bucket.keepVersionsDays) * nsPerDay;
    storeVersion(stores, file, { retiredAtNs: nowNs, sequence, record });
    if (bucket.limitsVersions) noteByRules(stores, file, { nowNs, ownNs });
    else noteVersion(stores, file, { atNs: ownNs, ownNs });
    return withVersionCounted(bucket, file, 1);
  }
  requireReleased(file);
  const untilNs = streamedUntilNs(stores, file.contentId, nowNs);
  const isStreamed = untilNs !== undefined && keepContent(stores, file, untilNs);
  // A stream reads only the chunks
  if (isStreamed) releaseThumbnail(stores, file);
  else releaseContent(stores, file);
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
  return versionBefore(stores, { bucketId: bucket.id, path }, 0)?.version ?? 0;
}

/** Refuses a damaged record with IntegrityError. */
export function findVersion(stores: Stores, name: VersionName): FormerVersion | undefined {
  const stored = storedVersion(stores, name);
  const expiresAtNs = stored && versionExpiryNs(stores, name);
  if (stored === undefined || expiresAtNs === undefined) return undefined;
  const file = decodeFile(name.bucketId, name.path, stored.record);
  // The seal's associated data omits the version number, so compare the record's own.
  if (file.version !== name.version) throw damagedFile();
  return { file, ...stored, expiresAtNs };
}

interface Taken {
  /** The bucket without the version. */
  readonly bucket: Bucket;
  /** Absent if its record is damaged. */
  readonly file: FileRecord | undefined;
}

/** Removes a former version, but not its content. Returns `undefined` if it does not exist. */
export function takeVersion(stores: Stores, bucket: Bucket, name: VersionName): Taken | undefined {
  if (forgetVersion(stores, name) === undefined) return undefined;
  const stored = takeStored(stores, name);
  const file = stored && unlessRefused(() => decodeFile(name.bucketId, name.path, stored.record));
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
  if (bucket === undefined || taken === undefined) return false;
  saveBucket(stores, taken.bucket, bucket);
  const digest = taken.file?.digest;
  const { version } = name;
  const change = { kind: 'version.erased', subject: name.path, version } as const;
  stores.journal.note(bucket.id, digest === undefined ? change : { ...change, digest });
  if (taken.file !== undefined) releaseContent(stores, taken.file);
  return true;
}

/** Runs one bounded step of erasing expired versions; true while more may be left. */
export function expireVersions(stores: Stores, nowNs: bigint): boolean {
  const due = expiredVersions(stores, nowNs, expiredVersionsPerMessage);
  for (const name of due) {
    if (!isStillDue(stores, name, nowNs) || postponeHeld(stores, name, nowNs)) continue;
    eraseVersion(stores, name, { nowNs });
  }
  return due.length === expiredVersionsPerMessage;
}

/** Lets an expired version expire when its retention ends; returns false if it is not held. */
function postponeHeld(stores: Stores, name: VersionName, nowNs: bigint): boolean {
  const former = unlessRefused(() => findVersion(stores, name));
  if (former === undefined || !isHeld(former.file, nowNs)) return false;
  const { retention } = former.file;
  const expiresAtNs = retention?.hasHold ? neverNs : (retention?.untilNs ?? nowNs);
  changeExpiry(stores, name, { fromNs: former.expiresAtNs, toNs: expiresAtNs });
  return true;
}

/** Lets a version expire at that time if its hold was removed and its own time was over before. */
export function resumeExpiry(stores: Stores, name: VersionName, atNs: bigint): void {
  if (versionExpiryNs(stores, name) !== neverNs) return;
  changeExpiry(stores, name, { fromNs: neverNs, toNs: atNs });
}
