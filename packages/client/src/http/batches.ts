// Uploads or deletes many files in one HTTP request.

import { formBody } from '../bytes/form-body.ts';
import type {
  BatchedFile,
  Deletion,
  DeletionAnswer,
  FileBatch,
  Signal,
} from '../connection/transport.ts';
import {
  type ErrorView,
  errorOfView,
  isStorageError,
  type StorageError,
} from '../storage-error.ts';
import type { FileRecord } from '../types/files.ts';
import { exchangeJson, type HttpConnection, postJson } from './exchange.ts';
import { bucketPath } from './paths.ts';

interface Item {
  readonly file?: FileRecord;
  readonly error?: ErrorView;
}

export async function putFiles(
  connection: HttpConnection,
  { bucket, files }: FileBatch,
  signal: Signal,
): Promise<readonly (FileRecord | StorageError)[]> {
  const { contentType, body } = formBody(
    files.map((file) => ({ name: file.path, headers: headersOf(file), bytes: file.bytes })),
  );
  const path = `${bucketPath(bucket)}/files`;
  const headers = { 'Content-Type': contentType };
  const items = await itemsOf(() =>
    exchangeJson<{ items: Item[] }>(connection, { method: 'POST', path, headers, body, signal }),
  );
  return items.map(({ file, error }) => file ?? errorOfView(error));
}

/** Returns the results per file, also of a refusal that lists them. */
async function itemsOf(send: () => Promise<{ items: readonly Item[] }>): Promise<readonly Item[]> {
  try {
    return (await send()).items;
  } catch (error) {
    const items = isStorageError(error) ? error.details?.items : undefined;
    if (Array.isArray(items)) return items as Item[];
    throw error;
  }
}

/** The service refuses line ends in names and values, so they need no escape. */
function headersOf(file: BatchedFile): Record<string, string> {
  const { contentType, tags, headers, metadata, ifMatch, ifNoneMatch } = file;
  const isNoted = Object.keys(metadata).length > 0;
  return {
    ...headers,
    ...(contentType !== undefined && { 'Content-Type': contentType }),
    ...(tags.length > 0 && { 'X-File-Tags': tags.join(',') }),
    // Part headers are UTF-8, unlike HTTP headers.
    ...(isNoted && { 'X-File-Metadata': JSON.stringify(metadata) }),
    ...(ifMatch !== undefined && { 'If-Match': ifMatch }),
    ...(ifNoneMatch !== undefined && { 'If-None-Match': ifNoneMatch }),
  };
}

export async function deleteFiles(
  connection: HttpConnection,
  { bucket, ...deletion }: Deletion,
  signal: Signal,
): Promise<DeletionAnswer> {
  const post = { path: `${bucketPath(bucket)}/delete`, order: deletion };
  const { results, nextCursor } = await postJson<{
    results: { path: string; error?: ErrorView }[];
    nextCursor: string | null;
  }>(connection, post, signal);
  return {
    results: results.map(({ path, error }) => ({ path, error: error && errorOfView(error) })),
    nextCursor: nextCursor ?? undefined,
  };
}
