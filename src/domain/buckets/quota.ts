// The quotas of a bucket for bytes and files. An open upload counts with its declared size from its
// beginning, so a completion exceeds a quota only if it adds metadata. Memory besides a file's
// bytes counts too: four hundred empty files can use 66 MB.

import { encodeUtf8 } from '../../lib/text.ts';
import { keepVersionsDaysMax } from '../../limits.ts';
import type { Metadata } from '../shared/file-metadata.ts';
import { Refusal } from '../shared/refusal.ts';
import type { StoredHeaders } from '../shared/stored-headers.ts';

/** The fields of a bucket's record that quotas depend on. */
export interface Holdings {
  readonly id: string;
  readonly fileCount: number;
  readonly byteCount: number;
  readonly overheadBytes: number;
  /** Bytes of former versions, with their overhead. */
  readonly versionBytes: number;
  readonly openUploadCount: number;
  readonly openUploadByteCount: number;
  /** Absent: unlimited. */
  readonly quotaBytes?: number | undefined;
  readonly quotaFiles?: number | undefined;
}

/** The usage that a write adds, less the usage of the file that it replaces; may be negative. */
export interface Addition {
  readonly files: number;
  readonly bytes: number;
}

/** The fields of a file that determine the memory it takes besides its bytes. */
export interface Named {
  readonly bucketId: string;
  readonly path: string;
  readonly tags: readonly string[];
  readonly contentType: string;
  readonly headers: StoredHeaders;
  readonly metadata: Metadata;
  readonly thumbnail?: { readonly size: number } | undefined;
}

// Measured for each kind of file, see tests/service/quota-overhead.thorough.test.ts. A file takes a
// record (with its JSON), certified leaves, a chunk record and a key slot. Each segment of its path
// takes a label, as if no other file shared its folders. The file and each of its tags take one
// index entry by name and several by date: one for each level of blocks (see file-index.ts), and a
// level begins after 16 times as many changes as the one below.
const recordBytes = 1_600;
const bytesPerPathByte = 6;
const bytesPerSegment = 75;
const indexEntries = 5;
const indexEntryBytes = 24;
/** A thumbnail's memory besides its bytes: a chunk record, an index entry, texts, and 14 leaves. */
const thumbnailRestBytes = 1_600;
/** Average fill of an index page. */
const indexFill = 2 / 3;

/** Returns the memory that the file uses besides its bytes, which depends only on its record. */
export function overheadBytesOf(file: Named): number {
  const path = encodeUtf8(file.path).length;
  const scopes = [0, ...file.tags.map((tag) => tag.length)];
  const keys = scopes.map((tag) => file.bucketId.length + tag + path + indexEntryBytes);
  const index = keys.reduce((sum, key) => sum + key, 0) * indexEntries;
  const texts = 2 * file.contentType.length + file.headers.join('').length;
  const noted = 2 * file.metadata.flat().join('').length;
  const segments = file.path.split('/').length;
  const record = recordBytes + bytesPerPathByte * path + bytesPerSegment * segments + texts + noted;
  const picture = file.thumbnail === undefined ? 0 : file.thumbnail.size + thumbnailRestBytes;
  return Math.ceil(record + index / indexFill) + picture;
}

/** Returns the bytes of a bucket's files, former versions and open uploads, with their overhead. */
export function heldBytes(bucket: Holdings): number {
  const { byteCount, overheadBytes, versionBytes, openUploadByteCount } = bucket;
  return byteCount + overheadBytes + versionBytes + openUploadByteCount;
}

/**
 * Refuses with QuotaExceeded if the addition does not fit; changes nothing. A write that does not
 * increase usage is always allowed, even above a lowered quota.
 */
export function checkQuota(bucket: Holdings, addition: Addition): void {
  const { quotaBytes, quotaFiles } = bucket;
  const held = heldBytes(bucket);
  const files = bucket.fileCount + bucket.openUploadCount;
  if (quotaBytes !== undefined && addition.bytes > 0 && held + addition.bytes > quotaBytes) {
    throw new Refusal(
      'QuotaExceeded',
      `Bucket ${bucket.id} has a quota of ${quotaBytes} bytes and uses ${held}, with open uploads, former versions ` +
        `and records of files: ${addition.bytes} more do not fit. Delete files, or cancel uploads.`,
      { limit: quotaBytes, held, additional: addition.bytes },
    );
  }
  if (quotaFiles !== undefined && addition.files > 0 && files + addition.files > quotaFiles) {
    throw new Refusal(
      'QuotaExceeded',
      `Bucket ${bucket.id} has a quota of ${quotaFiles} files and has ${files}, including open uploads: ` +
        'delete files, or cancel uploads.',
      { limit: quotaFiles, held: files, additional: addition.files },
    );
  }
}

/** Parses the number of days for which former versions are stored. */
export function parseKeepDays(days: bigint): number {
  if (days > BigInt(keepVersionsDaysMax)) {
    throw new Refusal(
      'InvalidArgument',
      `keepVersionsDays must be 0 to ${keepVersionsDaysMax}; 0 keeps no former versions.`,
      { limit: keepVersionsDaysMax },
    );
  }
  return Number(days);
}

/** Parses a quota; 0 means no quota. */
export function parseQuota(unit: 'bytes' | 'files', quota: bigint | undefined): number | undefined {
  if (quota !== undefined && quota > BigInt(Number.MAX_SAFE_INTEGER)) {
    throw new Refusal(
      'InvalidArgument',
      `A quota must be 0 to ${Number.MAX_SAFE_INTEGER} ${unit}; 0 means no quota.`,
    );
  }
  return quota === undefined || quota === 0n ? undefined : Number(quota);
}
