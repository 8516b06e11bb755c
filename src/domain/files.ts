// Files: what a path of a bucket names now. A new version replaces the record in one step; the
// bytes of the old one stay whole until then and are given back after.

import { present } from '../lib/assert.ts';
import { concatBytes } from '../lib/bytes.ts';
import { decodeUtf8, encodeUtf8 } from '../lib/text.ts';
import { RecordReader, RecordWriter } from '../storage/codec.ts';
import { type Bucket, findBucket, getBucket, saveBucket } from './buckets.ts';
import { type Content, discardContent, readContent } from './contents.ts';
import { indexFile, unindexFile } from './file-index.ts';
import { type FileParts, fileParts } from './file-parts.ts';
import { fileJson } from './file-view.ts';
import { parseFilePath, quote } from './names.ts';
import { Refusal } from './refusal.ts';
import type { Stores } from './stores.ts';

export { entityTag } from './file-view.ts';

/** What an upload says of a file beside its bytes. */
export interface FileMetadata {
  readonly contentType: string;
  readonly tags: readonly string[];
  readonly cacheControl: string;
  readonly contentDisposition: string;
  readonly contentEncoding: string;
  readonly contentLanguage: string;
}

export interface FileRecord extends Content, FileMetadata {
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
}

// 0: version 1 | id u64 | content u64 | size u64 | chunk size u32 | chunks u32
//    | digest (length, bytes) | version u32 | created u64 | updated u64
//    | texts: content type, cache control, disposition, encoding, language, tag …
// 0: version 2 | bytes of JSON u32 | the file record of the JSON interface | all of version 1
//    The key of the map is bucket id, NUL, path.
const version = 1;
const shownVersion = 2;
const shownHeadBytes = 5;

function encodeFile(file: FileRecord): Uint8Array {
  const json = fileJson(file);
  const head = new RecordWriter(shownVersion).u32(json.length).finish([]);
  const record = new RecordWriter(version)
    .u64(BigInt(`0x${file.id}`))
    .u64(file.contentId)
    .u64(file.size)
    .u32(file.chunkSize)
    .u32(file.chunkCount)
    .bytes(file.digest)
    .u32(file.version)
    .u64(file.createdAtNs)
    .u64(file.updatedAtNs)
    .finish([
      file.contentType,
      file.cacheControl,
      file.contentDisposition,
      file.contentEncoding,
      file.contentLanguage,
      ...file.tags,
    ]);
  return concatBytes(head, json, record);
}

/** Where the part of version 1 begins. */
function recordStart(bytes: Uint8Array): number {
  const isShown = bytes[0] === shownVersion;
  return isShown
    ? shownHeadBytes + new DataView(bytes.buffer, bytes.byteOffset).getUint32(1, true)
    : 0;
}

function decodeFile(bucketId: string, path: string, bytes: Uint8Array): FileRecord {
  const reader = new RecordReader(bytes.subarray(recordStart(bytes)));
  const head = {
    id: fileId(reader.u64()),
    contentId: reader.integer(),
    size: reader.integer(),
    chunkSize: reader.u32(),
    chunkCount: reader.u32(),
    digest: reader.bytes(),
    version: reader.u32(),
    createdAtNs: reader.u64(),
    updatedAtNs: reader.u64(),
  };
  const [contentType = '', cacheControl = '', contentDisposition = '', ...rest] = reader.texts();
  const [contentEncoding = '', contentLanguage = '', ...tags] = rest;
  const metadata = { contentType, cacheControl, contentDisposition, contentEncoding };
  return { bucketId, path, ...head, ...metadata, contentLanguage, tags };
}

function fileKey(bucketId: string, path: string): Uint8Array {
  return encodeUtf8(`${bucketId}\0${path}`);
}

export function fileId(number: number | bigint): string {
  return number.toString(16).padStart(16, '0');
}

export function findFile(stores: Stores, bucketId: string, path: string): FileRecord | undefined {
  const bytes = stores.files.get(fileKey(bucketId, path));
  return bytes === undefined ? undefined : decodeFile(bucketId, path, bytes);
}

/** UTF-8 of the JSON records of files that are there, by UTF-8 of their paths. */
export function readFilesJson(
  stores: Stores,
  bucketId: string,
  paths: readonly Uint8Array[],
): Uint8Array[] {
  const keyHead = fileKey(bucketId, '');
  return paths.map((path) => {
    const bytes = present(stores.files.get(concatBytes(keyHead, path)), 'record of a file');
    const start = recordStart(bytes);
    if (start > 0) {
      return bytes.subarray(shownHeadBytes, start);
    }
    const text = present(decodeUtf8(path), 'well-formed path of a file');
    return fileJson(decodeFile(bucketId, text, bytes));
  });
}

/** What the records of files that are there show, by UTF-8 of their paths. */
export function readFileParts(
  stores: Stores,
  bucketId: string,
  paths: readonly Uint8Array[],
): FileParts[] {
  const keyHead = fileKey(bucketId, '');
  const bucket = keyHead.subarray(0, -1);
  return paths.map((path) => {
    const bytes = present(stores.files.get(concatBytes(keyHead, path)), 'record of a file');
    if (bytes[0] === shownVersion) {
      return fileParts(bytes, { bucketId: bucket, path });
    }
    const text = present(decodeUtf8(path), 'well-formed path of a file');
    return partsOfFile(decodeFile(bucketId, text, bytes));
  });
}

export function partsOfFile(file: FileRecord): FileParts {
  const name = { bucketId: encodeUtf8(file.bucketId), path: encodeUtf8(file.path) };
  return fileParts(encodeFile(file), name);
}

/** A file that anybody may read. */
export function getPublicFile(stores: Stores, bucketName: string, pathText: string): FileRecord {
  const bucket = getBucket(stores, bucketName);
  const file = bucket.isPublic ? findFile(stores, bucket.id, parseFilePath(pathText)) : undefined;
  if (file === undefined) {
    throw new Refusal('NoSuchFile', `There is no file ${quote(pathText)} in bucket ${bucket.id}.`);
  }
  return file;
}

export type NewFile = FileMetadata &
  Content & {
    readonly bucketId: string;
    readonly path: string;
    readonly chunkCount: number;
    readonly digest: Uint8Array;
  };

/** Puts the content at its path, in place of what is there; `isNew` tells which. */
export function commitFile(
  stores: Stores,
  file: NewFile,
  nowNs: bigint,
): { readonly file: FileRecord; readonly isNew: boolean } {
  const bucket = present(findBucket(stores, file.bucketId), 'bucket of a file');
  const old = findFile(stores, file.bucketId, file.path);
  const record: FileRecord = {
    ...file,
    id: old?.id ?? fileId(file.contentId),
    version: (old?.version ?? 0) + 1,
    createdAtNs: old?.createdAtNs ?? nowNs,
    updatedAtNs: nowNs,
  };
  stores.files.set(fileKey(file.bucketId, file.path), encodeFile(record));
  indexFile(stores, record, old);
  saveBucket(stores, withFileCounted(bucket, record, old));
  if (old !== undefined) {
    discardContent(stores, old);
  }
  return { file: record, isNew: old === undefined };
}

function withFileCounted(bucket: Bucket, file: FileRecord, old: FileRecord | undefined): Bucket {
  return {
    ...bucket,
    fileCount: bucket.fileCount + (old === undefined ? 1 : 0),
    byteCount: bucket.byteCount + file.size - (old?.size ?? 0),
  };
}

/** Takes the file away at once; its space is given back step by step. */
export function removeFile(stores: Stores, file: FileRecord): void {
  const bucket = present(findBucket(stores, file.bucketId), 'bucket of a file');
  stores.files.delete(fileKey(file.bucketId, file.path));
  unindexFile(stores, file);
  saveBucket(stores, {
    ...bucket,
    fileCount: bucket.fileCount - 1,
    byteCount: bucket.byteCount - file.size,
  });
  discardContent(stores, file);
}

/** Bytes `[start, end)` of the file. */
export function readFile(
  stores: Stores,
  file: FileRecord,
  range: { readonly start: number; readonly end: number },
): Uint8Array {
  return readContent(stores, file, range);
}
