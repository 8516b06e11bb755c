// Actor methods for many files at once. Codecs: batch-messages.ts, file-record-messages.ts.

import { deleteFiles } from '../../domain/files/file-deletion.ts';
import { partsOfFile } from '../../domain/files/file-records.ts';
import { withoutSlash } from '../../domain/shared/names.ts';
import { parseStoredHeaders } from '../../domain/shared/stored-headers.ts';
import {
  type BatchFile,
  type BatchResult,
  uploadBatch,
} from '../../domain/uploads/batch-upload.ts';
import { parseFileDigest } from '../../domain/uploads/upload-options.ts';
import { mediaTypeOf } from '../../http/media-types.ts';
import { encodeResult } from '../candid/result.ts';
import { FileBatch, FileDeletion, ResultDeletion, ResultFiles } from '../candid/types.ts';
import { carryOut, update } from '../dispatch/method.ts';
import {
  type BatchedFileArgument,
  decodeFileBatch,
  decodeFileDeletion,
} from '../messages/batch-messages.ts';
import { encodeFilesResult } from '../messages/file-record-messages.ts';
import { optional } from '../messages/optional.ts';
import { currentCall, errorText } from '../runtime/call.ts';
import { stores } from '../runtime/runtime.ts';

function batchFileOf(argument: BatchedFileArgument): BatchFile {
  const { path, bytes, contentType, tags, headers, metadata, sha256 } = argument;
  const { ifMatch, ifNoneMatch } = argument;
  return {
    path,
    read: () => ({
      bytes,
      metadata: {
        contentType: contentType[0] ?? mediaTypeOf(path),
        tags: tags[0] ?? [],
        headers: parseStoredHeaders(headers[0]),
        metadata: metadata[0] ?? [],
      },
      conditions: { ifMatch: ifMatch[0], ifNoneMatch: ifNoneMatch[0] },
      digests: sha256.map((digest) => parseFileDigest(digest, bytes.length)),
    }),
  };
}

function resultOfFile({ stored, refusal }: BatchResult) {
  return stored === undefined
    ? { err: errorText(refusal) }
    : { ok: partsOfFile(stored.file, stored.record) };
}

/** Many files at once: uploads and deletions in one call. */
export class FileBatchesActor {
  /**
   * Stores at most 200 files with 2,000,000 bytes in total: either all or none. ok lists the
   * results in the order of the files.
   */
  @update([FileBatch], ResultFiles, { manual: true })
  uploadFiles(): void | Promise<void> {
    const signature = { name: 'uploadFiles', parameters: [FileBatch] };
    return carryOut(signature, {
      decode: decodeFileBatch,
      run: ({ bucketId: bucket, apiKey, readFiles }) => {
        const sent = { bucket, apiKey, readFiles: () => readFiles().map(batchFileOf) };
        return uploadBatch(stores, currentCall(), sent).map(resultOfFile);
      },
      encode: encodeFilesResult,
    });
  }

  /**
   * Deletes at most 1,000 paths, or up to 1,000 files with a prefix; fewer if files have many
   * chunks or links. Then the remaining paths get SlowDown; for a prefix, continue with
   * `nextCursor`.
   */
  @update([FileDeletion], ResultDeletion, { manual: true })
  deleteFiles(): void | Promise<void> {
    const signature = { name: 'deleteFiles', parameters: [FileDeletion] };
    return carryOut(signature, {
      decode: decodeFileDeletion,
      run: ({ bucketId: bucket, apiKey, prefix, readPaths, ...limits }) => {
        const read = () => ({
          paths: readPaths(),
          prefix: prefix === undefined ? undefined : withoutSlash(prefix),
          cursor: limits.cursor,
          ifMatch: limits.ifMatch,
          bypassesGovernance: limits.bypassGovernance,
        });
        const deleted = deleteFiles(stores, currentCall(), { bucket, apiKey, read });
        const results = deleted.results.map(({ path, refusal }) => ({
          path,
          error: refusal === undefined ? [] : [errorText(refusal)],
        }));
        return { results, nextCursor: optional(deleted.nextCursor) };
      },
      encode: (result) => encodeResult(ResultDeletion, result),
    });
  }
}
