// The record of an upload session: its codec, its look-up by upload id, and its expiry. uploads.ts
// has the rules of uploading.

import {
  chunkBytesMax,
  chunkCountMax,
  missingReportedMax,
} from '../../../packages/wire/src/limits.ts';
import type { storedHeaderNames } from '../../../packages/wire/src/stored-headers.ts';
import { missingBits } from '../../lib/bit-set.ts';
import { emptyBytes } from '../../lib/bytes.ts';
import { decodeHex, encodeHex } from '../../lib/hex.ts';
import { uploadEndedNs, uploadIdleNs, uploadLifetimeNs } from '../../limits.ts';
import { RecordReader, RecordWriter } from '../../storage/codec.ts';
import type { FileMetadata } from '../files/file-fields.ts';
import type { SealedContent } from '../keys/file-keys.ts';
import { pairsOf } from '../shared/file-metadata.ts';
import { quote } from '../shared/names.ts';
import { Refusal } from '../shared/refusal.ts';
import { allStoredHeaders } from '../shared/stored-headers.ts';
import type { Stores } from '../shared/stores.ts';

const statuses = ['active', 'completed', 'cancelled', 'expired'] as const;
/** The status as stored; an active session with every chunk is shown as "ready". */
export type StoredStatus = (typeof statuses)[number];

/** A slot of digests. */
export interface DigestPage {
  /** 0: not allocated. */
  readonly at: number;
  readonly bytes: number;
}

export interface UploadSession extends FileMetadata, SealedContent {
  /** 32 hexadecimal digits: 128 random bits, which also give the right to continue the upload. */
  readonly uploadId: string;
  readonly status: StoredStatus;
  readonly bucketId: string;
  readonly path: string;
  /** The declared size; if unknown, the bytes received so far. */
  readonly totalSize: number;
  /** False if completion determines the size. */
  readonly isSizeKnown: boolean;
  readonly uploadedSize: number;
  readonly receivedChunks: number;
  /** Length of the largest chunk so far; 0 before the first. */
  readonly chunkSize: number;
  /** One bit per received chunk index, up to the highest. */
  readonly received: Uint8Array;
  /** One more than the highest chunk index received. */
  readonly chunkIndexEnd: number;
  /** Principal that began the upload. */
  readonly owner: Uint8Array;
  /** SHA-256 of the API key that began the upload; empty if it was begun without a key. */
  readonly keyHash: Uint8Array;
  readonly createdAtNs: bigint;
  /** The time of the last accepted chunk, or of the end. */
  readonly updatedAtNs: bigint;
  /** Declared length of every chunk except the last; 0 if the client chooses. */
  readonly declaredChunkSize: number;
  /** Declared SHA-256 of the whole file; empty if absent. */
  readonly sha256: Uint8Array;
  /** Nonce counter of the next segment, which only increases. */
  readonly nextNonce: number;
  /** Slots of the chunks' digests, see upload-digests.ts. */
  readonly digestPages: readonly DigestPage[];
  /** '' if absent. */
  readonly ifMatch: string;
  readonly ifNoneMatch: string;
  /** Sent at the beginning, so that a repeated request finds the session; '' if absent. */
  readonly token: string;
  /** Stored file for a repeated completion; empty and 0 before completion. */
  readonly fileId: string;
  /** Before completion: the digest that the file must have, if a chunk declared it. */
  readonly fileDigest: Uint8Array;
  readonly fileVersion: number;
  readonly fileCreatedAtNs: bigint;
  /** Begun over HTTP, where each step needs a key: the id alone gives no right. */
  readonly isOverHttp: boolean;
  /** Whether the bucket counts the overhead of the file and lists the upload as open. */
  readonly isNoted: boolean;
  /** Whether the bytes arrive in order at an offset instead of as chunks with an index. */
  readonly isInOrder: boolean;
  /** The field Upload-Metadata as sent, if the bytes arrive in order; else ''. */
  readonly uploadMetadata: string;
}

/** The fields that determine which chunks a session accepts. */
export type SessionShape = Pick<
  UploadSession,
  | 'declaredChunkSize'
  | 'isSizeKnown'
  | 'totalSize'
  | 'uploadedSize'
  | 'receivedChunks'
  | 'chunkSize'
  | 'chunkIndexEnd'
>;

// 0: version 6 | status u8 | content u64 | total size u64 | uploaded u64 | received chunks u32
//    | chunk size u32 | chunk index end u32 | received bits (length u32, bytes)
//    | owner (length, bytes) | key hash (length, bytes) | created u64 | updated u64
//    | declared chunk size u32 | SHA-256 (length, bytes)
//    | pages of digests u8, each slot u64, bytes u32
//    | file digest (length, bytes) | file version u32 | file created u64 | key slot u64
//    | next nonce u32 | flags u8: 1 over HTTP, 2 noted, 4 of unknown size, 8 in order
//    | tags u8 | texts: bucket id, path, content type, file id, stored headers, If-Match,
//    If-None-Match, token, Upload-Metadata if in order, tag …, name and value of metadata …
//    The key of the map is the upload id's bytes. Version 0.1.0 wrote version 3: its 1,000 received
//    bits follow a length of one byte; one slot of digests u64 has space for 1,000 chunks or, if
//    declared, their number; it has no flags, token, number of tags and metadata.
const version = 6;
const formerVersion = 3;
/** Fails to compile when storedHeaderNames grows, which needs a new version of the record. */
const headerCount: (typeof storedHeaderNames)['length'] = 4;
const formerHeaderCount = 4;
/** Its place among the texts, after the stored headers, two preconditions and the token. */
const uploadMetadataAt = headerCount + 3;
const formerChunkCountMax = 1_000;
const digestBytes = 32;
const flagBits = { overHttp: 1, noted: 2, sizeUnknown: 4, inOrder: 8 } as const;

function encodeSession(session: UploadSession): Uint8Array {
  const writer = new RecordWriter(version)
    .u8(statuses.indexOf(session.status))
    .u64(session.contentId)
    .u64(session.totalSize)
    .u64(session.uploadedSize)
    .u32(session.receivedChunks)
    .u32(session.chunkSize)
    .u32(session.chunkIndexEnd)
    .longBytes(session.received)
    .bytes(session.owner)
    .bytes(session.keyHash)
    .u64(session.createdAtNs)
    .u64(session.updatedAtNs)
    .u32(session.declaredChunkSize)
    .bytes(session.sha256)
    .u8(session.digestPages.length);
  for (const { at, bytes } of session.digestPages) writer.u64(at).u32(bytes);
  return writer
    .bytes(session.fileDigest)
    .u32(session.fileVersion)
    .u64(session.fileCreatedAtNs)
    .u64(session.keySlot)
    .u32(session.nextNonce)
    .u8(flagsOf(session))
    .u8(session.tags.length)
    .finish([
      session.bucketId,
      session.path,
      session.contentType,
      session.fileId,
      ...session.headers,
      session.ifMatch,
      session.ifNoneMatch,
      session.token,
      ...(session.isInOrder ? [session.uploadMetadata] : []),
      ...session.tags,
      ...session.metadata.flat(),
    ]);
}

function flagsOf({ isOverHttp, isNoted, isSizeKnown, isInOrder }: UploadSession): number {
  const known = (isOverHttp ? flagBits.overHttp : 0) | (isNoted ? flagBits.noted : 0);
  const order = isInOrder ? flagBits.inOrder : 0;
  return known | order | (isSizeKnown ? 0 : flagBits.sizeUnknown);
}

function decodeSession(uploadId: string, bytes: Uint8Array): UploadSession {
  const reader = new RecordReader(bytes, version, formerVersion);
  const isFormer = reader.version === formerVersion;
  const head = {
    status: statuses[reader.u8()] ?? 'expired',
    contentId: reader.integer(),
    totalSize: reader.integer(),
    uploadedSize: reader.integer(),
    receivedChunks: reader.u32(),
    chunkSize: reader.u32(),
    chunkIndexEnd: reader.u32(),
    received: isFormer ? reader.bytes() : reader.longBytes(),
    owner: reader.bytes(),
    keyHash: reader.bytes(),
    createdAtNs: reader.u64(),
    updatedAtNs: reader.u64(),
  };
  const tail = readTail(reader, isFormer ? head.totalSize : undefined);
  const flags = readFlags(isFormer ? 0 : reader.u8());
  const tagCount = isFormer ? undefined : reader.u8();
  const [bucketId = '', path = '', contentType = '', fileId = '', ...rest] = reader.texts();
  const names = { bucketId, path, contentType, fileId };
  const uploadMetadata = flags.isInOrder ? (rest.splice(uploadMetadataAt, 1)[0] ?? '') : '';
  const texts = decodeTexts(rest, tagCount);
  return { uploadId, ...head, ...tail, ...flags, ...names, ...texts, uploadMetadata };
}

function readFlags(flags: number) {
  return {
    isOverHttp: (flags & flagBits.overHttp) !== 0,
    isNoted: (flags & flagBits.noted) !== 0,
    isSizeKnown: (flags & flagBits.sizeUnknown) === 0,
    isInOrder: (flags & flagBits.inOrder) !== 0,
  };
}

/** `formerSize`: the declared bytes, for a record with one slot of digests. */
function readTail(reader: RecordReader, formerSize: number | undefined) {
  const declaredChunkSize = reader.u32();
  const digest = reader.bytes();
  return {
    declaredChunkSize,
    sha256: digest,
    digestPages:
      formerSize === undefined
        ? readPages(reader)
        : formerPages(reader.integer(), formerSize, declaredChunkSize),
    fileDigest: reader.bytes(),
    fileVersion: reader.u32(),
    fileCreatedAtNs: reader.u64(),
    keySlot: reader.integer(),
    nextNonce: reader.u32(),
  };
}

function readPages(reader: RecordReader): DigestPage[] {
  const pages: DigestPage[] = [];
  for (let count = reader.u8(); count > 0; count--) {
    pages.push({ at: reader.integer(), bytes: reader.u32() });
  }
  return pages;
}

function formerPages(at: number, totalSize: number, declaredChunkSize: number): DigestPage[] {
  const isDeclared = declaredChunkSize > 0;
  const chunks = isDeclared ? Math.ceil(totalSize / declaredChunkSize) : formerChunkCountMax;
  return at === 0 ? [] : [{ at, bytes: chunks * digestBytes }];
}

/** The last fields of a new session. */
export const emptyTail: Omit<ReturnType<typeof readTail>, 'keySlot'> = {
  declaredChunkSize: 0,
  sha256: emptyBytes,
  digestPages: [],
  fileDigest: emptyBytes,
  fileVersion: 0,
  fileCreatedAtNs: 0n,
  nextNonce: 0,
};

/** `tagCount`: undefined in the former version, which has neither a token nor metadata. */
function decodeTexts(texts: readonly string[], tagCount: number | undefined) {
  const isFormer = tagCount === undefined;
  const headersEnd = isFormer ? formerHeaderCount : headerCount;
  const headers = allStoredHeaders(texts.slice(0, headersEnd));
  const [ifMatch = '', ifNoneMatch = '', ...behind] = texts.slice(headersEnd);
  const [token = ''] = isFormer ? [] : behind;
  const rest = isFormer ? behind : behind.slice(1);
  const tagsEnd = tagCount ?? rest.length;
  const metadata = pairsOf(rest, tagsEnd);
  return { headers, metadata, ifMatch, ifNoneMatch, token, tags: rest.slice(0, tagsEnd) };
}

const uploadIdBytes = 16;

export function newUploadId(stores: Stores): string {
  return encodeHex(stores.secrets.random(uploadIdBytes));
}

export function saveSession(stores: Stores, session: UploadSession): void {
  stores.uploads.set(sessionKey(session.uploadId), encodeSession(session));
}

/** Returns the bytes of an upload id; no bytes for an invalid id. */
export function sessionKey(uploadId: string): Uint8Array {
  return (uploadId.length === 32 ? decodeHex(uploadId) : undefined) ?? emptyBytes;
}

/** Returns the session of that id; refuses an unknown one. */
export function getSession(stores: Stores, uploadId: string): UploadSession {
  const session = findSession(stores, uploadId);
  if (session === undefined) {
    throw noSuchUpload(uploadId);
  }
  return session;
}

export function findSession(stores: Stores, uploadId: string): UploadSession | undefined {
  const id = uploadId.toLowerCase();
  const bytes = stores.uploads.get(sessionKey(id));
  return bytes && decodeSession(id, bytes);
}

/**
 * Returns the expiry: 24 hours after the last accepted chunk, but at most 7 days after the
 * beginning. The record of an ended session is removed 24 hours after its end.
 */
export function expiresAtNs(session: UploadSession): bigint {
  if (session.status !== 'active') {
    return session.updatedAtNs + uploadEndedNs;
  }
  const idle = session.updatedAtNs + uploadIdleNs;
  const life = session.createdAtNs + uploadLifetimeNs;
  if (life < idle) {
    return life;
  }
  return idle;
}

/** Returns the number of chunks, as far as the received chunks determine their length. */
export function chunkCount(session: SessionShape): number {
  const { isSizeKnown, chunkIndexEnd, totalSize } = session;
  return isSizeKnown ? Math.ceil(totalSize / chunkSizeOf(session)) : chunkIndexEnd;
}

/** Returns the declared or received length of every chunk except the last. */
export function chunkSizeOf(session: SessionShape): number {
  return session.declaredChunkSize || session.chunkSize || chunkBytesMax;
}

/**
 * Returns the status that callers see: "ready" when every chunk has arrived, unless the size is
 * unknown; "expired" also before upkeep ends the session.
 */
export function shownStatus(session: UploadSession, nowNs: bigint): StoredStatus | 'ready' {
  if (session.status === 'active' && expiresAtNs(session) <= nowNs) {
    return 'expired';
  }
  const isReady = session.status === 'active' && session.isSizeKnown && isWhole(session);
  return isReady ? 'ready' : session.status;
}

export function noSuchUpload(uploadId: string): Refusal {
  return new Refusal('NoSuchUpload', `Upload ${quote(uploadId)} does not exist: begin a new one.`);
}

export function deleteSession(stores: Stores, session: UploadSession): void {
  stores.uploads.delete(sessionKey(session.uploadId));
}

/**
 * Returns at most 100 missing indexes, as far as the length of a chunk is known; for an unknown
 * size, those below the highest received index.
 */
export function missingChunks(session: UploadSession): number[] {
  const end = isWhole(session)
    ? session.chunkIndexEnd
    : Math.max(chunkCount(session), session.chunkIndexEnd);
  return missingBits(session.received, Math.min(end, chunkCountMax), missingReportedMax);
}

/** Whether every byte has been received, without a missing chunk. */
export function isWhole(session: UploadSession): boolean {
  return (
    session.uploadedSize === session.totalSize && session.receivedChunks === session.chunkIndexEnd
  );
}
