// The record of a file that release 0.1.0 wrote. An upgrade writes it again in the present layout;
// former versions keep it.
//
//   0: version 3 | tag 16 | key slot u64 | content u64 | bytes of JSON u32
//      | the file record of the JSON interface | 0: version 1 | id u64 | size u64 | chunk size u32
//      | chunks u32 | digest (length, bytes) | version u32 | created u64 | updated u64
//      | texts: content type, stored headers, tag …
//
// Its leaves have version 1, and its bucket has not counted its overhead.

import { aeadNonceBytes, aeadTagBytes } from '../../crypto/aead.ts';
import { RecordReader } from '../../storage/codec.ts';
import type { SealedContent } from '../keys/file-keys.ts';
import { allStoredHeaders } from '../shared/stored-headers.ts';
import { type FileRecord, fileId, requirePossible } from './file-fields.ts';

export const formerVersion = 3;
export const formerTag = { start: 1, end: 1 + aeadTagBytes } as const;
const fieldsVersion = 1;
const headerCount = 4;
/** Offset of the digest's length in the fields. */
const digestAt = 25;
/** Offset of the time of the last change after the digest. */
const updatedAt = 12;
const timeBytes = 8;

function headReader(bytes: Uint8Array): RecordReader {
  return new RecordReader(bytes, formerVersion).skip(aeadTagBytes);
}

export function decodeFormerHead(bytes: Uint8Array): SealedContent {
  const reader = headReader(bytes);
  return { keySlot: reader.integer(), contentId: reader.integer() };
}

/** Returns the fields after the JSON. */
function fieldsOf(bytes: Uint8Array): Uint8Array {
  const json = headReader(bytes).skip(16).longBytes();
  return bytes.subarray(formerTag.end + 20 + json.length);
}

export function decodeFormerFile(bucketId: string, path: string, bytes: Uint8Array): FileRecord {
  const reader = new RecordReader(fieldsOf(bytes), fieldsVersion);
  const id = fileId(reader.u64());
  const content = { size: reader.integer(), chunkSize: reader.u32(), chunkCount: reader.u32() };
  const digest = reader.bytes();
  const version = reader.u32();
  const times = { createdAtNs: reader.u64(), updatedAtNs: reader.u64() };
  const [contentType = '', ...texts] = reader.texts();
  const file: FileRecord = {
    bucketId,
    path,
    ...decodeFormerHead(bytes),
    id,
    ...content,
    digest,
    version,
    ...times,
    leavesVersion: 1,
    contentType,
    headers: allStoredHeaders(texts.slice(0, headerCount)),
    tags: texts.slice(headerCount),
    metadata: [],
  };
  requirePossible(file);
  return file;
}

/** The nonce of the seal has the time of the file's version and no number. */
export function formerNonce(bytes: Uint8Array): Uint8Array {
  const fields = fieldsOf(bytes);
  const timeStart = digestAt + 1 + (fields[digestAt] ?? 0) + updatedAt;
  const nonce = new Uint8Array(aeadNonceBytes).fill(0xff);
  nonce.set(fields.subarray(timeStart, timeStart + timeBytes), aeadNonceBytes - timeBytes);
  return nonce;
}
