// API keys: secrets made from the network's randomness. Only the SHA-256 of a secret is stored, by
// which the key is found; only the answer that creates the key contains the secret.

import { present } from '../../lib/assert.ts';
import { concatBytes, emptyBytes } from '../../lib/bytes.ts';
import { encodeHex } from '../../lib/hex.ts';
import { decodeUtf8, encodeUtf8 } from '../../lib/text.ts';
import { keyBytesPerHourDefault, keyUpdatesPerHourDefault } from '../../limits.ts';
import { packFields, RecordReader, requireVersion, unpackFields } from '../../storage/codec.ts';
import { Refusal } from '../shared/refusal.ts';
import type { Stores } from '../shared/stores.ts';
import { looksLikeKey, secretHash } from './api-key-secrets.ts';

/**
 * retain: sets retention and holds, and bypasses governance; audit: reads the journal; monitor:
 * reads the metrics; upload: adds files, which `write` includes. Owners grant them explicitly.
 */
export const permissions = [
  'read',
  'write',
  'delete',
  'retain',
  'audit',
  'monitor',
  'upload',
] as const;
export type Permission = (typeof permissions)[number];
/** The permissions of a key that may do everything with files that retention allows. */
export const filePermissions: readonly Permission[] = ['read', 'write', 'delete'];

/** The key's hourly allowance, see key-budgets.ts; 0: no limit. */
export interface KeyBudget {
  readonly updatesPerHour: number;
  readonly bytesPerHour: number;
}

/** Limits of a key for its uploads, see upload-bounds.ts. */
export interface UploadBounds {
  /** 0: no limit besides that of every file. */
  readonly fileBytesMax: number;
  /** 0: no limit. */
  readonly filesMax: number;
  /** Files stored so far, if their number is limited. */
  readonly fileCount: number;
  /** Whether the prefix is the only path that the key may use. */
  readonly isPath: boolean;
  /** Whether it is an upload link, whose secret belongs in URLs. */
  readonly isLink: boolean;
  /** Hash of the API key that created the link; empty if a principal did. */
  readonly parent: Uint8Array;
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
  /** Absent: only the prefix and the permissions limit uploads. */
  readonly bounds?: UploadBounds | undefined;
}

// Small fields: version 5, permissions (1 read, 2 write, 4 delete, 8 retain, 16 audit, 32 monitor,
// 64 upload), bytes of the creator, flags (1 bounds, 2 one path, 4 link), bytes of the parent;
// longs: created, expires, revoked; numbers: updates per hour, bytes per hour; rest: creator, with
// bounds the parent and three f64 (bytes of a file, files, stored files), then texts: hint, name,
// prefix, bucket id … See packFields(). The key in the map is the SHA-256 of the secret. Release
// 0.2.0 wrote neither flags nor bounds.
//
// Release 0.1.0 wrote version 1, without creator, budget and prefix:
// 0: version 1 | permissions u8 | created u64 | expires u64 | revoked u64 | texts: hint, name,
//    bucket id …
const version = 5;
const formerVersion = 1;
const fieldCount = { longs: 3, numbers: 2 } as const;

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
  const texts = encodeUtf8([key.hint, key.name, key.prefix, ...key.buckets].join('\0'));
  return packFields({
    small: [version, bits, key.creator.length, flagsOf(key), key.bounds?.parent.length ?? 0],
    longs: [key.createdAtNs, key.expiresAtNs, key.revokedAtNs],
    numbers: [key.budget.updatesPerHour, key.budget.bytesPerHour],
    rest: concatBytes(key.creator, boundBytes(key), texts),
  });
}

const flagBits = { bounds: 1, path: 2, link: 4 } as const;
const boundNumbers = 3;

function flagsOf({ bounds }: ApiKey): number {
  if (bounds === undefined) return 0;
  const path = bounds.isPath ? flagBits.path : 0;
  return flagBits.bounds | path | (bounds.isLink ? flagBits.link : 0);
}

function boundBytes({ bounds }: ApiKey): Uint8Array {
  if (bounds === undefined) return emptyBytes;
  const { parent, fileBytesMax, filesMax, fileCount } = bounds;
  const numbers = Float64Array.of(fileBytesMax, filesMax, fileCount);
  return concatBytes(parent, new Uint8Array(numbers.buffer));
}

/** `bytes`: from the parent on. */
function readBounds(bytes: Uint8Array, flags: number, parentBytes: number): UploadBounds {
  const numbers = bytes.slice(parentBytes, parentBytes + 8 * boundNumbers);
  const [fileBytesMax = 0, filesMax = 0, fileCount = 0] = new Float64Array(numbers.buffer);
  return {
    ...{ fileBytesMax, filesMax, fileCount },
    isPath: (flags & flagBits.path) !== 0,
    isLink: (flags & flagBits.link) !== 0,
    parent: bytes.slice(0, parentBytes),
  };
}

function decodeKey(hash: Uint8Array, bytes: Uint8Array): ApiKey {
  if (bytes[0] === formerVersion) return decodeFormer(hash, bytes);
  requireVersion(bytes, version);
  const { small, longs, numbers, rest } = unpackFields(bytes, fieldCount);
  const [, bits = 0, creatorBytes = 0, flags = 0, parentBytes = 0] = small;
  const bounds =
    flags === 0 ? undefined : readBounds(rest.subarray(creatorBytes), flags, parentBytes);
  const textsAt = creatorBytes + (bounds === undefined ? 0 : parentBytes + 8 * boundNumbers);
  const texts = present(decodeUtf8(rest.subarray(textsAt)), 'texts of a key').split('\0');
  const [hint = '', name = '', prefix = ''] = texts;
  return {
    id: keyId(hash),
    hash,
    hint,
    name,
    buckets: texts.slice(3),
    prefix,
    creator: rest.subarray(0, creatorBytes),
    permissions: permissionsOf(bits),
    bounds,
    budget: { updatesPerHour: numbers[0] ?? 0, bytesPerHour: numbers[1] ?? 0 },
    createdAtNs: longs[0] ?? 0n,
    expiresAtNs: longs[1] ?? 0n,
    revokedAtNs: longs[2] ?? 0n,
  };
}

function permissionsOf(bits: number): Permission[] {
  return permissions.filter((_, index) => (bits & (1 << index)) !== 0);
}

function decodeFormer(hash: Uint8Array, bytes: Uint8Array): ApiKey {
  const reader = new RecordReader(bytes, formerVersion);
  const granted = permissionsOf(reader.u8());
  const times = { createdAtNs: reader.u64(), expiresAtNs: reader.u64(), revokedAtNs: reader.u64() };
  const [hint = '', name = '', ...buckets] = reader.texts();
  const rights = { buckets, permissions: granted, prefix: '', budget: defaultKeyBudget(granted) };
  return { id: keyId(hash), hash, hint, name, creator: emptyBytes, ...rights, ...times };
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
