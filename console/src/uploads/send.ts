// Sends items by the library: small ones together, large ones by sessions that can be gone on with.

import { isStorageError } from '../../../packages/client/src/storage-error.ts';
import type { FileRecord } from '../../../packages/client/src/types/files.ts';
import type { UploadedFile } from '../../../packages/client/src/types/transfers.ts';
import { smallFileBytesMax } from '../../../packages/client/src/uploads/upload-all.ts';
import type { UploadItem } from './item.ts';

export function isSmall({ file, uploadId }: UploadItem): boolean {
  return file.size <= smallFileBytesMax && uploadId === undefined;
}

interface Order {
  readonly signal: AbortSignal;
  onProgress(): void;
}

/** The service finds a type by the path's extension where the browser knows none. */
function describe({ path, file, mayReplace }: UploadItem) {
  return {
    path,
    ...(file.type !== '' && { contentType: file.type }),
    ...(!mayReplace && { ifNoneMatch: '*' }),
  };
}

/** Each of these in its turn as it ends; `next` gives them as there is room. */
export async function* sendSmall(
  first: UploadItem,
  next: () => UploadItem | undefined,
  { signal }: Order,
): AsyncGenerator<{ readonly item: UploadItem; readonly ended: UploadedFile }> {
  const byPath = new Map<string, UploadItem>();
  function* files() {
    for (let item: UploadItem | undefined = first; item !== undefined; item = next()) {
      byPath.set(item.path, item);
      yield { ...describe(item), source: item.file };
    }
  }
  const { storage, bucket } = first;
  for await (const ended of storage.uploadAll(files(), { bucket, signal })) {
    const item = byPath.get(ended.path);
    if (item !== undefined) yield { item, ended };
  }
}

/** With the session that the item has, or anew when that has ended. */
export async function sendLarge(
  item: UploadItem,
  order: Order & { onSession(): Promise<void> },
): Promise<FileRecord> {
  try {
    return await sendSession(item, order);
  } catch (error) {
    const { uploadId, storage } = item;
    if (uploadId === undefined || !hasEnded(error)) throw error;
    // One that cannot be gone on with would take its room until it ends.
    storage.uploads.cancel({ ...item, uploadId }).catch(() => {});
    item.uploadId = undefined;
    return sendSession(item, order);
  }
}

function sendSession(
  item: UploadItem,
  { signal, onProgress, onSession }: Order & { onSession(): Promise<void> },
): Promise<FileRecord> {
  return item.storage.upload(item.file, {
    bucket: item.bucket,
    ...describe(item),
    signal,
    concurrency: 4,
    resume: item.uploadId,
    ageHeader: item.ageHeader,
    onProgress({ movedBytes }) {
      item.doneBytes = movedBytes;
      onProgress();
    },
    async onSession({ uploadId, ageHeader }) {
      item.uploadId = uploadId;
      item.ageHeader = ageHeader;
      await onSession();
    },
  });
}

/** Also where who seals a file can't open it again, as who sends by a key. */
function hasEnded(error: unknown): boolean {
  const codes = ['NoSuchUpload', 'UploadExpired', 'UploadCancelled', 'NoIdentity'];
  return isStorageError(error) && codes.includes(error.code);
}

/**
 * Returns the file at the path if it is this very file: its answer may have been lost with the
 * page or the connection, and the upload would collide with itself.
 */
export async function storedBefore(item: UploadItem): Promise<FileRecord | undefined> {
  if (!item.wasSent || item.file.size > smallFileBytesMax) return undefined;
  const digest = await crypto.subtle.digest('SHA-256', await item.file.arrayBuffer());
  const hex = [...new Uint8Array(digest)]
    .map((byte) => byte.toString(16).padStart(2, '0'))
    .join('');
  const found = await item.storage.stat(item).catch(() => undefined);
  return found?.sha256 === hex || found?.etag.includes(hex) ? found : undefined;
}
