// Rights to a bucket. Its owners and the canister's controllers may do everything; members may do
// what their role allows; an API key may do what its permissions allow, on paths with its prefix.

import { type Bucket, findBucket, getBucket, isListedBucket } from '../buckets/buckets.ts';
import type { Call } from '../shared/caller.ts';
import { parseBucketId, quote, withoutSlash } from '../shared/names.ts';
import { Refusal } from '../shared/refusal.ts';
import type { Stores } from '../shared/stores.ts';
import type { ApiKey, Permission } from './api-keys.ts';
import { useKey } from './key-budgets.ts';
import type { Role } from './members.ts';
import { isStillGranted, visibleBucket } from './ownership.ts';

/** The API key of a call: its secret, or the key after it was looked up in the same message. */
export type SentKey = string | ApiKey | undefined;

interface Right {
  readonly bucket: string;
  readonly permission: Permission;
  readonly apiKey: SentKey;
}

/** The target of a request in a bucket: one path, as sent, or all paths with a prefix. */
export type Place =
  | { readonly path: string; readonly prefix?: undefined }
  | { readonly prefix: string; readonly path?: undefined };

/** Use `later` if paths are parsed after the check, and call requireWithin() with each path. */
export type Claim = Right & (Place | { readonly place: 'later' });

/** A claim of any permission. */
export type PlainClaim = Omit<Right, 'permission'> & (Place | { readonly place: 'later' });

export interface Grant {
  readonly bucket: Bucket;
  /** The key that gives the right; absent if the caller's principal gives it. */
  readonly key: ApiKey | undefined;
}

/** Returns the bucket if caller or key has the permission at the target; refuses an invalid key. */
export function authorize(stores: Stores, call: Call, claim: Claim): Grant {
  parseBucketId(claim.bucket);
  if (claim.apiKey !== undefined) {
    const key =
      typeof claim.apiKey === 'string' ? useKey(stores, call, claim.apiKey) : claim.apiKey;
    requireKeyPermission(key, claim);
    if (!('place' in claim)) requireWithin({ key }, claim);
    const bucket = getBucket(stores, claim.bucket);
    requireStillGranted(stores, key, bucket);
    return { bucket, key };
  }
  const { bucket, role } = visibleBucket(stores, call, claim.bucket);
  if (!roleAllows(role, claim.permission)) {
    throw new Refusal(
      'AccessDenied',
      `The caller has no ${claim.permission} right in bucket ${bucket.id}: send an API key for it, or call ` +
        'as its owner or as a member with that right.',
    );
  }
  return { bucket, key: undefined };
}

/**
 * Authorizes a list; returns the bucket and the prefix to list. That is the requested prefix or, if
 * the key's prefix begins with it, the key's, so that a key can list all its files without naming
 * its prefix.
 */
export function authorizeList(
  stores: Stores,
  call: Call,
  claim: { readonly bucket: string; readonly apiKey: SentKey; readonly prefix: string },
): Grant & { readonly prefix: string } {
  const { bucket: name, apiKey } = claim;
  const right = { bucket: name, permission: 'read', apiKey, place: 'later' } as const;
  const { bucket, key } = authorize(stores, call, right);
  const own = key?.prefix ?? '';
  const prefix = own.startsWith(claim.prefix) ? own : claim.prefix;
  requireWithin({ key }, { prefix });
  return { bucket, key, prefix };
}

/**
 * Authorizes a list of files like authorizeList(). In a query, everybody may list a bucket with
 * isListed, but not in an update, for which the canister would pay.
 */
export function authorizeFileList(
  stores: Stores,
  call: Call,
  claim: Parameters<typeof authorizeList>[2] & { readonly isQuery?: boolean | undefined },
): ReturnType<typeof authorizeList> {
  const { bucket, apiKey, prefix, isQuery } = claim;
  const isOpen = isQuery === true && apiKey === undefined && isListedBucket(stores, bucket);
  if (!isOpen) return authorizeList(stores, call, claim);
  return { bucket: getBucket(stores, bucket), key: undefined, prefix };
}

/**
 * Authorizes reading the metrics. Returns the key's buckets that its creator still owns. Refuses a
 * key with a prefix, because the metrics count all files.
 */
export function authorizeMonitoring(
  stores: Stores,
  call: Call,
  secret: string,
): { readonly key: ApiKey; readonly buckets: readonly Bucket[] } {
  const key = useKey(stores, call, secret);
  requirePermission(key, 'monitor');
  requireWithin({ key }, { prefix: '' });
  const buckets = key.buckets.flatMap((id) => {
    const bucket = findBucket(stores, id);
    return bucket !== undefined && isStillGranted(stores, key, bucket) ? [bucket] : [];
  });
  if (buckets.length > 0) return { key, buckets };
  throw new Refusal(
    'InvalidApiKey',
    'The creator of the API key no longer owns any of its buckets: send a key of one of their owners.',
  );
}

/** Whether the target is within the key's prefix, compared exactly; true without a key. */
export function isWithin({ key }: Pick<Grant, 'key'>, { path, prefix }: Place): boolean {
  if (key?.bounds?.isPath === true) {
    return path !== undefined && withoutSlash(path) === key.prefix;
  }
  return (path === undefined ? prefix : withoutSlash(path)).startsWith(key?.prefix ?? '');
}

/** Refuses a target outside the key's prefix, without revealing whether it exists. */
export function requireWithin(grant: Pick<Grant, 'key'>, place: Place): void {
  if (!isWithin(grant, place)) {
    throw new Refusal(
      'AccessDenied',
      grant.key?.bounds?.isPath === true
        ? `The upload link is for ${quote(grant.key.prefix)} only.`
        : `The API key is restricted to paths that begin with ${quote(grant.key?.prefix ?? '')}.`,
    );
  }
}

/** Writers may also delete; only owners may set retention and holds. */
function roleAllows(role: Role | undefined, permission: Permission): boolean {
  if (permission === 'retain') return role === 'owner';
  return role === 'reader' ? permission === 'read' : role !== undefined;
}

/** Refuses callers who ask to bypass governance and may not. */
export function requireBypassRight(
  stores: Stores,
  call: Call,
  { bypassesGovernance, claim }: { bypassesGovernance: boolean | undefined; claim: PlainClaim },
): void {
  if (bypassesGovernance === true) authorize(stores, call, { ...claim, permission: 'retain' });
}

function requireKeyPermission(key: ApiKey, claim: Claim): void {
  if (!key.buckets.includes(claim.bucket)) {
    throw new Refusal('AccessDenied', `The API key is not for bucket ${claim.bucket}.`);
  }
  requirePermission(key, claim.permission);
}

function requirePermission(key: ApiKey, permission: Permission): void {
  if (key.permissions.includes(permission)) return;
  if (permission === 'upload' && key.permissions.includes('write')) return;
  throw new Refusal(
    'AccessDenied',
    `The API key has no ${permission} permission; it has: ${key.permissions.join(', ')}.`,
  );
}

function requireStillGranted(stores: Stores, key: ApiKey, bucket: Bucket): void {
  if (isStillGranted(stores, key, bucket)) return;
  throw new Refusal(
    'InvalidApiKey',
    `The creator of the API key no longer owns bucket ${bucket.id}: send a key of one of its owners.`,
  );
}
