// Makes thumbnails of uploaded pictures and stores them, a few at a time. Reports no failure, which
// only leaves a file without a thumbnail. Loaded with the first picture.

import { makeThumbnail } from '../../../packages/client/src/files/make-thumbnail.ts';
import { isStorageError } from '../../../packages/client/src/storage-error.ts';
import type { FileRecord } from '../../../packages/client/src/types/files.ts';
import { keepThumbnail } from '../files/thumbnails.ts';
import { session } from '../session.ts';
import type { UploadItem } from './item.ts';

/** A decoded photograph of 12 megapixels takes 48 MB, and an update takes seconds. */
const atOnceMax = 2;
/** Larger pictures are scans and panoramas, which can take a gigabyte when they are decoded. */
const pictureBytesMax = 30_000_000;
const waiting: { readonly item: UploadItem; readonly record: FileRecord }[] = [];
let atOnce = 0;

export async function storeThumbnail(item: UploadItem, record: FileRecord): Promise<void> {
  // The key of a drop box only adds files
  if (session.value?.drop !== undefined) return;
  waiting.push({ item, record });
  if (atOnce === atOnceMax) return;
  atOnce += 1;
  for (let one = waiting.shift(); one !== undefined; one = waiting.shift()) {
    await storeOne(one.item, one.record).catch((error) => {
      // A key that may only add files cannot store any
      if (isStorageError(error, 'AccessDenied')) waiting.length = 0;
    });
  }
  atOnce -= 1;
}

async function storeOne({ storage, file }: UploadItem, record: FileRecord): Promise<void> {
  if (file.size > pictureBytesMax) return;
  const picture = await makeThumbnail(file);
  if (picture === undefined) return;
  const { bucketId: bucket, path, etag } = record;
  await storage.thumbnails.put({ bucket, path, etag }, picture);
  keepThumbnail(record, picture);
}
