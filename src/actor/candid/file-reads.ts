// The Candid types of readFiles and of thumbnails.

import { IDL } from '@dfinity/candid';
import { resultOf } from './result.ts';

/** A whole file, with its path as sent. All chunks but the last have `chunkBytes`. */
export const WholeFile = IDL.Record({
  path: IDL.Text,
  etag: IDL.Text,
  chunkBytes: IDL.Nat,
  contentType: IDL.Text,
  bytes: IDL.Vec(IDL.Nat8),
});
/** The result for one file: the file, or the error. */
export const ReadFile = IDL.Variant({ ok: WholeFile, err: IDL.Text });
/** The results for the first paths, in their order, and the other paths, which did not fit. */
export const FilesRead = IDL.Record({ results: IDL.Vec(ReadFile), left: IDL.Vec(IDL.Text) });
export const ResultFilesRead = resultOf(FilesRead);

/** A small picture of a file, at most 32,768 bytes in WebP, JPEG, PNG or AVIF. */
export const ThumbnailUpload = IDL.Record({
  bucketId: IDL.Text,
  path: IDL.Text,
  /** The entity tag of the file that the picture shows; another version gets PreconditionFailed. */
  etag: IDL.Text,
  bytes: IDL.Vec(IDL.Nat8),
  apiKey: IDL.Opt(IDL.Text),
});
