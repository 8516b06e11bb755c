// The record of a file as bytes, and its seal: a tag under the key of the file's content, over the
// record and its key in the map. Reading the file detects a record that was altered or moved to
// another path. (Lists copy records without checking the seal.)
//
//   0: version 5 | tag 16 | key slot u64 | content u64 | bytes of JSON u32
//      | the file record of the JSON interface | 0: version 3 | id u64 | size u64 | chunk size u32
//      | chunks u32 | digest (length, bytes) | version u32 | created u64 | updated u64 | leaves u8
//      | seal u64 | sealed at u64 | tags u8
//      | texts: content type, stored headers, tag …, name and value of metadata …
//   The key in the map is bucket id, NUL, path. "leaves": the version of the certified leaves made
//   from the record. "seal": a number that no other seal has, see recordNonce().
//
//   Version 0.1.0 wrote version 3 of the record, with version 1 of the fields: its numbers end with
//   "updated", and all texts after the headers are tags. Its leaves have version 1, and its bucket
//   has not counted the overhead, see record-upgrade.ts.

import { chunkCountMax } from '../../../packages/wire/src/limits.ts';
import type { storedHeaderNames } from '../../../packages/wire/src/stored-headers.ts';
import { aeadNonceBytes, aeadTagBytes, openInPlace, sealInPlace } from '../../crypto/aead.ts';
import { sha256Bytes } from '../../crypto/hash.ts';
import { assert } from '../../lib/assert.ts';
import { concatBytes, emptyBytes } from '../../lib/bytes.ts';
import { encodeUtf8 } from '../../lib/text.ts';
import { fileBytesMax } from '../../limits.ts';
import { RecordReader, RecordWriter } from '../../storage/codec.ts';
import { damagedFile } from '../contents/chunk-records.ts';
import type { Content } from '../contents/contents.ts';
import type { SealedContent } from '../keys/file-keys.ts';
import { type Metadata, pairsOf } from '../shared/file-metadata.ts';
import { type LeavesVersion, parseLeavesVersion } from '../shared/publication.ts';
import { allStoredHeaders, noStoredHeaders, type StoredHeaders } from '../shared/stored-headers.ts';
import { fileJson } from './file-view.ts';

/** The properties of a file that an upload sends besides its bytes. */
export interface FileMetadata {
  readonly contentType: string;
  readonly tags: readonly string[];
  readonly headers: StoredHeaders;
  /** The user's own metadata, see shared/file-metadata.ts. */
  readonly metadata: Metadata;
}

/** The values that make this seal unique under its key. */
export interface Seal {
  /** From nextContentId(), so no other seal has it. */
  readonly number: number;
  readonly timeNs: bigint;
}

export interface FileRecord extends Content, SealedContent, FileMetadata {
  readonly id: string;
  readonly bucketId: string;
  readonly path: string;
  readonly chunkCount: number;
  /** SHA-256 of the bytes or, for several chunks, of the chunks' digests. */
  readonly digest: Uint8Array;
  /** 1 for the first version at this path. */
  readonly version: number;
  readonly createdAtNs: bigint;
  readonly updatedAtNs: bigint;
  /** Version of its certified leaves, see publication.ts. */
  readonly leavesVersion: LeavesVersion;
}

const version = 5;
/** The version that 0.1.0 wrote; up to the times, its fields have the present offsets. */
const formerVersion = 3;
/** The difference between the versions of the record and of its fields. */
const fieldsVersionLag = 2;

interface Layout {
  /** Bytes from the end of the digest to the texts. */
  readonly numbersBytes: number;
  /** Number of stored headers after the type. */
  readonly headerCount: number;
}

/** Fails to compile when storedHeaderNames grows, which needs a new version of the record. */
const headerCount: (typeof storedHeaderNames)['length'] = 4;
const layout: Layout = { numbersBytes: 38, headerCount };
const formerLayout: Layout = { numbersBytes: 20, headerCount: 4 };
const sealAt = 21;
const sealBytes = 16;
const tagCountAt = sealAt + sealBytes;
/** Minimum number of bytes before the texts. */
const fieldsBytesMin = 78;
const tagStart = 1;
const tagEnd = tagStart + aeadTagBytes;
const jsonBytesStart = 33;
export const jsonStart = 37;
/** Offset in the fields; the length precedes it. */
const digestStart = 26;
/** Offset after the digest. */
const updatedAt = 12;
const timeBytes = 8;

const noSeal: Seal = { number: 0, timeNs: 0n };

/** Returns the record with zeros in place of its tag. Pass `seal` for a record to be sealed. */
export function encodeFile(file: FileRecord, seal: Seal = noSeal): Uint8Array {
  const json = fileJson(file);
  const head = new RecordWriter(version).zeros(aeadTagBytes).u64(file.keySlot).u64(file.contentId);
  const fields = new RecordWriter(version - fieldsVersionLag)
    .u64(BigInt(`0x${file.id}`))
    .u64(file.size)
    .u32(file.chunkSize)
    .u32(file.chunkCount)
    .bytes(file.digest)
    .u32(file.version)
    .u64(file.createdAtNs)
    .u64(file.updatedAtNs)
    .u8(file.leavesVersion)
    .u64(seal.number)
    .u64(seal.timeNs)
    .u8(file.tags.length)
    .finish([file.contentType, ...file.headers, ...file.tags, ...file.metadata.flat()]);
  return concatBytes(head.u32(json.length).finish([]), json, fields);
}

/** Returns the offset where the JSON ends. Byte by byte: a DataView takes three times as long. */
export function jsonEnd(bytes: Uint8Array): number {
  const low = (bytes[jsonBytesStart] ?? 0) + 0x100 * (bytes[jsonBytesStart + 1] ?? 0);
  const high = (bytes[jsonBytesStart + 2] ?? 0) + 0x100 * (bytes[jsonBytesStart + 3] ?? 0);
  return jsonStart + low + 0x1_0000 * high;
}

/**
 * Returns the offset where the JSON ends if the JSON and the fields have the expected layout, else
 * 0. For lists, which do not check the seal.
 */
export function laidOutJsonEnd(bytes: Uint8Array): number {
  if (bytes.length < jsonStart || !isKnownVersion(bytes)) return 0;
  const end = jsonEnd(bytes);
  const isRecord =
    bytes[jsonStart] === 0x7b &&
    bytes[end - 1] === 0x7d &&
    bytes[end] === (bytes[0] ?? 0) - fieldsVersionLag &&
    bytes[end + 25] === sha256Bytes &&
    bytes.length >= end + fieldsBytesMin;
  return isRecord ? end : 0;
}

function isKnownVersion(bytes: Uint8Array): boolean {
  return bytes[0] === version || bytes[0] === formerVersion;
}

/** Whether the bucket has counted the file's overhead and its leaves have the present version. */
export function isUpgraded(bytes: Uint8Array): boolean {
  return bytes[0] !== formerVersion;
}

function layoutOf(bytes: Uint8Array): Layout {
  return isUpgraded(bytes) ? layout : formerLayout;
}

/** Returns the number of texts before the tags: the type and the stored headers. */
export function tagsStart(bytes: Uint8Array): number {
  return 1 + layoutOf(bytes).headerCount;
}

/** Returns a stand-in for a damaged record that is replaced or deleted; its slots are unknown. */
export function unreadableFile(bucketId: string, path: string): FileRecord {
  const content = { contentId: 0, keySlot: 0, size: 0, chunkSize: 1, chunkCount: 0 };
  const metadata = { contentType: '', tags: [], headers: noStoredHeaders, metadata: [] };
  const times = { createdAtNs: 0n, updatedAtNs: 0n };
  const history = { id: '', digest: emptyBytes, version: 0, ...times, leavesVersion: 1 } as const;
  return { bucketId, path, ...content, ...metadata, ...history };
}

/** Decodes a record; refuses other bytes with IntegrityError. isSealed() detects alterations. */
export function decodeFile(bucketId: string, path: string, bytes: Uint8Array): FileRecord {
  try {
    return decodeRecord(bucketId, path, bytes);
  } catch {
    throw damagedFile();
  }
}

/** Returns the file's key slot and content; throws IntegrityError unless the bytes are a record. */
export function decodeHead(bytes: Uint8Array): SealedContent {
  if (!isKnownVersion(bytes) || bytes.length < jsonStart) {
    throw damagedFile();
  }
  const reader = new RecordReader(bytes, bytes[0] ?? 0).skip(aeadTagBytes);
  return { keySlot: reader.integer(), contentId: reader.integer() };
}

/** Builds one object literal: spreading others into it would cost as much as reading them. */
function decodeRecord(bucketId: string, path: string, bytes: Uint8Array): FileRecord {
  const { keySlot, contentId } = decodeHead(bytes);
  const known = bytes[0] ?? 0;
  const reader = new RecordReader(bytes.subarray(jsonEnd(bytes)), known - fieldsVersionLag);
  const id = fileId(reader.u64());
  const size = reader.integer();
  const chunkSize = reader.u32();
  const chunkCount = reader.u32();
  assert(size <= fileBytesMax && chunkCount <= chunkCountMax, 'a file has a possible size');
  const digest = reader.bytes();
  const fileVersion = reader.u32();
  const createdAtNs = reader.u64();
  const updatedAtNs = reader.u64();
  const leavesVersion = parseLeavesVersion(known === version ? reader.u8() : 1);
  const tagCount = known === version ? reader.skip(sealBytes).u8() : undefined;
  const texts = reader.texts();
  const headersEnd = tagsStart(bytes);
  const tagsEnd = tagCount === undefined ? texts.length : headersEnd + tagCount;
  return {
    bucketId,
    path,
    keySlot,
    contentId,
    id,
    size,
    chunkSize,
    chunkCount,
    digest,
    version: fileVersion,
    createdAtNs,
    updatedAtNs,
    leavesVersion,
    contentType: texts[0] ?? '',
    headers: allStoredHeaders(texts.slice(1, headersEnd)),
    tags: texts.slice(headersEnd, tagsEnd),
    metadata: pairsOf(texts, tagsEnd),
  };
}

/** Returns the offset of the numbers after the digest. */
function numbersStart(bytes: Uint8Array): number {
  const digest = jsonEnd(bytes) + digestStart;
  return digest + (bytes[digest - 1] ?? 0);
}

/** Returns the offset of the texts. */
export function numbersEnd(bytes: Uint8Array): number {
  return numbersStart(bytes) + layoutOf(bytes).numbersBytes;
}

/** Returns undefined for a record in which all texts after the headers are tags. */
export function tagCountOf(bytes: Uint8Array): number | undefined {
  return isUpgraded(bytes) ? bytes[numbersStart(bytes) + tagCountAt] : undefined;
}

/**
 * Returns the nonce: the number of the seal in the upper half of u32, and its time. It differs from
 * nonces of segments, whose counters stay in the lower half, from those of other records that share
 * the content, and, after a snapshot is loaded, from those used before. In version 3, the nonce has
 * the time of the file's version and no number.
 */
function recordNonce(bytes: Uint8Array): Uint8Array {
  const numbers = numbersStart(bytes);
  const nonce = new Uint8Array(aeadNonceBytes).fill(0xff);
  const isNumbered = isUpgraded(bytes);
  const timeStart = numbers + (isNumbered ? sealAt + timeBytes : updatedAt);
  nonce.set(bytes.subarray(timeStart, timeStart + timeBytes), aeadNonceBytes - timeBytes);
  if (isNumbered) {
    nonce.set(bytes.subarray(numbers + sealAt, numbers + sealAt + 4));
    nonce[3] = (nonce[3] ?? 0) | 0x80;
  }
  return nonce;
}

/** Writes the tag into the record. */
export function sealFile(bytes: Uint8Array, mapKey: Uint8Array, key: Uint8Array): void {
  const nonce = recordNonce(bytes);
  const associatedData = concatBytes(bytes, mapKey);
  const tag = bytes.subarray(tagStart, tagEnd);
  sealInPlace({ key, nonce, associatedData, data: emptyBytes, tag });
}

/** Whether the record, its key in the map and the key are those that sealFile() sealed. */
export function isSealed(bytes: Uint8Array, mapKey: Uint8Array, key: Uint8Array): boolean {
  const associatedData = concatBytes(bytes, mapKey).fill(0, tagStart, tagEnd);
  const tag = bytes.slice(tagStart, tagEnd);
  const nonce = recordNonce(bytes);
  return openInPlace({ key, nonce, associatedData, data: new Uint8Array(0), tag });
}

export function fileMapKey(bucketId: string, path: string): Uint8Array {
  return encodeUtf8(`${bucketId}\0${path}`);
}

export function fileId(number: number | bigint): string {
  return number.toString(16).padStart(16, '0');
}
