// Converts arguments of `beginFileUploadWith`, `uploadChunk` and `completeFileUploadWith` to the
// domain's types.

import type { OneRoundChunk } from '../../domain/uploads/one-round-upload.ts';
import type { Completion } from '../../domain/uploads/upload-end.ts';
import type { UploadRequest } from '../../domain/uploads/uploads.ts';
import { mediaTypeOf } from '../../http/media-types.ts';
import type { Optional } from './optional.ts';

export interface UploadArgument {
  readonly bucketId: string;
  readonly path: string;
  readonly contentType: Optional<string>;
  /** Also accepts a plain nat, the former type, because nat is a subtype of opt nat. */
  readonly size: Optional<bigint>;
  readonly tags: Optional<string[]>;
  readonly sha256: Optional<string>;
  readonly chunkSize: Optional<bigint>;
  readonly headers: Optional<[string, string][]>;
  readonly metadata: Optional<[string, string][]>;
  readonly ifMatch: Optional<string>;
  readonly ifNoneMatch: Optional<string>;
  readonly token: Optional<string>;
  readonly apiKey: Optional<string>;
}

/** Without a type, the path's extension determines it. */
export function uploadRequestOf(argument: UploadArgument): UploadRequest {
  const { bucketId: bucket, path } = argument;
  return {
    bucket,
    path,
    size: argument.size[0],
    contentType: argument.contentType[0] ?? mediaTypeOf(path),
    tags: argument.tags[0] ?? [],
    apiKey: argument.apiKey[0],
    ifMatch: argument.ifMatch[0],
    ifNoneMatch: argument.ifNoneMatch[0],
    chunkSize: argument.chunkSize[0],
    sha256: argument.sha256[0],
    headers: argument.headers[0],
    metadata: argument.metadata[0],
    token: argument.token[0],
  };
}

/** The arguments of `uploadChunk`. */
export function chunkOf(
  argument: UploadArgument,
  chunkIndex: bigint,
  [etag]: Optional<string>,
  bytes: Uint8Array,
): OneRoundChunk {
  return { upload: uploadRequestOf(argument), chunkIndex, etag, bytes };
}

export interface CompletionArgument {
  readonly uploadId: string;
  readonly sha256: Optional<string>;
  readonly etag: Optional<string>;
  readonly metadata: Optional<[string, string][]>;
  readonly ifMatch: Optional<string>;
  readonly ifNoneMatch: Optional<string>;
  readonly apiKey: Optional<string>;
}

export function completionOf(argument: CompletionArgument): Completion {
  return {
    uploadId: argument.uploadId,
    apiKey: argument.apiKey[0],
    sha256: argument.sha256[0],
    etag: argument.etag[0],
    metadata: argument.metadata[0],
    conditions: { ifMatch: argument.ifMatch[0], ifNoneMatch: argument.ifNoneMatch[0] },
  };
}
