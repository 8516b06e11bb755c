// Uploads many files in one HTTP request.

import { formBody } from '../bytes/form-body.ts';
import type { Signal } from '../connection/transport.ts';
import type { FileBatch } from '../operations/transfers.ts';
import { fileHeaders } from '../operations/uploads.ts';
import { bucketPath } from '../operations/url-paths.ts';
import {
  type ErrorView,
  errorOfView,
  isStorageError,
  type StorageError,
} from '../storage-error.ts';
import type { FileRecord } from '../types/files.ts';
import { definedHeaders, exchangeJson, type HttpConnection } from './exchange.ts';

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
    files.map((file) => {
      // Part headers are UTF-8, unlike HTTP headers.
      const headers = definedHeaders(fileHeaders(file, JSON.stringify));
      return { name: file.path, headers, bytes: file.bytes };
    }),
  );
  const path = `${bucketPath(bucket)}/files`;
  const headers = { 'Content-Type': contentType };
  const items = await itemsOf(() =>
    exchangeJson<{ items: Item[] }>(connection, { method: 'POST', path, headers, body, signal }),
  );
  return items.map(({ file, error }) => file ?? errorOfView(error));
}

/** Returns the results per file, also from an error response that lists them. */
async function itemsOf(send: () => Promise<{ items: readonly Item[] }>): Promise<readonly Item[]> {
  try {
    return (await send()).items;
  } catch (error) {
    const items = isStorageError(error) ? error.details?.items : undefined;
    if (Array.isArray(items)) return items as Item[];
    throw error;
  }
}
