// Creation, listing and revocation of API keys by owners. A key loses a bucket when its creator
// loses ownership of it; the key's uploads and links there end too.

import { present } from '../../lib/assert.ts';
import { bytesEqual, emptyBytes } from '../../lib/bytes.ts';
import { hasControlCharacter } from '../../lib/text.ts';
import { keyBucketCountMax, keyNameLengthMax, liveKeyCountMax } from '../../limits.ts';
import {
  bucketKeys,
  forgetKey,
  hashOfKeyId,
  type NotedKey,
  noteKey,
} from '../buckets/bucket-directory.ts';
import { findBucket } from '../buckets/buckets.ts';
import { endLinksOf } from '../files/link-records.ts';
import { makeSecret, secretHash } from '../rights/api-key-secrets.ts';
import {
  type ApiKey,
  findKeyByHash,
  keyId,
  type Permission,
  permissions,
  saveKey,
  type UploadBounds,
} from '../rights/api-keys.ts';
import { parseKeyBudget, type SentBudget } from '../rights/key-budgets.ts';
import { isOwner, ownedBucket } from '../rights/ownership.ts';
import { parseUploadLimit } from '../rights/upload-bounds.ts';
import type { Call } from '../shared/caller.ts';
import { parseBucketId, parseKeyPrefix, quote } from '../shared/names.ts';
import { Refusal } from '../shared/refusal.ts';
import type { Stores } from '../shared/stores.ts';
import { endUploadsOf, keyHolder } from '../uploads/open-uploads.ts';
import { removeUploadLinks } from './upload-links.ts';

const secretBytes = 32;
/** Times are stored as u64. */
const timeNsMax = 2n ** 64n - 1n;

export interface KeyRequest {
  readonly name: string;
  readonly buckets: readonly string[];
  readonly permissions: readonly string[];
  /** The prefix of all paths that the key may use; absent or '': every path. */
  readonly prefix?: string | undefined;
  readonly expiresAtNs: bigint | undefined;
  /** Absent: no limit for keys that may read, the default budget for others. */
  readonly budget?: SentBudget | undefined;
  /** Limits of a key that only adds files; absent or 0n: none. */
  readonly maxFileBytes?: bigint | undefined;
  readonly maxFiles?: bigint | undefined;
}

/** Refuses what createKey() would refuse; changes nothing. */
export function checkKeyRequest(
  stores: Stores,
  call: Call,
  request: KeyRequest,
): Pick<ApiKey, 'permissions' | 'prefix' | 'budget' | 'bounds'> {
  if (request.buckets.length === 0 || request.buckets.length > keyBucketCountMax) {
    throw new Refusal(
      'InvalidArgument',
      `An API key needs 1 to ${keyBucketCountMax} buckets; got ${request.buckets.length}.`,
    );
  }
  if (request.name.length > keyNameLengthMax || hasControlCharacter(request.name)) {
    throw new Refusal(
      'InvalidArgument',
      `The name of a key must have at most ${keyNameLengthMax} characters and no control characters.`,
    );
  }
  if (request.expiresAtNs !== undefined && request.expiresAtNs <= call.nowNs) {
    throw new Refusal(
      'InvalidArgument',
      'The expiry of the key is in the past: give a later time, or omit it.',
    );
  }
  if (request.expiresAtNs !== undefined && request.expiresAtNs > timeNsMax) {
    throw new Refusal(
      'InvalidArgument',
      'The expiry of the key is beyond the year 2554: give nanoseconds since 1970, or omit it.',
    );
  }
  for (const name of request.buckets) {
    ownedBucket(stores, call, name);
    if (notedKeys(stores, name, call.nowNs).live.length >= liveKeyCountMax) {
      throw new Refusal(
        'QuotaExceeded',
        `Bucket ${name} has ${liveKeyCountMax} live API keys: revoke one first.`,
        { limit: liveKeyCountMax },
      );
    }
  }
  const { permissions: names, prefix = '', budget = {} } = request;
  const granted = parsePermissions(names);
  const parsed = { prefix: parseKeyPrefix(prefix), budget: parseKeyBudget(budget, granted) };
  return { permissions: granted, ...parsed, bounds: boundsOf(request, granted) };
}

/** A key with `write` could exceed the limits by copies. */
function boundsOf(
  { maxFileBytes = 0n, maxFiles = 0n }: KeyRequest,
  granted: readonly Permission[],
): UploadBounds | undefined {
  if (maxFileBytes === 0n && maxFiles === 0n) return undefined;
  if (!granted.includes('upload') || granted.includes('write')) {
    throw new Refusal(
      'InvalidArgument',
      'maxFileBytes and maxFiles are for keys with upload and without write, which only add files.',
    );
  }
  return {
    fileBytesMax: parseUploadLimit('maxFileBytes', maxFileBytes),
    filesMax: parseUploadLimit('maxFiles', maxFiles),
    ...{ fileCount: 0, isPath: false, isLink: false, parent: emptyBytes },
  };
}

function parsePermissions(names: readonly string[]): Permission[] {
  const known = permissions.filter((permission) => names.includes(permission));
  const unknown = names.find((name) => !(permissions as readonly string[]).includes(name));
  if (unknown !== undefined || known.length === 0) {
    throw new Refusal(
      'InvalidArgument',
      `Permissions are one or more of ${permissions.join(', ')}; got ${quote(names.join(', '))}.`,
    );
  }
  return known;
}

/** The secret is returned here and never again. */
export function createKey(
  stores: Stores,
  call: Call,
  request: KeyRequest,
): { key: ApiKey; secret: string } {
  const granted = checkKeyRequest(stores, call, request);
  const secret = makeSecret(stores.secrets.random(secretBytes));
  const hash = secretHash(secret);
  const key: ApiKey = {
    id: keyId(hash),
    hash,
    hint: secret.slice(0, 8),
    name: request.name,
    buckets: [...new Set(request.buckets.map(parseBucketId))],
    ...granted,
    creator: call.caller.principal,
    createdAtNs: call.nowNs,
    expiresAtNs: request.expiresAtNs ?? 0n,
    revokedAtNs: 0n,
  };
  for (const bucketId of key.buckets) {
    for (const gone of notedKeys(stores, bucketId, call.nowNs).expired) {
      forgetKey(stores.directory, { hash: gone.hash, buckets: [bucketId] });
    }
  }
  saveKey(stores, key);
  noteKey(stores.directory, key);
  for (const bucketId of key.buckets) noteKeyChange(stores, 'key.created', bucketId, key);
  return { key, secret };
}

function noteKeyChange(
  stores: Stores,
  kind: 'key.created' | 'key.revoked',
  bucketId: string,
  { id }: ApiKey,
): void {
  const bucket = findBucket(stores, bucketId);
  if (bucket !== undefined) stores.journal.note(bucket.id, { kind, subject: id });
}

/** Returns the bucket's keys: at most 100, because creating a key first clears expired ones. */
function notedKeys(
  stores: Stores,
  bucketId: string,
  nowNs: bigint,
): { readonly live: NotedKey[]; readonly expired: NotedKey[] } {
  const keys = bucketKeys(stores.directory, bucketId);
  const isLive = (key: NotedKey) => key.expiresAtNs === 0n || key.expiresAtNs > nowNs;
  return { live: keys.filter(isLive), expired: keys.filter((key) => !isLive(key)) };
}

/** Returns the live keys of the bucket, the oldest first. For its owners. */
export function listKeys(stores: Stores, call: Call, bucketName: string): ApiKey[] {
  const bucket = ownedBucket(stores, call, bucketName);
  const keys = notedKeys(stores, bucket.id, call.nowNs).live.map(({ hash }) =>
    present(findKeyByHash(stores, hash), 'key of the directory'),
  );
  keys.sort((left, right) => Number(left.createdAtNs - right.createdAtNs));
  const isOwned = ownershipOf(stores, call);
  return keys.map((key) => ({ ...key, buckets: key.buckets.filter(isOwned) }));
}

/** Returns a function that reports whether the caller owns a bucket, with one look-up for each. */
function ownershipOf(stores: Stores, call: Call): (bucketId: string) => boolean {
  const known = new Map<string, boolean>();
  return (bucketId) => {
    const isOwned = known.get(bucketId) ?? isOwner(stores, call, bucketId);
    known.set(bucketId, isOwned);
    return isOwned;
  };
}

/**
 * Removes the key from those of its buckets that the caller owns, and ends it when no bucket is
 * left. A repetition changes nothing. For owners.
 */
export function revokeKey(stores: Stores, call: Call, id: string): void {
  const key = checkRevocation(stores, call, id);
  if (key.revokedAtNs === 0n) {
    takeBuckets(stores, call, { key, buckets: key.buckets.filter(ownershipOf(stores, call)) });
  }
}

/** Refuses what revokeKey() would refuse; changes nothing. */
export function checkRevocation(stores: Stores, call: Call, id: string): ApiKey {
  const hash = hashOfKeyId(stores.directory, id);
  const key = hash === undefined ? undefined : findKeyByHash(stores, hash);
  if (key === undefined || !key.buckets.some(ownershipOf(stores, call))) {
    throw new Refusal(
      'AccessDenied',
      `API key ${quote(id)} does not exist in the caller's buckets: listApiKeys shows their ids.`,
    );
  }
  return key;
}

/**
 * Removes keys from the bucket. Without a creator it removes all keys, so that they give no right
 * to a later bucket with the same id; with one, the keys that this former owner created.
 */
export function withdrawKeys(
  stores: Stores,
  call: Call,
  from: { readonly bucketId: string; readonly creator?: Uint8Array },
): void {
  const { bucketId, creator } = from;
  for (const { hash } of bucketKeys(stores.directory, bucketId)) {
    const key = present(findKeyByHash(stores, hash), 'key of the directory');
    if (creator === undefined || bytesEqual(key.creator, creator)) {
      takeBuckets(stores, call, { key, buckets: [bucketId] });
    }
  }
}

/** Removes the buckets from the key and ends the uploads that the key began in them. */
function takeBuckets(
  stores: Stores,
  call: Call,
  taken: { readonly key: ApiKey; readonly buckets: readonly string[] },
): void {
  const { key, buckets } = taken;
  const left = key.buckets.filter((id) => !buckets.includes(id));
  const isOver = left.length === 0;
  // A revoked key keeps its buckets, because their owners are the ones who may see it.
  const change = isOver ? { revokedAtNs: call.nowNs } : { buckets: left };
  saveKey(stores, { ...key, ...change });
  forgetKey(stores.directory, { hash: key.hash, buckets });
  for (const bucketId of buckets) {
    endLinksOf(stores, key.hash, bucketId);
    endUploadsOf(stores, bucketId, keyHolder(key.hash));
    removeUploadLinks(stores, bucketId, { keyHash: key.hash });
    noteKeyChange(stores, 'key.revoked', bucketId, key);
  }
}
