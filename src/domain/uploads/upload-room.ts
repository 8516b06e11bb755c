// Limits for another upload: the bucket's number of open uploads, its quota, and the share of both
// that one key or caller may use.

import { openUploadCountMax } from '../../limits.ts';
import type { Bucket } from '../buckets/buckets.ts';
import { checkQuota } from '../buckets/quota.ts';
import type { ApiKey, UploadBounds } from '../rights/api-keys.ts';
import { isBucketOwner } from '../rights/members.ts';
import type { Call } from '../shared/caller.ts';
import { Refusal } from '../shared/refusal.ts';
import type { Stores } from '../shared/stores.ts';
import {
  holderOf,
  keyHolder,
  type OpenUpload,
  openUploadsOf,
  principalHolder,
} from './open-uploads.ts';
import type { UploadSession } from './upload-session.ts';

interface Wish {
  readonly bucket: Bucket;
  readonly key: ApiKey | undefined;
  readonly reservedBytes: number;
}

/**
 * Refuses an upload that would leave no space for others: except for owners, one key or principal
 * can have at most half of a bucket's open uploads and of its free quota.
 */
export function checkRoom(stores: Stores, call: Call, { bucket, key, reservedBytes }: Wish): void {
  const holder = key === undefined ? principalHolder(call.caller.principal) : keyHolder(key.hash);
  const isOwners = key === undefined && isBucketOwner(stores, call.caller, bucket);
  const own = isOwners ? [] : openUploadsOf(stores, bucket.id, holder);
  const limit = openUploadCountMax / 2;
  if (bucket.openUploadCount >= openUploadCountMax || own.length >= limit) {
    const whose = own.length >= limit ? `this key or caller ${limit}` : `${openUploadCountMax}`;
    throw new Refusal(
      'SlowDown',
      `Bucket ${bucket.id} has ${bucket.openUploadCount} open uploads; the limit is ` +
        `${whose}: complete or cancel some first.`,
      { limit: own.length >= limit ? limit : openUploadCountMax },
    );
  }
  // The file to be replaced stays until completion, so its bytes count too.
  checkQuota(bucket, { files: 1, bytes: reservedBytes });
  if (key?.bounds?.isLink === true) {
    requireLinkShare(bucket, key.bounds, { open: own.length, reservedBytes });
  }
  if (!isOwners) requireShare(bucket, own, reservedBytes);
}

/**
 * Refuses more bytes than an upload of unknown size has space for; `bytes` are the additional ones.
 * The limit of owners applies to uploads that owners continue.
 */
export function checkGrowth(
  stores: Stores,
  call: Call,
  growth: { readonly bucket: Bucket; readonly session: UploadSession; readonly bytes: number },
): void {
  const { bucket, session, bytes } = growth;
  if (bytes <= 0) return;
  checkQuota(bucket, { files: 0, bytes });
  // All holders together reserve at least as much as one, and their sum needs no look-up
  if (bucket.openUploadByteCount + bytes <= shareOf(bucket)) return;
  const isOwners = session.keyHash.length === 0 && isBucketOwner(stores, call.caller, bucket);
  if (!isOwners) requireShare(bucket, openUploadsOf(stores, bucket.id, holderOf(session)), bytes);
}

/** Open uploads of one link without a number of files. */
const linkUploadCountMax = 10;

/**
 * Refuses uploads by which holders of several links could take the places of all others: together
 * with all other uploads, those of links reserve at most four fifths of the places and half of the
 * free quota. One upload more than the files of a link may be open, for one whose answer was lost.
 */
function requireLinkShare(
  bucket: Bucket,
  { filesMax, fileCount }: UploadBounds,
  { open, reservedBytes }: { readonly open: number; readonly reservedBytes: number },
): void {
  const limit = filesMax === 0 ? linkUploadCountMax : filesMax - fileCount + 1;
  const isFull = bucket.openUploadCount >= 0.8 * openUploadCountMax;
  const bytes = bucket.openUploadByteCount + reservedBytes;
  if (open < limit && !isFull && bytes <= shareOf(bucket)) return;
  throw new Refusal(
    'SlowDown',
    `This upload link has ${open} open uploads, and bucket ${bucket.id} ${bucket.openUploadCount}: ` +
      'complete or cancel some, or try again later.',
    { limit },
  );
}

/** Returns half of the free quota. */
function shareOf({ quotaBytes, byteCount, overheadBytes, versionBytes }: Bucket): number {
  if (quotaBytes === undefined) return Number.POSITIVE_INFINITY;
  return Math.floor((quotaBytes - byteCount - overheadBytes - versionBytes) / 2);
}

function requireShare(bucket: Bucket, own: readonly OpenUpload[], reservedBytes: number): void {
  const held = own.reduce((sum, upload) => sum + upload.reservedBytes, 0);
  const share = shareOf(bucket);
  if (held + reservedBytes > share) {
    throw new Refusal(
      'QuotaExceeded',
      `Open uploads of one key or caller may reserve half of the free quota of bucket ` +
        `${bucket.id}, ${share} bytes; this one reserves ${held} and asks for ${reservedBytes} more. ` +
        'Complete or cancel uploads, upload as an owner, or have an owner raise the quota.',
      { limit: share, held, additional: reservedBytes },
    );
  }
}
