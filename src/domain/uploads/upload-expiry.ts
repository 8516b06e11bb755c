// When sessions are to be looked at: notes by time, the next one in front. One that was used since
// is noted anew then; one that is to end at once has a note beside its other one.

import { concatBytes } from '../../lib/bytes.ts';
import { encodeHex } from '../../lib/hex.ts';
import { u64Key } from '../../storage/codec.ts';
import type { Stores } from '../shared/stores.ts';
import { expiresAtNs, findSession, sessionKey, type UploadSession } from './upload-session.ts';

// Key: time u64, big-endian | upload id. Value: version 1.
const noteVersion = 1;
const doomedAtNs = 0n;

/**
 * Notes when the session is to be looked at, at the latest when the key expires that it was begun
 * with (0n: never); a session that was used since is noted anew then.
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

/** Notes that the session is to end now, beside its other note. */
export function doomUpload(stores: Stores, uploadId: string): void {
  note(stores, uploadId, doomedAtNs);
}

function note(stores: Stores, uploadId: string, atNs: bigint): void {
  const key = concatBytes(u64Key(atNs), sessionKey(uploadId));
  stores.uploadExpirations.set(key, Uint8Array.of(noteVersion));
}

export interface DueSession {
  /** Absent when it is gone: it had two notes. */
  readonly session: UploadSession | undefined;
  /** It is to end, whatever its own time. */
  readonly isDoomed: boolean;
}

/** The session that is to be looked at first, if its time has come; its note is taken away. */
export function takeDueSession(stores: Stores, nowNs: bigint): DueSession | undefined {
  const key = stores.uploadExpirations.firstKey();
  if (key === undefined) {
    return undefined;
  }
  const atNs = new DataView(key.buffer, key.byteOffset).getBigUint64(0);
  if (atNs > nowNs) {
    return undefined;
  }
  stores.uploadExpirations.delete(key);
  const session = findSession(stores, encodeHex(key.subarray(8)));
  return { session, isDoomed: atNs === doomedAtNs };
}
