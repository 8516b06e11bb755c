// Uploads items with the client library: small ones in batches, large ones in resumable sessions.

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

/** Omits an unknown type, so that the service derives it from the path's extension. */
function describe({ path, file, mayReplace }: UploadItem) {
  return {
    path,
    ...(file.type !== '' && { contentType: file.type }),
    ...(!mayReplace && { ifNoneMatch: '*' }),
  };
}

/**
 * Yields each item when its upload has ended. Takes further items from `next`, each with a path
 * other than those under way, because the library reports an outcome by its path.
 */
export async function* sendSmall(
  first: UploadItem,
  next: (underWay: ReadonlyMap<string, UploadItem>) => UploadItem | undefined,
  { signal }: Order,
): AsyncGenerator<{ readonly item: UploadItem; readonly ended: UploadedFile }> {
  const byPath = new Map<string, UploadItem>();
  function* files() {
    for (let item: UploadItem | undefined = first; item !== undefined; item = next(byPath)) {
      byPath.set(item.path, item);
      yield { ...describe(item), source: item.file };
    }
  }
  const { storage, bucket } = first;
  for await (const ended of storage.uploadAll(files(), { bucket, signal })) {
    const item = byPath.get(ended.path);
    byPath.delete(ended.path);
    if (item !== undefined) yield { item, ended };
  }
}

/** Continues the item's session, or begins a new one if it has ended. */
export async function sendLarge(
  item: UploadItem,
  order: Order & { onSession(): Promise<void> },
): Promise<FileRecord> {
  try {
    return await sendSession(item, order);
  } catch (error) {
    const { uploadId } = item;
    if (uploadId === undefined || !hasEnded(error)) throw error;
    const stored = await endSession(item, uploadId, order.signal);
    item.uploadId = undefined;
    return stored ?? sendSession(item, order);
  }
}

/**
 * Cancels a session that cannot be continued, because it would use quota until it expires. Returns
 * its file if all chunks had arrived: a new session would find the file that this one stored.
 */
async function endSession(
  { storage, bucket, path }: UploadItem,
  uploadId: string,
  signal: AbortSignal,
): Promise<FileRecord | undefined> {
  const session = { bucket, path, uploadId, signal };
  try {
    await storage.uploads.cancel(session);
  } catch (error) {
    if (isStorageError(error, 'UploadCompleted')) return storage.uploads.complete(session);
  }
  return undefined;
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

/** Whether the session cannot be continued. NoIdentity: an API key cannot decrypt its header. */
function hasEnded(error: unknown): boolean {
  return isStorageError(error, 'NoSuchUpload', 'UploadExpired', 'UploadCancelled', 'NoIdentity');
}

/**
 * Returns the stored file if it equals the item. An earlier attempt may have succeeded although its
 * response was lost, and a retry would otherwise report that the file exists.
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
