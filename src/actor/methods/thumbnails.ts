// Actor methods for thumbnails.

import { IDL } from '@dfinity/candid';
import { msgReply } from 'azle';
import { readFiles } from '../../domain/files/file-reads.ts';
import { putThumbnail } from '../../domain/files/thumbnails.ts';
import { ResultFilesRead, ThumbnailUpload } from '../candid/file-reads.ts';
import { ResultNull } from '../candid/types.ts';
import { decodeArguments, query, update } from '../dispatch/method.ts';
import { encodeFilesRead } from '../messages/file-read-messages.ts';
import type { Optional } from '../messages/optional.ts';
import { type ThumbnailArgument, thumbnailOf } from '../messages/thumbnail-arguments.ts';
import { answer, currentCall } from '../runtime/call.ts';
import { stores } from '../runtime/runtime.ts';

type ReadArguments = [string, readonly string[], Optional<string>];
const readArguments = [IDL.Text, IDL.Vec(IDL.Text), IDL.Opt(IDL.Text)];

/** Thumbnails: small pictures of files, which clients make and store after an upload. */
export class ThumbnailsActor {
  /**
   * Stores the thumbnail of a file (an age file if the bucket is end-to-end), or replaces it.
   * Copies, moves and versions keep it. Needs the right to write. Errors: AccessDenied, NoSuchFile,
   * PreconditionFailed, EntityTooLarge, InvalidContentType, QuotaExceeded, NotEncrypted.
   */
  @update([ThumbnailUpload], ResultNull)
  putThumbnail(argument: ThumbnailArgument) {
    return answer(() => {
      putThumbnail(stores, currentCall(), thumbnailOf(argument));
      return null;
    });
  }

  /**
   * (bucketId, paths, apiKey) Returns the thumbnails of at most 200 files like readFiles; `etag` is
   * that of the file. A file without a thumbnail gets NoSuchFile. Errors: AccessDenied.
   */
  @query(readArguments, ResultFilesRead, { manual: true })
  readThumbnails(): void {
    const decoded = decodeArguments({ name: 'readThumbnails', parameters: readArguments });
    if (decoded === undefined) return;
    const [bucket, paths, [apiKey]] = decoded as unknown as ReadArguments;
    const request = { bucket, paths, apiKey, asThumbnails: true };
    msgReply(encodeFilesRead(answer(() => readFiles(stores, currentCall(), request))));
  }
}
