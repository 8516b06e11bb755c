// The open uploads of each bucket, by whose they are: for their limits and for lists of them, and
// so that they end with the right that they rest on. In the directory, see bucket-directory.ts:
//
//   4 | bucket id | 0 | holder 8 | upload id 16                       -> bytes that it reserves
//   15 | bucket id | 0 | holder 8 | SHA-256 of its token, 8 | upload id 16  -> 0
//
// The holder is the API key that an upload was begun with, else the principal: the beginning of a
// SHA-256. An upload is noted when it begins and forgotten when it ends. Kind 15 finds the upload
// that a token began without reading the others; uploads without a token have no such entry.

import { sha256 } from '../../crypto/hash.ts';
import { concatBytes } from '../../lib/bytes.ts';
import { encodeHex } from '../../lib/hex.ts';
import { encodeUtf8 } from '../../lib/text.ts';
import { openUploadCountMax } from '../../limits.ts';
import type { Stores } from '../shared/stores.ts';
import { doomUpload } from './upload-expiry.ts';
import { sessionKey, type UploadSession } from './upload-session.ts';

const kinds = { upload: 4, token: 15 } as const;
const holderBytes = 8;
const uploadIdBytes = 16;
const tokenHashBytes = 8;
/** Behind every upload id. */
const afterIds = new Uint8Array(uploadIdBytes + 1).fill(0xff);

export interface OpenUpload {
  readonly uploadId: string;
  /** Bytes of its bucket's quota. */
  readonly reservedBytes: number;
}

/** Returns the holder that stands for an API key, from the key's SHA-256. */
export function keyHolder(keyHash: Uint8Array): Uint8Array {
  return keyHash.subarray(0, holderBytes);
}

export function principalHolder(principal: Uint8Array): Uint8Array {
  return sha256(principal).subarray(0, holderBytes);
}

type Held = Pick<UploadSession, 'keyHash' | 'owner'>;

export function holderOf({ keyHash, owner }: Held): Uint8Array {
  return keyHash.length > 0 ? keyHolder(keyHash) : principalHolder(owner);
}

function scopeOf(bucketId: string, kind: number = kinds.upload): Uint8Array {
  return concatBytes(Uint8Array.of(kind), encodeUtf8(`${bucketId}\0`));
}

type Begun = Held & Pick<UploadSession, 'bucketId' | 'token'>;

function tokenScope(begun: Begun): Uint8Array {
  const hash = sha256(encodeUtf8(begun.token)).subarray(0, tokenHashBytes);
  return concatBytes(scopeOf(begun.bucketId, kinds.token), holderOf(begun), hash);
}

function tokenKey(session: UploadSession): Uint8Array {
  return concatBytes(tokenScope(session), sessionKey(session.uploadId));
}

/** Lets uploadsWithToken() find a session that is noted until it ends. */
export function noteToken(stores: Stores, session: UploadSession): void {
  if (session.token !== '') stores.directory.insert(tokenKey(session), 0n);
}

/**
 * Ids of the holder's open uploads in the bucket whose token has the same hash: the caller compares
 * the tokens themselves.
 */
export function uploadsWithToken(stores: Stores, begun: Begun): string[] {
  const scope = tokenScope(begun);
  return entriesBetween(stores, scope, concatBytes(scope, afterIds)).map(
    ({ uploadId }) => uploadId,
  );
}

function entryKey(session: UploadSession): Uint8Array {
  return concatBytes(scopeOf(session.bucketId), holderOf(session), sessionKey(session.uploadId));
}

/** Notes what the open upload reserves, or what it reserves from now on. */
export function noteUpload(stores: Stores, session: UploadSession, reservedBytes: number): void {
  stores.directory.insert(entryKey(session), BigInt(reservedBytes));
}

export function forgetUpload(stores: Stores, session: UploadSession): void {
  stores.directory.remove(entryKey(session));
  if (session.token !== '') stores.directory.remove(tokenKey(session));
}

/** Returns a bucket's open uploads, or one holder's; at most as many as a bucket may have. */
export function openUploadsOf(
  stores: Stores,
  bucketId: string,
  holder: Uint8Array = new Uint8Array(0),
): OpenUpload[] {
  const prefix = concatBytes(scopeOf(bucketId), holder);
  const rest = new Uint8Array(holderBytes - holder.length).fill(0xff);
  return entriesBetween(stores, prefix, concatBytes(prefix, rest, afterIds));
}

/** The uploads whose entries lie between the two keys, as many as a bucket may have. */
function entriesBetween({ directory }: Stores, first: Uint8Array, last: Uint8Array): OpenUpload[] {
  const start = directory.rank(first);
  const end = directory.rank(last);
  const count = Math.min(end - start, openUploadCountMax);
  const entries = count === 0 ? [] : directory.read(start, count);
  return entries.map(({ key, value }) => ({
    uploadId: encodeHex(key.subarray(key.length - uploadIdBytes)),
    reservedBytes: Number(value),
  }));
}

/** Has upkeep end the holder's uploads soon: a bounded number a message. */
export function endUploadsOf(stores: Stores, bucketId: string, holder: Uint8Array): void {
  for (const { uploadId } of openUploadsOf(stores, bucketId, holder)) doomUpload(stores, uploadId);
}
