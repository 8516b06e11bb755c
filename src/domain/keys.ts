// API keys: secrets made once from random of the network, kept only as their SHA-256, and found by
// it. The secret appears in the answer that makes it and nowhere else.

import { sha256 } from '../crypto/hash.ts';
import { assert, present } from '../lib/assert.ts';
import { encodeBase64Url } from '../lib/base64.ts';
import { encodeHex } from '../lib/hex.ts';
import { encodeUtf8, hasControlCharacter } from '../lib/text.ts';
import { keyBucketCountMax, keyNameLengthMax, liveKeyCountMax } from '../limits.ts';
import { RecordReader, RecordWriter } from '../storage/codec.ts';
import { bucketKeys, forgetKey, hashOfKeyId, type NotedKey, noteKey } from './bucket-directory.ts';
import { findBucket, getBucket } from './buckets.ts';
import type { Call } from './caller.ts';
import { isBucketOwner } from './members.ts';
import { parseBucketId, quote } from './names.ts';
import { Refusal } from './refusal.ts';
import type { Stores } from './stores.ts';

export type Permission = 'read' | 'write' | 'delete';
const permissions: readonly Permission[] = ['read', 'write', 'delete'];

export interface ApiKey {
  readonly id: string;
  readonly hash: Uint8Array;
  /** The first eight characters of the secret. */
  readonly hint: string;
  readonly name: string;
  readonly buckets: readonly string[];
  readonly permissions: readonly Permission[];
  readonly createdAtNs: bigint;
  /** 0n: never. */
  readonly expiresAtNs: bigint;
  /** 0n: not revoked. */
  readonly revokedAtNs: bigint;
}

// 0: version 1 | permissions u8: 1 read, 2 write, 4 delete | created u64 | expires u64
//    | revoked u64 | texts: hint, name, bucket id …
//    The key of the map is the SHA-256 of the secret.
const version = 1;

function encodeKey(key: ApiKey): Uint8Array {
  const bits = permissions.reduce(
    (sum, permission, index) => sum + (key.permissions.includes(permission) ? 1 << index : 0),
    0,
  );
  return new RecordWriter(version)
    .u8(bits)
    .u64(key.createdAtNs)
    .u64(key.expiresAtNs)
    .u64(key.revokedAtNs)
    .finish([key.hint, key.name, ...key.buckets]);
}

function decodeKey(hash: Uint8Array, bytes: Uint8Array): ApiKey {
  const reader = new RecordReader(bytes);
  const bits = reader.u8();
  const times = { createdAtNs: reader.u64(), expiresAtNs: reader.u64(), revokedAtNs: reader.u64() };
  const [hint = '', name = '', ...buckets] = reader.texts();
  return {
    id: keyId(hash),
    hash,
    hint,
    name,
    buckets,
    permissions: permissions.filter((_, index) => (bits & (1 << index)) !== 0),
    ...times,
  };
}

function keyId(hash: Uint8Array): string {
  return encodeHex(hash.subarray(0, 8));
}

/** Times are stored as u64. */
const timeNsMax = 2n ** 64n - 1n;

export interface KeyRequest {
  readonly name: string;
  readonly buckets: readonly string[];
  readonly permissions: readonly string[];
  readonly expiresAtNs: bigint | undefined;
}

/** Refuses what createKey() would refuse, before random is fetched. */
export function checkKeyRequest(stores: Stores, call: Call, request: KeyRequest): Permission[] {
  if (request.buckets.length === 0 || request.buckets.length > keyBucketCountMax) {
    throw new Refusal('InvalidArgument', `An API key is for 1 to ${keyBucketCountMax} buckets.`);
  }
  if (request.name.length > keyNameLengthMax || hasControlCharacter(request.name)) {
    throw new Refusal(
      'InvalidArgument',
      `The name of a key has at most ${keyNameLengthMax} characters and no control character.`,
    );
  }
  if (request.expiresAtNs !== undefined && request.expiresAtNs <= call.nowNs) {
    throw new Refusal('InvalidArgument', 'The expiry of the key is in the past.');
  }
  if (request.expiresAtNs !== undefined && request.expiresAtNs > timeNsMax) {
    throw new Refusal(
      'InvalidArgument',
      'The expiry of the key is beyond the year 2554: give nanoseconds since 1970, or none for never.',
    );
  }
  for (const name of request.buckets) {
    if (!isBucketOwner(stores, call.caller, getBucket(stores, name))) {
      throw new Refusal('AccessDenied', `Only an owner of bucket ${name} makes API keys for it.`);
    }
    if (notedKeys(stores, name, call.nowNs).live.length >= liveKeyCountMax) {
      throw new Refusal(
        'QuotaExceeded',
        `Bucket ${name} has ${liveKeyCountMax} live API keys: revoke one first.`,
        { limit: liveKeyCountMax },
      );
    }
  }
  return parsePermissions(request.permissions);
}

function parsePermissions(names: readonly string[]): Permission[] {
  const known = permissions.filter((permission) => names.includes(permission));
  const unknown = names.find((name) => !(permissions as readonly string[]).includes(name));
  if (unknown !== undefined || known.length === 0) {
    throw new Refusal(
      'InvalidArgument',
      `Permissions are one or more of read, write, delete; got ${quote(names.join(', '))}.`,
    );
  }
  return known;
}

/** `random`: 32 bytes that nobody could foresee. The secret is returned here and never again. */
export function createKey(
  stores: Stores,
  call: Call,
  request: KeyRequest & { readonly random: Uint8Array },
): { key: ApiKey; secret: string } {
  const granted = checkKeyRequest(stores, call, request);
  assert(request.random.length === 32, 'a key is made of 32 random bytes');
  const body = `efs_${encodeBase64Url(request.random)}`;
  const secret = body + checksum(body);
  const hash = sha256(encodeUtf8(secret));
  const key: ApiKey = {
    id: keyId(hash),
    hash,
    hint: secret.slice(0, 8),
    name: request.name,
    buckets: [...new Set(request.buckets.map(parseBucketId))],
    permissions: granted,
    createdAtNs: call.nowNs,
    expiresAtNs: request.expiresAtNs ?? 0n,
    revokedAtNs: 0n,
  };
  for (const bucketId of key.buckets) {
    for (const gone of notedKeys(stores, bucketId, call.nowNs).expired) {
      forgetKey(stores.directory, { hash: gone.hash, buckets: [bucketId] });
    }
  }
  stores.keys.set(hash, encodeKey(key));
  noteKey(stores.directory, key);
  return { key, secret };
}

/** Of the keys that the directory has of a bucket: at most 100, since a new one clears it first. */
function notedKeys(
  stores: Stores,
  bucketId: string,
  nowNs: bigint,
): { readonly live: NotedKey[]; readonly expired: NotedKey[] } {
  const keys = bucketKeys(stores.directory, bucketId);
  const isLive = (key: NotedKey) => key.expiresAtNs === 0n || key.expiresAtNs > nowNs;
  return { live: keys.filter(isLive), expired: keys.filter((key) => !isLive(key)) };
}

/** Live keys of the bucket, the oldest first; for its owners. */
export function listKeys(stores: Stores, call: Call, bucketName: string): ApiKey[] {
  const bucket = getBucket(stores, bucketName);
  if (!isBucketOwner(stores, call.caller, bucket)) {
    throw new Refusal('AccessDenied', `Only an owner of bucket ${bucket.id} lists its API keys.`);
  }
  const keys = notedKeys(stores, bucket.id, call.nowNs).live.map(({ hash }) =>
    present(findKeyByHash(stores, hash), 'key of the directory'),
  );
  return keys.sort((left, right) => Number(left.createdAtNs - right.createdAtNs));
}

/** For the owners of any of its buckets; a repetition changes nothing. */
export function revokeKey(stores: Stores, call: Call, id: string): void {
  const hash = hashOfKeyId(stores.directory, id);
  const key = hash === undefined ? undefined : findKeyByHash(stores, hash);
  const isOwner = (bucketId: string) => {
    const bucket = findBucket(stores, bucketId);
    return bucket !== undefined && isBucketOwner(stores, call.caller, bucket);
  };
  if (key === undefined || !(call.caller.isController || key.buckets.some(isOwner))) {
    throw new Refusal(
      'AccessDenied',
      `There is no API key ${quote(id)} for a bucket of the caller: listApiKeys shows their ids.`,
    );
  }
  if (key.revokedAtNs === 0n) {
    stores.keys.set(key.hash, encodeKey({ ...key, revokedAtNs: call.nowNs }));
    forgetKey(stores.directory, key);
  }
}

/** Before a bucket goes: a later one of the same id must not open to its keys. */
export function withdrawKeys(stores: Stores, bucketId: string, nowNs: bigint): void {
  for (const { hash } of bucketKeys(stores.directory, bucketId)) {
    const key = present(findKeyByHash(stores, hash), 'key of the directory');
    const buckets = key.buckets.filter((id) => id !== bucketId);
    const revokedAtNs = buckets.length === 0 ? nowNs : key.revokedAtNs;
    // A key keeps at least one bucket, so that its owners are known.
    const kept = buckets.length === 0 ? key.buckets : buckets;
    stores.keys.set(hash, encodeKey({ ...key, buckets: kept, revokedAtNs }));
    forgetKey(stores.directory, { hash, buckets: [bucketId] });
  }
}

const secretPattern = /^efs_[A-Za-z0-9_-]{43}[A-Za-z0-9_-]{6}$/;
const checksumLength = 6;

/** A typo is refused without a look-up; it protects nothing else. */
function checksum(body: string): string {
  return encodeBase64Url(sha256(encodeUtf8(body)).subarray(0, 4));
}

/** True for texts of the shape of a key, which do not belong in URLs. */
export function looksLikeKey(text: string): boolean {
  return secretPattern.test(text);
}

/** The key of that secret if it is good now; refuses every other one with the same words. */
export function findKey(stores: Stores, secret: string, nowNs: bigint): ApiKey {
  const key = secretPattern.test(secret) ? lookUpKey(stores, secret) : undefined;
  if (key === undefined || !isKeyGood(key, nowNs)) {
    throw new Refusal(
      'InvalidApiKey',
      'The API key is unknown, revoked or expired: send one that createApiKey returned.',
    );
  }
  return key;
}

function lookUpKey(stores: Stores, secret: string): ApiKey | undefined {
  const body = secret.slice(0, -checksumLength);
  if (checksum(body) !== secret.slice(-checksumLength)) {
    return undefined;
  }
  return findKeyByHash(stores, sha256(encodeUtf8(secret)));
}

export function findKeyByHash(stores: Stores, hash: Uint8Array): ApiKey | undefined {
  const bytes = stores.keys.get(hash);
  return bytes === undefined ? undefined : decodeKey(hash, bytes);
}

/** Neither revoked nor expired. */
export function isKeyGood(key: ApiKey, nowNs: bigint): boolean {
  return key.revokedAtNs === 0n && (key.expiresAtNs === 0n || key.expiresAtNs > nowNs);
}
