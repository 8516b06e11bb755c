// The open uploads of each bucket by holder. Limits and lists use them, and uploads end together
// with the right under which they began. In the directory, see bucket-directory.ts:
//
//   4 | bucket id | 0 | holder 8 | upload id 16                       -> bytes that it reserves
//   15 | bucket id | 0 | holder 8 | SHA-256 of its token, 8 | upload id 16  -> 0
//
// The holder is the first 8 bytes of the SHA-256 of the API key or, without one, of the principal
// that began the upload. An upload is listed from its beginning to its end. Kind 15 finds the
// upload of a token without reading the others, until the record of the session is removed or the
// token begins another one; uploads without a token have no such entry.

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
/** Greater than every upload id. */
const afterIds = new Uint8Array(uploadIdBytes + 1).fill(0xff);

export interface OpenUpload {
  readonly uploadId: string;
  /** Reserved bytes of the bucket's quota. */
  readonly reservedBytes: number;
}

/** Returns the holder for an API key, from the key's SHA-256. */
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

/** Adds the entry by which uploadsWithToken() finds the session. */
export function noteToken(stores: Stores, session: UploadSession): void {
  if (session.token !== '') stores.directory.insert(tokenKey(session), 0n);
}

/**
 * Returns ids of the holder's uploads in the bucket whose token has the same hash; the caller
 * compares the tokens.
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

/** Stores the bytes that the open upload reserves, or changes them. */
export function noteUpload(stores: Stores, session: UploadSession, reservedBytes: number): void {
  stores.directory.insert(entryKey(session), BigInt(reservedBytes));
}

export function forgetUpload(stores: Stores, session: UploadSession): void {
  stores.directory.remove(entryKey(session));
}

/** Removes the entry of noteToken(), if it exists. */
export function forgetToken(stores: Stores, session: UploadSession): void {
  if (session.token !== '') stores.directory.remove(tokenKey(session));
}

/** Returns the open uploads of a bucket or of one holder, up to the limit of a bucket. */
export function openUploadsOf(
  stores: Stores,
  bucketId: string,
  holder: Uint8Array = new Uint8Array(0),
): OpenUpload[] {
  const prefix = concatBytes(scopeOf(bucketId), holder);
  const rest = new Uint8Array(holderBytes - holder.length).fill(0xff);
  return entriesBetween(stores, prefix, concatBytes(prefix, rest, afterIds));
}

/** Returns the uploads between the two keys, up to the limit of a bucket. */
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

/** Makes upkeep end the holder's uploads soon, a bounded number per message. */
export function endUploadsOf(stores: Stores, bucketId: string, holder: Uint8Array): void {
  for (const { uploadId } of openUploadsOf(stores, bucketId, holder)) doomUpload(stores, uploadId);
}
