// A file that arrives whole in one message. checkSingleUpload() refuses everything that can be
// refused, so that a gateway's query can answer before an update is paid for.

import { sha256 } from '../crypto/hash.ts';
import { singleUploadBytesMax } from '../limits.ts';
import { authorize } from './access.ts';
import type { Call } from './caller.ts';
import { writeChunk } from './contents.ts';
import { commitFile, type FileMetadata, type FileRecord } from './files.ts';
import { parseBucketId, parseContentType, parseFilePath, parseTags } from './names.ts';
import { Refusal } from './refusal.ts';
import { nextContentId, type Stores } from './stores.ts';

export interface SingleUpload {
  readonly bucket: string;
  readonly path: string;
  readonly apiKey: string | undefined;
  readonly metadata: FileMetadata;
  readonly bytes: Uint8Array;
}

/** The upload with its names in the form that is stored; changes nothing. */
export function checkSingleUpload(stores: Stores, call: Call, upload: SingleUpload): SingleUpload {
  const bucket = parseBucketId(upload.bucket);
  authorize(stores, call, { bucket, permission: 'write', apiKey: upload.apiKey });
  const path = parseFilePath(upload.path);
  const metadata = {
    ...upload.metadata,
    contentType: parseContentType(upload.metadata.contentType),
    tags: parseTags(upload.metadata.tags),
  };
  if (upload.bytes.length > singleUploadBytesMax) {
    throw new Refusal(
      'EntityTooLarge',
      `A single upload has at most ${singleUploadBytesMax} bytes, this one has ${upload.bytes.length}: ` +
        'send larger files in chunks.',
      { limit: singleUploadBytesMax, size: upload.bytes.length },
    );
  }
  return { ...upload, bucket, path, metadata };
}

export function uploadSingle(
  stores: Stores,
  call: Call,
  request: SingleUpload,
): { readonly file: FileRecord; readonly isNew: boolean } {
  const { bucket, path, metadata, bytes } = checkSingleUpload(stores, call, request);
  const contentId = nextContentId(stores);
  const digest = sha256(bytes);
  if (bytes.length > 0) {
    writeChunk(stores, { contentId, index: 0 }, { bytes, digest });
  }
  const chunkSize = Math.max(bytes.length, 1);
  const content = {
    contentId,
    size: bytes.length,
    chunkSize,
    chunkCount: bytes.length > 0 ? 1 : 0,
  };
  return commitFile(
    stores,
    { ...metadata, ...content, bucketId: bucket, path, digest },
    call.nowNs,
  );
}
