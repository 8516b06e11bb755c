// A caller's relation to a bucket: whether it may know of the bucket, and whether it owns it.

import { bytesEqual } from '../../lib/bytes.ts';
import { type Bucket, findBucket, noSuchBucket, type OwnedBucket } from '../buckets/buckets.ts';
import type { Call } from '../shared/caller.ts';
import { parseBucketId } from '../shared/names.ts';
import { Refusal } from '../shared/refusal.ts';
import type { Stores } from '../shared/stores.ts';
import { type ApiKey, findKeyByHash, type UploadBounds } from './api-keys.ts';
import { isBucketOwner, type Role, roleOf } from './members.ts';

/**
 * Returns the bucket to a caller who may know of it. For a caller without a right to a private
 * bucket the error is that of a missing bucket.
 */
export function visibleBucket(
  stores: Stores,
  call: Call,
  name: string,
): { readonly bucket: Bucket; readonly role: Role | undefined } {
  const bucket = findBucket(stores, parseBucketId(name));
  const role = bucket && roleOf(stores, call.caller, bucket);
  if (bucket === undefined || !(bucket.isPublic || role !== undefined)) {
    throw noSuchBucket(name);
  }
  return { bucket, role };
}

/** Returns the bucket to its owners and refuses others. */
export function ownedBucket(stores: Stores, call: Call, name: string): Bucket {
  const { bucket, role } = visibleBucket(stores, call, name);
  if (role !== 'owner') {
    throw new Refusal(
      'AccessDenied',
      `Only an owner of bucket ${bucket.id} may do this: call with an owner's identity.`,
    );
  }
  return bucket;
}

/**
 * Returns the bucket to its members, with the caller's role. Being a controller of the canister
 * gives no role here, because only the bucket's owners decide who decrypts files.
 */
export function memberOfBucket(
  stores: Stores,
  call: Call,
  name: string,
): { readonly bucket: Bucket; readonly role: Role } {
  const { bucket } = visibleBucket(stores, call, name);
  const role = roleOf(stores, { ...call.caller, isController: false }, bucket);
  if (role === undefined) {
    throw new Refusal(
      'AccessDenied',
      `Only members of bucket ${bucket.id} may do this, with their own identity: its readers, writers and ` +
        'owners. An API key or controlling the canister is not enough.',
    );
  }
  return { bucket, role };
}

export function isOwner(stores: Stores, call: Call, bucketId: string): boolean {
  const bucket = findBucket(stores, bucketId);
  return bucket !== undefined && isBucketOwner(stores, call.caller, bucket);
}

/**
 * Whether the creator of the key still owns the bucket or, of an upload link, may still upload.
 * updateBucket() withdraws the keys of former owners, but controllers may create keys for every
 * bucket, and the network reports no change of its controllers. True for keys of version 0.1.0,
 * which do not record their creators.
 */
export function isStillGranted(stores: Stores, key: ApiKey, bucket: OwnedBucket): boolean {
  const { creator, bounds } = key;
  if (bounds?.isLink === true) return mayMakerUpload(stores, { creator, bounds }, bucket);
  if (creator.length === 0 || bytesEqual(creator, bucket.owner)) return true;
  const isController = stores.isController(creator);
  return isBucketOwner(stores, { principal: creator, isController }, bucket);
}

/** A key that was revoked or has lost the bucket ends its upload links; so does a lost role. */
function mayMakerUpload(
  stores: Stores,
  { creator, bounds }: { readonly creator: Uint8Array; readonly bounds: UploadBounds },
  bucket: OwnedBucket,
): boolean {
  if (bounds.parent.length === 0) {
    const isController = stores.isController(creator);
    const role = roleOf(stores, { principal: creator, isController }, bucket);
    return role === 'owner' || role === 'writer';
  }
  const parent = findKeyByHash(stores, bounds.parent);
  const isValid = parent?.revokedAtNs === 0n && parent.buckets.includes(bucket.id);
  return isValid && isStillGranted(stores, parent, bucket);
}
