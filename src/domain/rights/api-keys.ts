// API keys: secrets made from the network's randomness. Only the SHA-256 of a secret is stored, by
// which the key is found; only the answer that creates the key contains the secret.

import { emptyBytes } from '../../lib/bytes.ts';
import { encodeHex } from '../../lib/hex.ts';
import { keyBytesPerHourDefault, keyUpdatesPerHourDefault } from '../../limits.ts';
import { RecordReader, RecordWriter } from '../../storage/codec.ts';
import { Refusal } from '../shared/refusal.ts';
import type { Stores } from '../shared/stores.ts';
import { looksLikeKey, secretHash } from './api-key-secrets.ts';

export type Permission = 'read' | 'write' | 'delete';
export const permissions: readonly Permission[] = ['read', 'write', 'delete'];

/** The key's hourly allowance, see key-budgets.ts; 0: no limit. */
export interface KeyBudget {
  readonly updatesPerHour: number;
  readonly bytesPerHour: number;
}

export interface ApiKey {
  readonly id: string;
  readonly hash: Uint8Array;
  /** The first eight characters of the secret. */
  readonly hint: string;
  readonly name: string;
  readonly buckets: readonly string[];
  readonly permissions: readonly Permission[];
  /** The prefix of all paths that the key may use in each of its buckets; '' matches every path. */
  readonly prefix: string;
  /** Principal that created it; empty for keys of version 0.1.0, which did not record it. */
  readonly creator: Uint8Array;
  readonly createdAtNs: bigint;
  /** 0n: never. */
  readonly expiresAtNs: bigint;
  /** 0n: not revoked. */
  readonly revokedAtNs: bigint;
  readonly budget: KeyBudget;
}

// 0: version 4 | permissions u8: 1 read, 2 write, 4 delete | created u64 | expires u64
//    | revoked u64 | creator (length, bytes) | updates per hour u32 | bytes per hour u64
//    | texts: hint, name, prefix, bucket id …
// The key in the map is the SHA-256 of the secret. Version 1, which version 0.1.0 wrote, has no
// creator, no budget and no prefix.
const version = 4;
const formerVersion = 1;

/** Returns the budget of a key that was created without one, such as keys of an earlier version. */
export function defaultKeyBudget(granted: readonly Permission[]): KeyBudget {
  return granted.includes('read')
    ? { updatesPerHour: 0, bytesPerHour: 0 }
    : { updatesPerHour: keyUpdatesPerHourDefault, bytesPerHour: keyBytesPerHourDefault };
}

export function saveKey(stores: Stores, key: ApiKey): void {
  stores.apiKeys.set(key.hash, encodeKey(key));
}

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
    .bytes(key.creator)
    .u32(key.budget.updatesPerHour)
    .u64(key.budget.bytesPerHour)
    .finish([key.hint, key.name, key.prefix, ...key.buckets]);
}

function decodeKey(hash: Uint8Array, bytes: Uint8Array): ApiKey {
  const reader = new RecordReader(bytes, version, formerVersion);
  const isFormer = reader.version === formerVersion;
  const bits = reader.u8();
  const times = { createdAtNs: reader.u64(), expiresAtNs: reader.u64(), revokedAtNs: reader.u64() };
  const creator = isFormer ? emptyBytes : reader.bytes();
  const granted = permissions.filter((_, index) => (bits & (1 << index)) !== 0);
  const budget = isFormer
    ? defaultKeyBudget(granted)
    : { updatesPerHour: reader.u32(), bytesPerHour: reader.integer() };
  const [hint = '', name = '', ...rest] = reader.texts();
  const prefix = isFormer ? '' : (rest.shift() ?? '');
  return {
    id: keyId(hash),
    hash,
    hint,
    name,
    buckets: rest,
    prefix,
    creator,
    permissions: granted,
    budget,
    ...times,
  };
}

export function keyId(hash: Uint8Array): string {
  return encodeHex(hash.subarray(0, 8));
}

/** Returns the key of that secret if it is valid now; every other secret gets the same error. */
export function findKey(stores: Stores, secret: string, nowNs: bigint): ApiKey {
  const key = looksLikeKey(secret) ? findKeyByHash(stores, secretHash(secret)) : undefined;
  if (key === undefined || !isKeyGood(key, nowNs)) {
    throw new Refusal(
      'InvalidApiKey',
      'The API key is unknown, revoked or expired: send one that createApiKey returned.',
    );
  }
  return key;
}

export function findKeyByHash(stores: Stores, hash: Uint8Array): ApiKey | undefined {
  const bytes = stores.apiKeys.get(hash);
  return bytes === undefined ? undefined : decodeKey(hash, bytes);
}

/** Returns true if the key is neither revoked nor expired. */
export function isKeyGood(key: ApiKey, nowNs: bigint): boolean {
  return key.revokedAtNs === 0n && (key.expiresAtNs === 0n || key.expiresAtNs > nowNs);
}
