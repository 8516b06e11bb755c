// The record of a file as bytes, and its seal: a tag under the key of the file's content, over the
// record and the name that it stands under. So a record that was altered, or moved to another path,
// is noticed whenever the file is read. (Lists copy records out without opening them.)
//
//   0: version 5 | tag 16 | key slot u64 | content u64 | bytes of JSON u32
//      | the file record of the JSON interface | 0: version 3 | id u64 | size u64 | chunk size u32
//      | chunks u32 | digest (length, bytes) | version u32 | created u64 | updated u64 | leaves u8
//      | seal u64 | sealed at u64 | tags u8
//      | texts: content type, stored headers, tag …, name and value of metadata …
//   The key of the map is bucket id, NUL, path. "leaves": the version of the certified leaves that
//   were made of it. "seal": a number that no other seal has, see recordNonce().
//
//   Version 0.1.0 wrote version 3 of the record, with version 1 of the fields. It ends the numbers
//   with "updated", and all texts behind the headers are tags. Its leaves are of version 1, and its
//   bucket has not counted it, see record-upgrade.ts.

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
  /** From nextContentId(): no other seal has it. */
  readonly number: number;
  readonly timeNs: bigint;
}

export interface FileRecord extends Content, SealedContent, FileMetadata {
  readonly id: string;
  readonly bucketId: string;
  readonly path: string;
  readonly chunkCount: number;
  /** SHA-256 of the bytes, or of the chunks' digests when there are several chunks. */
  readonly digest: Uint8Array;
  /** 1 for the first version at this path. */
  readonly version: number;
  readonly createdAtNs: bigint;
  readonly updatedAtNs: bigint;
  /** Version of its certified leaves, see publication.ts. */
  readonly leavesVersion: LeavesVersion;
}

const version = 5;
/** Version 0.1.0's; the fields have the same offsets as in the present version, up to the times. */
const formerVersion = 3;
/** The version of the fields is so much less than that of the record. */
const fieldsVersionLag = 2;

interface Layout {
  /** From the end of the digest to the texts. */
  readonly numbersBytes: number;
  /** How many stored headers stand behind the type. */
  readonly headerCount: number;
}

/** Fails to compile when storedHeaderNames grows, which needs a new version of the record. */
const headerCount: (typeof storedHeaderNames)['length'] = 4;
const layout: Layout = { numbersBytes: 38, headerCount };
const formerLayout: Layout = { numbersBytes: 20, headerCount: 4 };
const sealAt = 21;
const sealBytes = 16;
const tagCountAt = sealAt + sealBytes;
/** Up to the texts. */
const fieldsBytesMin = 78;
const tagStart = 1;
const tagEnd = tagStart + aeadTagBytes;
const jsonBytesStart = 33;
export const jsonStart = 37;
/** In the fields; its length stands before it. */
const digestStart = 26;
/** Behind the digest. */
const updatedAt = 12;
const timeBytes = 8;

const noSeal: Seal = { number: 0, timeNs: 0n };

/** The record with zeros for its tag. `seal`: for a record that is to be sealed. */
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
 * For lists, which do not open it: where the JSON ends, if it and the fields are where a record has
 * them; else 0.
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

/** Whether its bucket has counted it, and its leaves are the present ones. */
export function isUpgraded(bytes: Uint8Array): boolean {
  return bytes[0] !== formerVersion;
}

function layoutOf(bytes: Uint8Array): Layout {
  return isUpgraded(bytes) ? layout : formerLayout;
}

/** How many texts stand before the tags: the type and the stored headers. */
export function tagsStart(bytes: Uint8Array): number {
  return 1 + layoutOf(bytes).headerCount;
}

/** For replacing or deleting a damaged record: it is unknown which slots belonged to it. */
export function unreadableFile(bucketId: string, path: string): FileRecord {
  const content = { contentId: 0, keySlot: 0, size: 0, chunkSize: 1, chunkCount: 0 };
  const metadata = { contentType: '', tags: [], headers: noStoredHeaders, metadata: [] };
  const times = { createdAtNs: 0n, updatedAtNs: 0n };
  const history = { id: '', digest: emptyBytes, version: 0, ...times, leavesVersion: 1 } as const;
  return { bucketId, path, ...content, ...metadata, ...history };
}

/** Refuses with IntegrityError what is no record. Whether it was altered: isSealed(). */
export function decodeFile(bucketId: string, path: string, bytes: Uint8Array): FileRecord {
  try {
    return decodeRecord(bucketId, path, bytes);
  } catch {
    throw damagedFile();
  }
}

/** Returns the offset of the file's key; throws IntegrityError if the bytes are no record. */
export function decodeHead(bytes: Uint8Array): SealedContent {
  if (!isKnownVersion(bytes) || bytes.length < jsonStart) {
    throw damagedFile();
  }
  const reader = new RecordReader(bytes, bytes[0] ?? 0).skip(aeadTagBytes);
  return { keySlot: reader.integer(), contentId: reader.integer() };
}

/** In one object: to spread others into it costs as much as to read them. */
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

/** Returns the offset of the numbers behind the digest. */
function numbersStart(bytes: Uint8Array): number {
  const digest = jsonEnd(bytes) + digestStart;
  return digest + (bytes[digest - 1] ?? 0);
}

/** Returns the offset of the texts. */
export function numbersEnd(bytes: Uint8Array): number {
  return numbersStart(bytes) + layoutOf(bytes).numbersBytes;
}

/** Absent where all texts behind the headers are tags. */
export function tagCountOf(bytes: Uint8Array): number | undefined {
  return isUpgraded(bytes) ? bytes[numbersStart(bytes) + tagCountAt] : undefined;
}

/**
 * The number of the seal in the upper half of u32, and its time: never that of a segment, whose
 * counter stays in the lower half, nor that of another record of a content that several share, nor,
 * after a snapshot is loaded, that of one which the canister made before. Version 3 has the time of
 * the file's version instead, and no number.
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

/** Whether the record is as it was sealed, under that name and with that key. */
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
