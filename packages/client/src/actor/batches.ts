// Uploads or deletes many files in one call of the actor.

import type { Deletion, DeletionAnswer, FileBatch, Signal } from '../connection/transport.ts';
import type { StorageError } from '../storage-error.ts';
import type { FileName, FileRecord } from '../types/files.ts';
import { fileRecordOf, optional } from './candid-records.ts';
import { call, errorOfText, type Service } from './connection.ts';

export async function putFiles(
  { actor, apiKey }: Service,
  { bucket, files }: FileBatch,
  signal: Signal,
): Promise<readonly (FileRecord | StorageError)[]> {
  const sent = files.map(({ contentType, tags, headers, metadata, ...file }) => ({
    path: file.path,
    contentType: optional(contentType),
    bytes: file.bytes,
    tags: optional(tags),
    headers: optional(Object.entries(headers)),
    metadata: optional(Object.entries(metadata)),
    sha256: optional<string>(undefined),
    ifMatch: optional(file.ifMatch),
    ifNoneMatch: optional(file.ifNoneMatch),
  }));
  const batch = { bucketId: bucket, files: sent, apiKey: optional(apiKey) };
  const results = await call(signal, () => actor.uploadFiles(batch));
  return results.map((one) => ('ok' in one ? fileRecordOf(one.ok) : errorOfText(one.err)));
}

export async function deleteFiles(
  { actor, apiKey }: Service,
  { bucket, paths, prefix, cursor, ifMatch }: Deletion,
  signal: Signal,
): Promise<DeletionAnswer> {
  const { results, nextCursor } = await call(signal, () =>
    actor.deleteFiles({
      bucketId: bucket,
      paths: optional(paths),
      prefix: optional(prefix),
      cursor: optional(cursor),
      ifMatch: optional(ifMatch),
      apiKey: optional(apiKey),
    }),
  );
  return {
    results: results.map(({ path, error: [text] }) => ({
      path,
      error: text === undefined ? undefined : errorOfText(text),
    })),
    nextCursor: nextCursor[0],
  };
}

/** Uses deleteFiles, because the method `deleteFile` takes no conditions. */
export async function deleteMatching(
  service: Service,
  { path, ...condition }: FileName & { readonly ifMatch: string },
  signal: Signal,
): Promise<void> {
  const { results } = await deleteFiles(service, { ...condition, paths: [path] }, signal);
  const error = results[0]?.error;
  if (error !== undefined) throw error;
}
