// Whether there is room for another upload: of the bucket's number of open ones, of its quota, and
// of what one key or caller may take of both.

import { openUploadCountMax } from '../../limits.ts';
import type { Bucket } from '../buckets/buckets.ts';
import { checkQuota } from '../buckets/quota.ts';
import type { ApiKey } from '../rights/api-keys.ts';
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
 * Refuses what would leave others without room: but for owners, one key or principal has at most
 * half of a bucket's open uploads, and of the quota that is free.
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
  // The file that it will replace stays until then, so its bytes count too.
  checkQuota(bucket, { files: 1, bytes: reservedBytes });
  if (!isOwners) requireShare(bucket, own, reservedBytes);
}

/**
 * Refuses what an upload of unknown size has no room for; `bytes` are how much more it is to hold.
 * An owner's upload is one that goes on by the right of an owner.
 */
export function checkGrowth(
  stores: Stores,
  call: Call,
  growth: { readonly bucket: Bucket; readonly session: UploadSession; readonly bytes: number },
): void {
  const { bucket, session, bytes } = growth;
  if (bytes <= 0) return;
  checkQuota(bucket, { files: 0, bytes });
  // All holders together hold at least as much as one, and their sum needs no look-up
  if (bucket.openUploadByteCount + bytes <= shareOf(bucket)) return;
  const isOwners = session.keyHash.length === 0 && isBucketOwner(stores, call.caller, bucket);
  if (!isOwners) requireShare(bucket, openUploadsOf(stores, bucket.id, holderOf(session)), bytes);
}

/** Half of what is free of the quota. */
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
