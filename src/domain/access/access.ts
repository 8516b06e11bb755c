// Who may do what to a bucket: its owners and the canister's controllers everything, members what
// their role says, an API key what it was made for.

import { type Bucket, getBucket } from '../buckets/buckets.ts';
import type { Call } from '../shared/caller.ts';
import { parseBucketId } from '../shared/names.ts';
import { Refusal } from '../shared/refusal.ts';
import type { Stores } from '../shared/stores.ts';
import { type ApiKey, findKey, type Permission } from './api-keys.ts';
import type { Role } from './members.ts';
import { visibleBucket } from './ownership.ts';

/**
 * The API key that came with a call: its secret, or the key where it has been looked up in the same
 * message.
 */
export type SentKey = string | ApiKey | undefined;

export interface Claim {
  readonly bucket: string;
  readonly permission: Permission;
  readonly apiKey: SentKey;
}

export interface Grant {
  readonly bucket: Bucket;
  /** The key that the grant rests on; absent when it rests on the caller's principal. */
  readonly key: ApiKey | undefined;
}

/** The bucket, when the caller or the key has the permission; a key that is sent must be good. */
export function authorize(stores: Stores, call: Call, claim: Claim): Grant {
  parseBucketId(claim.bucket);
  if (claim.apiKey !== undefined) {
    const key = keyOf(stores, call, claim.apiKey);
    requireKeyPermission(key, claim);
    return { bucket: getBucket(stores, claim.bucket), key };
  }
  const { bucket, role } = visibleBucket(stores, call, claim.bucket);
  if (!roleAllows(role, claim.permission)) {
    throw new Refusal(
      'AccessDenied',
      `The caller may not ${claim.permission} in bucket ${bucket.id}: send an API key for it, or call ` +
        'as its owner or as a member who may.',
    );
  }
  return { bucket, key: undefined };
}

function keyOf(stores: Stores, call: Call, sent: string | ApiKey): ApiKey {
  return typeof sent === 'string' ? findKey(stores, sent, call.nowNs) : sent;
}

/** Writers also delete. */
function roleAllows(role: Role | undefined, permission: Permission): boolean {
  return role === 'reader' ? permission === 'read' : role !== undefined;
}

function requireKeyPermission(key: ApiKey, claim: Claim): void {
  if (!key.buckets.includes(claim.bucket)) {
    throw new Refusal('AccessDenied', `The API key is not for bucket ${claim.bucket}.`);
  }
  if (!key.permissions.includes(claim.permission)) {
    throw new Refusal(
      'AccessDenied',
      `The API key has no ${claim.permission} permission; it has: ${key.permissions.join(', ')}.`,
    );
  }
}
