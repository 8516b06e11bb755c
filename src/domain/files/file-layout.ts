// The record of a file as bytes: a tag under the key of the file's content seals the record and its
// key in the map. Reading the file detects a record that was altered or moved to another path.
// (Lists copy records without checking the seal.)
//
//   small fields  version 6 to 9, bytes of the digest, version of the leaves, number of tags,
//                 bytes of the JSON u32
//   longs         id, created, updated, sealed at
//   numbers       key slot, content, size, chunk size, chunks, version of the file, seal
//   rest          tag 16 | digest | the file record of the JSON interface
//                 | texts: content type, stored headers, tag …, name and value of metadata …,
//                 in versions 8 and 9, of the thumbnail: index, bytes, type, SHA-256 in hex,
//                 in versions 7 and 9: mode of the retention, its end in decimal ns, hold
//   See packFields(). The key in the map is bucket id, NUL, path. "leaves": the certified leaves
//   made from the record. "seal": a number that no other seal has, see recordNonce().
//
// former-file-layout.ts reads records of release 0.1.0.

import { aeadNonceBytes, aeadTagBytes, openInPlace, sealInPlace } from '../../crypto/aead.ts';
import { assert, present } from '../../lib/assert.ts';
import { concatBytes, emptyBytes } from '../../lib/bytes.ts';
import { decodeUtf8, encodeUtf8 } from '../../lib/text.ts';
import { packFields, unpackFields } from '../../storage/codec.ts';
import { damagedFile } from '../contents/chunk-records.ts';
import type { Thumbnail } from '../contents/thumbnails.ts';
import type { SealedContent } from '../keys/file-keys.ts';
import { pairsOf } from '../shared/file-metadata.ts';
import { parseLeavesVersion } from '../shared/publication.ts';
import { isRetentionMode, type Retention } from '../shared/retention.ts';
import { allStoredHeaders, noStoredHeaders } from '../shared/stored-headers.ts';
import type { FileRecord, Seal } from './file-fields.ts';
import { fileId, requirePossible } from './file-fields.ts';
import { fileJson } from './file-view.ts';
import {
  decodeFormerFile,
  decodeFormerHead,
  formerNonce,
  formerTag,
  formerVersion,
} from './former-file-layout.ts';

/** A record without retention and thumbnail, for which lists and reads cost no more. */
const version = 6;
/** Added to the version of a record with a retention, or with a thumbnail. */
const additions = { retention: 1, thumbnail: 2 } as const;
export const retentionTexts = 3;
export const thumbnailTexts = 4;
const fieldCount = { longs: 4, numbers: 7 } as const;
const tagStart = 96;
const tagEnd = tagStart + aeadTagBytes;
const sealedAtStart = 32;
const timeBytes = 8;
/** Texts before the tags: the type and the stored headers. */
const plainTexts = 1 + noStoredHeaders.length;

const noSeal: Seal = { number: 0, timeNs: 0n };

/** Returns the record with zeros in place of its tag. Pass `seal` for a record to be sealed. */
export function encodeFile(file: FileRecord, seal: Seal = noSeal): Uint8Array {
  const json = fileJson(file);
  const { digest, tags, metadata, retention, thumbnail } = file;
  const texts = [file.contentType, ...file.headers, ...tags, ...metadata.flat()];
  let layout = version;
  if (thumbnail !== undefined) {
    layout += additions.thumbnail;
    const { index, size, contentType, sha256 } = thumbnail;
    texts.push(`${index}`, `${size}`, contentType, sha256);
  }
  if (retention !== undefined) {
    layout += additions.retention;
    texts.push(...textsOfRetention(retention));
  }
  const { length } = json;
  const jsonBytes = [length & 0xff, (length >> 8) & 0xff, (length >> 16) & 0xff, length >> 24];
  return packFields({
    small: [layout, digest.length, file.leavesVersion, tags.length, ...jsonBytes],
    longs: [BigInt(`0x${file.id}`), file.createdAtNs, file.updatedAtNs, seal.timeNs],
    numbers: [
      file.keySlot,
      file.contentId,
      file.size,
      file.chunkSize,
      file.chunkCount,
      file.version,
      seal.number,
    ],
    rest: concatBytes(noTag, digest, json, encodeUtf8(texts.join('\0'))),
  });
}

const noTag = new Uint8Array(aeadTagBytes);

/** Returns the offset of the JSON. */
export function jsonStart(bytes: Uint8Array): number {
  return tagEnd + (bytes[1] ?? 0);
}

/** Returns the offset where the JSON ends. Byte by byte: a DataView takes three times as long. */
export function jsonEnd(bytes: Uint8Array): number {
  const low = (bytes[4] ?? 0) + 0x100 * (bytes[5] ?? 0);
  const high = (bytes[6] ?? 0) + 0x100 * (bytes[7] ?? 0);
  return jsonStart(bytes) + low + 0x1_0000 * high;
}

/**
 * Returns the offset where the JSON ends if the record has the expected layout, else 0. For lists,
 * which do not check the seal.
 */
export function laidOutJsonEnd(bytes: Uint8Array): number {
  if (!hasPresentLayout(bytes) || bytes.length < tagEnd) return 0;
  const end = jsonEnd(bytes);
  const isRecord = bytes[jsonStart(bytes)] === 0x7b && bytes[end - 1] === 0x7d;
  return isRecord && bytes.length > end ? end : 0;
}

/** Whether the bucket has counted the file's overhead and its leaves have the present version. */
export function isUpgraded(bytes: Uint8Array): boolean {
  return bytes[0] !== formerVersion;
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
    return isUpgraded(bytes)
      ? decodeRecord(bucketId, path, bytes)
      : decodeFormerFile(bucketId, path, bytes);
  } catch {
    throw damagedFile();
  }
}

/** Returns the file's key slot and content; throws IntegrityError unless the bytes are a record. */
export function decodeHead(bytes: Uint8Array): SealedContent {
  try {
    if (!isUpgraded(bytes)) return decodeFormerHead(bytes);
    requirePresentLayout(bytes);
    const { numbers } = unpackFields(bytes, fieldCount);
    return { keySlot: numbers[0] ?? 0, contentId: numbers[1] ?? 0 };
  } catch {
    throw damagedFile();
  }
}

function hasPresentLayout(bytes: Uint8Array): boolean {
  const added = (bytes[0] ?? 0) - version;
  return added >= 0 && added <= additions.retention + additions.thumbnail;
}

export function isRetained(bytes: Uint8Array): boolean {
  return (((bytes[0] ?? 0) - version) & additions.retention) !== 0;
}

export function hasThumbnail(bytes: Uint8Array): boolean {
  return (((bytes[0] ?? 0) - version) & additions.thumbnail) !== 0;
}

function requirePresentLayout(bytes: Uint8Array): void {
  assert(hasPresentLayout(bytes), `a record has a known version, not ${bytes[0]}`);
}

function textsOfRetention({ mode, untilNs, hasHold }: Retention): string[] {
  return [mode ?? '', `${untilNs}`, hasHold ? 'hold' : ''];
}

/** Removes the last texts of a record with a retention, and returns what they say. */
function takeRetention(texts: string[]): Retention {
  const [mode = '', until = '', hold = ''] = texts.splice(-retentionTexts);
  assert(isRetentionMode(mode) || mode === '', 'a retention has a known mode');
  return { mode: mode || undefined, untilNs: BigInt(until), hasHold: hold === 'hold' };
}

function takeThumbnail(texts: string[]): Thumbnail {
  const [index, size, contentType = '', sha256 = ''] = texts.splice(-thumbnailTexts);
  return { index: Number(index), size: Number(size), contentType, sha256 };
}

/** Builds one object literal: spreading others into it would cost as much as reading them. */
function decodeRecord(bucketId: string, path: string, bytes: Uint8Array): FileRecord {
  requirePresentLayout(bytes);
  const { longs, numbers } = unpackFields(bytes, fieldCount);
  const end = jsonEnd(bytes);
  assert(end <= bytes.length, 'a record has all of its JSON');
  const texts = present(decodeUtf8(bytes.subarray(end)), 'texts of a file').split('\0');
  const retention = isRetained(bytes) ? takeRetention(texts) : undefined;
  const thumbnail = hasThumbnail(bytes) ? takeThumbnail(texts) : undefined;
  const tagsEnd = plainTexts + (bytes[3] ?? 0);
  const file: FileRecord = {
    bucketId,
    path,
    keySlot: numbers[0] ?? 0,
    contentId: numbers[1] ?? 0,
    id: fileId(longs[0] ?? 0n),
    size: numbers[2] ?? 0,
    chunkSize: numbers[3] ?? 0,
    chunkCount: numbers[4] ?? 0,
    digest: bytes.slice(tagEnd, jsonStart(bytes)),
    version: numbers[5] ?? 0,
    createdAtNs: longs[1] ?? 0n,
    updatedAtNs: longs[2] ?? 0n,
    leavesVersion: parseLeavesVersion(bytes[2] ?? 0),
    contentType: texts[0] ?? '',
    headers: allStoredHeaders(texts.slice(1, plainTexts)),
    tags: texts.slice(plainTexts, tagsEnd),
    metadata: pairsOf(texts, tagsEnd),
    retention,
    thumbnail,
  };
  requirePossible(file);
  return file;
}

/**
 * Returns the nonce: the number of the seal in the upper half of u32, and its time. It differs from
 * nonces of segments, whose counters stay in the lower half, from those of other records that share
 * the content, and, after a snapshot is loaded, from those used before.
 */
function recordNonce(bytes: Uint8Array): Uint8Array {
  if (!isUpgraded(bytes)) return formerNonce(bytes);
  const { numbers } = unpackFields(bytes, fieldCount);
  const nonce = new Uint8Array(aeadNonceBytes);
  new Uint32Array(nonce.buffer)[0] = (numbers[6] ?? 0) | 0x8000_0000;
  nonce.set(bytes.subarray(sealedAtStart, sealedAtStart + timeBytes), aeadNonceBytes - timeBytes);
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
  const { start, end } = isUpgraded(bytes) ? { start: tagStart, end: tagEnd } : formerTag;
  const associatedData = concatBytes(bytes, mapKey).fill(0, start, end);
  const tag = bytes.slice(start, end);
  const nonce = recordNonce(bytes);
  return openInPlace({ key, nonce, associatedData, data: new Uint8Array(0), tag });
}

export function fileMapKey(bucketId: string, path: string): Uint8Array {
  return encodeUtf8(`${bucketId}\0${path}`);
}
