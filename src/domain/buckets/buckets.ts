// Buckets: named spaces of files with an owner. The record of a bucket contains its counts.

import { encodeUtf8 } from '../../lib/text.ts';
import { packFields, RecordReader, requireVersion, unpackFields } from '../../storage/codec.ts';
import type { BucketKeys } from '../keys/bucket-keys.ts';
import { ageContentType } from '../shared/age-format.ts';
import { parseBucketId, parseContentType } from '../shared/names.ts';
import { Refusal, unlessRefused } from '../shared/refusal.ts';
import type { Stores } from '../shared/stores.ts';
import { bucketIds } from './bucket-directory.ts';
import { changeTotals } from './bucket-totals.ts';
import { noteChanged } from './public-buckets.ts';

export interface Bucket extends BucketKeys {
  readonly id: string;
  /** Principal of the owner, at first the creator. */
  readonly owner: Uint8Array;
  readonly isPublic: boolean;
  /** Whether everybody may list its files; only a public bucket. */
  readonly isListed: boolean;
  /** Served as a site while the bucket is public, see files/sites.ts. */
  readonly isSite: boolean;
  /** True until every file is served according to the last change of isSite. */
  readonly isRenewing: boolean;
  /** Contains only age files, see end-to-end.ts. */
  readonly isEndToEnd: boolean;
  /** New files may get a retention, see retention-rules.ts. */
  readonly hasRetention: boolean;
  /** Whether a rule limits its former versions, see rules.ts. */
  readonly limitsVersions: boolean;
  readonly createdAtNs: bigint;
  readonly updatedAtNs: bigint;
  readonly fileCount: number;
  readonly byteCount: number;
  readonly openUploadCount: number;
  /** Bytes of the quota that the open uploads reserve. */
  readonly openUploadByteCount: number;
  /** Days for which former versions are stored; 0 stores none, see files/version-records.ts. */
  readonly keepVersionsDays: number;
  /** Number of former versions, and their bytes that count towards the quota. */
  readonly versionCount: number;
  readonly versionBytes: number;
  /** Number of links to its files, see files/link-records.ts. */
  readonly linkCount: number;
  /** Memory that its files use besides their bytes, see quota.ts. */
  readonly overheadBytes: number;
  /** Maximum number of bytes; absent: unlimited. */
  readonly quotaBytes?: number | undefined;
  /** Maximum number of files; absent: unlimited. */
  readonly quotaFiles?: number | undefined;
}

// Small fields: version 8, flags, bytes of the owner, further flags; longs: created, updated;
// numbers as in encodeBucket(); rest: owner. See packFields().
//
// Release 0.1.0 wrote version 4:
// 0: version 4 | owner (length, bytes) | flags u8 | created u64 | updated u64 | files u64
//    | bytes u64 | open uploads u32 | bytes of open uploads u64 | quota of bytes u64 | key id u64
//    | key slot u64 | former key id u64 | former key slot u64
// It had not counted the overhead.
const version = 8;
const formerVersion = 4;
const fieldCount = { longs: 2, numbers: 15 } as const;
const ownerStart = 144;
const flagBits = {
  public: 1,
  quotaBytes: 2,
  quotaFiles: 4,
  site: 8,
  renewing: 16,
  endToEnd: 32,
  retention: 64,
  limitsVersions: 128,
} as const;
/** Release 0.2.0 wrote zero in their place. */
const furtherBits = { listed: 1 } as const;

const siteFlags = flagBits.site | flagBits.renewing;

function encodeBucket(bucket: Bucket): Uint8Array {
  const { owner } = bucket;
  return packFields({
    small: [version, flagsOf(bucket), owner.length, bucket.isListed ? furtherBits.listed : 0],
    longs: [bucket.createdAtNs, bucket.updatedAtNs],
    numbers: [
      bucket.fileCount,
      bucket.byteCount,
      bucket.openUploadCount,
      bucket.openUploadByteCount,
      bucket.quotaBytes ?? 0,
      bucket.quotaFiles ?? 0,
      bucket.keyId,
      bucket.keySlot,
      bucket.formerKeyId,
      bucket.formerKeySlot,
      bucket.overheadBytes,
      bucket.keepVersionsDays,
      bucket.versionCount,
      bucket.versionBytes,
      bucket.linkCount,
    ],
    rest: owner,
  });
}

function flagsOf(bucket: Bucket): number {
  return (
    (bucket.isPublic ? flagBits.public : 0) |
    (bucket.isSite ? flagBits.site : 0) |
    (bucket.isRenewing ? flagBits.renewing : 0) |
    (bucket.isEndToEnd ? flagBits.endToEnd : 0) |
    (bucket.hasRetention ? flagBits.retention : 0) |
    (bucket.limitsVersions ? flagBits.limitsVersions : 0) |
    (bucket.quotaBytes === undefined ? 0 : flagBits.quotaBytes) |
    (bucket.quotaFiles === undefined ? 0 : flagBits.quotaFiles)
  );
}

function decodeBucket(id: string, bytes: Uint8Array): Bucket {
  if (bytes[0] === formerVersion) return decodeFormer(id, bytes);
  requireVersion(bytes, version);
  const { small, longs, numbers, rest } = unpackFields(bytes, fieldCount);
  const flags = small[1] ?? 0;
  return {
    id,
    owner: rest,
    ...settingsOf(flags),
    isListed: ((small[3] ?? 0) & furtherBits.listed) !== 0,
    createdAtNs: longs[0] ?? 0n,
    updatedAtNs: longs[1] ?? 0n,
    fileCount: numbers[0] ?? 0,
    byteCount: numbers[1] ?? 0,
    openUploadCount: numbers[2] ?? 0,
    openUploadByteCount: numbers[3] ?? 0,
    quotaBytes: (flags & flagBits.quotaBytes) === 0 ? undefined : numbers[4],
    quotaFiles: (flags & flagBits.quotaFiles) === 0 ? undefined : numbers[5],
    keyId: numbers[6] ?? 0,
    keySlot: numbers[7] ?? 0,
    formerKeyId: numbers[8] ?? 0,
    formerKeySlot: numbers[9] ?? 0,
    overheadBytes: numbers[10] ?? 0,
    keepVersionsDays: numbers[11] ?? 0,
    versionCount: numbers[12] ?? 0,
    versionBytes: numbers[13] ?? 0,
    linkCount: numbers[14] ?? 0,
  };
}

function settingsOf(flags: number) {
  return {
    isPublic: (flags & flagBits.public) !== 0,
    isSite: (flags & flagBits.site) !== 0,
    isRenewing: (flags & flagBits.renewing) !== 0,
    isEndToEnd: (flags & flagBits.endToEnd) !== 0,
    hasRetention: (flags & flagBits.retention) !== 0,
    limitsVersions: (flags & flagBits.limitsVersions) !== 0,
  };
}

function decodeFormer(id: string, bytes: Uint8Array): Bucket {
  const reader = new RecordReader(bytes, formerVersion);
  const owner = reader.bytes();
  const flags = reader.u8();
  const times = { createdAtNs: reader.u64(), updatedAtNs: reader.u64() };
  const counts = { fileCount: reader.integer(), byteCount: reader.integer() };
  const uploads = { openUploadCount: reader.u32(), openUploadByteCount: reader.integer() };
  const quotaBytes = reader.integer();
  const key = { keyId: reader.integer(), keySlot: reader.integer() };
  const formerKey = { formerKeyId: reader.integer(), formerKeySlot: reader.integer() };
  return {
    id,
    owner,
    ...settingsOf(flags),
    isListed: false,
    ...times,
    ...counts,
    ...uploads,
    quotaBytes: (flags & flagBits.quotaBytes) === 0 ? undefined : quotaBytes,
    quotaFiles: undefined,
    ...key,
    ...formerKey,
    overheadBytes: 0,
    keepVersionsDays: 0,
    versionCount: 0,
    versionBytes: 0,
    linkCount: 0,
  };
}

export function findBucket(stores: Stores, id: string): Bucket | undefined {
  const bytes = stores.buckets.get(encodeUtf8(id));
  return bytes === undefined ? undefined : decodeBucket(id, bytes);
}

export type OwnedBucket = Pick<Bucket, 'id' | 'owner'>;

/** Returns the owner of the bucket, at a third of the cost of findBucket(). */
export function findOwner(stores: Stores, id: string): OwnedBucket | undefined {
  const bytes = stores.buckets.get(encodeUtf8(id));
  if (bytes === undefined || bytes[0] !== version) return bytes && decodeBucket(id, bytes);
  return { id, owner: bytes.subarray(ownerStart) };
}

/** The fields that requests for files of a public bucket need. */
export type ServedBucket = BucketKeys & Pick<Bucket, 'isPublic' | 'isSite' | 'isRenewing'>;

/** Returns these fields of the bucket, for 50,000 instructions less than findBucket(). */
export function findServed(stores: Stores, id: string): ServedBucket | undefined {
  const bytes = stores.buckets.get(encodeUtf8(id));
  return bytes && decodeServed(id, bytes);
}

/** Returns the bucket if its files may have leaves of a site, see files/sites.ts. */
export function findSiteBucket(stores: Stores, id: string): ServedBucket | undefined {
  const bytes = stores.buckets.get(encodeUtf8(id));
  const flags = bytes?.[0] === version ? (bytes[1] ?? 0) : siteFlags;
  return bytes === undefined || (flags & siteFlags) === 0 ? undefined : decodeServed(id, bytes);
}

function decodeServed(id: string, bytes: Uint8Array): ServedBucket {
  if (bytes[0] !== version) return decodeBucket(id, bytes);
  const flags = bytes[1] ?? 0;
  const { numbers } = unpackFields(bytes, fieldCount);
  return {
    id,
    isPublic: (flags & flagBits.public) !== 0,
    isSite: (flags & flagBits.site) !== 0,
    isRenewing: (flags & flagBits.renewing) !== 0,
    keyId: numbers[6] ?? 0,
    keySlot: numbers[7] ?? 0,
    formerKeyId: numbers[8] ?? 0,
    formerKeySlot: numbers[9] ?? 0,
  };
}

/**
 * Returns the bucket of that name; throws for a malformed name and an unknown bucket. Check the
 * caller's right to the bucket first.
 */
export function getBucket(stores: Stores, name: string): Bucket {
  return findBucket(stores, parseBucketId(name)) ?? refuseUnknown(name);
}

function refuseUnknown(name: string): never {
  throw noSuchBucket(name);
}

/** Returns the same refusal for a missing bucket and a private one that the caller may not use. */
export function noSuchBucket(id: string): Refusal {
  return new Refusal(
    'NoSuchBucket',
    `Bucket ${id} does not exist, or the caller has no right to it. Bucket ids are case-sensitive.`,
  );
}

/** Returns false for a private or missing bucket; throws for a malformed name. */
export function isPublicBucket(stores: Stores, name: string): boolean {
  return findServed(stores, parseBucketId(name))?.isPublic === true;
}

/**
 * Whether everybody may list the bucket's files. Returns false for a private or missing bucket and
 * a malformed name.
 */
export function isListedBucket(stores: Stores, name: string): boolean {
  return unlessRefused(() => findBucket(stores, parseBucketId(name)))?.isListed === true;
}

type ListOptions = Pick<Bucket, 'id' | 'isPublic' | 'isListed' | 'isEndToEnd'>;

/** Refuses a public list of a bucket that is private or end-to-end encrypted. */
export function checkListed({ id, isPublic, isListed, isEndToEnd }: ListOptions): void {
  if (!isListed) return;
  if (isEndToEnd) {
    throw new Refusal(
      'InvalidArgument',
      `Bucket ${id} is end-to-end encrypted, so not everybody may list it: a list would reveal names, ` +
        'sizes and times of files that only its recipients can read. Omit isListed.',
    );
  }
  if (isPublic) return;
  throw new Refusal(
    'InvalidArgument',
    `Bucket ${id} is private, and only a public bucket can be listed by everybody: set isPublic.`,
  );
}

type SiteOptions = Pick<Bucket, 'id' | 'isPublic' | 'isSite' | 'isEndToEnd'>;

/** Refuses a site that is private or end-to-end encrypted. */
export function checkSite({ id, isPublic, isSite, isEndToEnd }: SiteOptions): void {
  if (isSite && isEndToEnd) {
    throw new Refusal(
      'InvalidArgument',
      `Bucket ${id} cannot be both a site and end-to-end encrypted, because browsers could not read its pages.`,
    );
  }
  if (!isSite || isPublic) return;
  throw new Refusal(
    'InvalidArgument',
    `Bucket ${id} is private, and a site must be public: set isPublic.`,
  );
}

/** Returns the type to store: the sent one, or that of all files in an end-to-end bucket. */
export function storedContentType(
  { isEndToEnd }: Pick<Bucket, 'isEndToEnd'>,
  sent: string,
): string {
  return isEndToEnd ? ageContentType : parseContentType(sent);
}

/** Yields all buckets in the order of their ids, which it reads in pages. */
export function* allBuckets(stores: Stores): Generator<Bucket> {
  const limit = 100;
  for (let skip = 0; ; skip += limit) {
    const ids = bucketIds(stores.directory, undefined, { skip, limit });
    for (const id of ids) yield getBucket(stores, id);
    if (ids.length < limit) return;
  }
}

/** Stores the bucket, replaces its former record, and updates the totals. */
export function saveBucket(stores: Stores, bucket: Bucket, old: Bucket | undefined): void {
  stores.buckets.set(encodeUtf8(bucket.id), encodeBucket(bucket));
  if (bucket.isPublic !== old?.isPublic) noteChanged(stores, bucket.id, bucket.isPublic);
  changeTotals(stores, {
    buckets: old === undefined ? 1 : 0,
    files: bucket.fileCount - (old?.fileCount ?? 0),
    bytes: bucket.byteCount - (old?.byteCount ?? 0),
  });
}
