// The times at which sessions are checked: notes ordered by time. A session that was used since
// gets a new note; a session that must end at once has a second note.

import { concatBytes } from '../../lib/bytes.ts';
import { encodeHex } from '../../lib/hex.ts';
import { u64Key } from '../../storage/codec.ts';
import type { Stores } from '../shared/stores.ts';
import { expiresAtNs, findSession, sessionKey, type UploadSession } from './upload-session.ts';

// Key: time u64, big-endian | upload id. Value: version 1.
const noteVersion = 1;
const doomedAtNs = 0n;

/**
 * Notes when to check the session: at its expiry or, if earlier, at that of the key that began it
 * (0n: never). expireUploads() notes a session again if it was used since.
 */
export function scheduleExpiry(
  stores: Stores,
  session: UploadSession,
  keyExpiresAtNs: bigint = 0n,
): void {
  const own = expiresAtNs(session);
  note(
    stores,
    session.uploadId,
    keyExpiresAtNs > 0n && keyExpiresAtNs < own ? keyExpiresAtNs : own,
  );
}

/** Adds a note to end the session now, besides its other note. */
export function doomUpload(stores: Stores, uploadId: string): void {
  note(stores, uploadId, doomedAtNs);
}

function note(stores: Stores, uploadId: string, atNs: bigint): void {
  const key = concatBytes(u64Key(atNs), sessionKey(uploadId));
  stores.uploadExpirations.set(key, Uint8Array.of(noteVersion));
}

/** Returns the time of the first note. */
export function nextUploadCheckNs(stores: Stores): bigint | undefined {
  const key = stores.uploadExpirations.firstKey();
  return key && new DataView(key.buffer, key.byteOffset).getBigUint64(0);
}

export interface DueSession {
  /** Absent if the session was already removed through its other note. */
  readonly session: UploadSession | undefined;
  /** Whether it must end now, whatever its own expiry. */
  readonly isDoomed: boolean;
}

/** Removes the first note whose time has come and returns its session. */
export function takeDueSession(stores: Stores, nowNs: bigint): DueSession | undefined {
  const key = stores.uploadExpirations.firstKey();
  const atNs = nextUploadCheckNs(stores);
  if (key === undefined || atNs === undefined || atNs > nowNs) return undefined;
  stores.uploadExpirations.delete(key);
  const session = findSession(stores, encodeHex(key.subarray(8)));
  return { session, isDoomed: atNs === doomedAtNs };
}
