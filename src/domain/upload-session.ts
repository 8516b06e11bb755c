// The record of an upload session: its codec, its look-up by upload id, and when it ends. The rules
// of uploading are in uploads.ts.

import { missingBits } from '../lib/bit-set.ts';
import { concatBytes, emptyBytes } from '../lib/bytes.ts';
import { decodeHex, encodeHex } from '../lib/hex.ts';
import {
  chunkBytesMax,
  chunkCountMax,
  missingReportedMax,
  uploadIdleNs,
  uploadLifetimeNs,
} from '../limits.ts';
import { RecordReader, RecordWriter, u64Key } from '../storage/codec.ts';
import { quote } from './names.ts';
import { Refusal } from './refusal.ts';
import type { Stores } from './stores.ts';

const statuses = ['active', 'completed', 'cancelled', 'expired'] as const;
/** What is stored; an active one with every chunk is shown as "ready". */
export type StoredStatus = (typeof statuses)[number];

export interface UploadSession {
  /** 32 hexadecimal digits: 128 random bits, which are also the right to go on with it. */
  readonly uploadId: string;
  readonly status: StoredStatus;
  readonly contentId: number;
  readonly bucketId: string;
  readonly path: string;
  readonly contentType: string;
  readonly tags: readonly string[];
  readonly totalSize: number;
  readonly uploadedSize: number;
  readonly receivedChunks: number;
  /** Length of the largest chunk so far, 0 before the first: every chunk but the last has it. */
  readonly chunkSize: number;
  /** A bit for each chunk index received. */
  readonly received: Uint8Array;
  /** One more than the highest chunk index received. */
  readonly chunkIndexEnd: number;
  /** Principal that began it. */
  readonly owner: Uint8Array;
  /** SHA-256 of the API key that it was begun with; empty when by a principal's right. */
  readonly keyHash: Uint8Array;
  readonly createdAtNs: bigint;
  readonly updatedAtNs: bigint;
  readonly fileId: string;
}

// 0: version 1 | status u8 | content u64 | total size u64 | uploaded u64 | received chunks u32
//    | chunk size u32 | chunk index end u32 | received bits (length, bytes) | owner (length, bytes)
//    | key hash (length, bytes) | created u64 | updated u64
//    | texts: bucket id, path, content type, file id, tag …
//    The key of the map is the upload id's bytes.
const version = 1;

function encodeSession(session: UploadSession): Uint8Array {
  return new RecordWriter(version)
    .u8(statuses.indexOf(session.status))
    .u64(session.contentId)
    .u64(session.totalSize)
    .u64(session.uploadedSize)
    .u32(session.receivedChunks)
    .u32(session.chunkSize)
    .u32(session.chunkIndexEnd)
    .bytes(session.received)
    .bytes(session.owner)
    .bytes(session.keyHash)
    .u64(session.createdAtNs)
    .u64(session.updatedAtNs)
    .finish([session.bucketId, session.path, session.contentType, session.fileId, ...session.tags]);
}

function decodeSession(uploadId: string, bytes: Uint8Array): UploadSession {
  const reader = new RecordReader(bytes);
  const head = {
    status: statuses[reader.u8()] ?? 'expired',
    contentId: reader.integer(),
    totalSize: reader.integer(),
    uploadedSize: reader.integer(),
    receivedChunks: reader.u32(),
    chunkSize: reader.u32(),
    chunkIndexEnd: reader.u32(),
    received: reader.bytes(),
    owner: reader.bytes(),
    keyHash: reader.bytes(),
    createdAtNs: reader.u64(),
    updatedAtNs: reader.u64(),
  };
  const [bucketId = '', path = '', contentType = '', fileId = '', ...tags] = reader.texts();
  return { uploadId, ...head, bucketId, path, contentType, fileId, tags };
}

export function uploadIdOf(random: Uint8Array): string {
  return encodeHex(random.subarray(0, 16));
}

export function saveSession(stores: Stores, session: UploadSession): void {
  stores.uploads.set(sessionKey(session.uploadId), encodeSession(session));
}

function sessionKey(uploadId: string): Uint8Array {
  return (uploadId.length === 32 ? decodeHex(uploadId) : undefined) ?? emptyBytes;
}

/** The session of that id; refuses an unknown one. */
export function getSession(stores: Stores, uploadId: string): UploadSession {
  const bytes = stores.uploads.get(sessionKey(uploadId.toLowerCase()));
  if (bytes === undefined) {
    throw new Refusal('NoSuchUpload', `There is no upload ${quote(uploadId)}: begin a new one.`);
  }
  return decodeSession(uploadId.toLowerCase(), bytes);
}

/** 24 hours after the last accepted chunk, 7 days after the beginning at the latest. */
export function expiresAtNs(session: UploadSession): bigint {
  const idle = session.updatedAtNs + uploadIdleNs;
  const life = session.createdAtNs + uploadLifetimeNs;
  if (life < idle) {
    return life;
  }
  return idle;
}

/** The number of chunks, as far as the chunks so far tell their length. */
export function chunkCount(session: UploadSession): number {
  return Math.ceil(session.totalSize / (session.chunkSize || chunkBytesMax));
}

/** Notes when the session is to be looked at; a session that was used since is noted anew then. */
export function scheduleExpiry(stores: Stores, session: UploadSession): void {
  const key = concatBytes(u64Key(expiresAtNs(session)), sessionKey(session.uploadId));
  stores.uploadExpirations.set(key, Uint8Array.of(version));
}

/** The session that is to be looked at first, if its time has come; its note is taken away. */
export function takeDueSession(stores: Stores, nowNs: bigint): UploadSession | undefined {
  const key = stores.uploadExpirations.firstKey();
  if (key === undefined || new DataView(key.buffer, key.byteOffset).getBigUint64(0) > nowNs) {
    return undefined;
  }
  stores.uploadExpirations.delete(key);
  return getSession(stores, encodeHex(key.subarray(8)));
}

export function deleteSession(stores: Stores, session: UploadSession): void {
  stores.uploads.delete(sessionKey(session.uploadId));
}

/** Indexes that have not arrived, at most 100, as far as the length of a chunk is known. */
export function missingChunks(session: UploadSession): number[] {
  const end = isWhole(session)
    ? session.chunkIndexEnd
    : Math.max(chunkCount(session), session.chunkIndexEnd);
  return missingBits(session.received, Math.min(end, chunkCountMax), missingReportedMax);
}

/** No hole among the chunks, and every byte there. */
export function isWhole(session: UploadSession): boolean {
  return (
    session.uploadedSize === session.totalSize && session.receivedChunks === session.chunkIndexEnd
  );
}
