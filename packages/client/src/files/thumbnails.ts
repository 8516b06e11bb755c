// Thumbnails of files, for readers and writers of the bucket.

import { readFileCountMax } from '../../../wire/src/limits.ts';
import { type Connection, perform } from '../connection/connection.ts';
import { isStorageError } from '../storage-error.ts';
import type { CallOptions } from '../types/call-options.ts';
import { ageType } from '../types/end-to-end.ts';
import type { PicturedFile, Thumbnail, ThumbnailsOptions } from '../types/thumbnails.ts';

/**
 * Small pictures of files. Copies, moves and former versions of a file keep its thumbnail, and it
 * is deleted with them. In end-to-end buckets they are encrypted before they are sent.
 */
export interface Thumbnails {
  /**
   * Stores the thumbnail of a file, or replaces it: WebP, JPEG, PNG or AVIF, at most 32,768 bytes.
   * makeThumbnail() makes one in a browser. In an end-to-end bucket, use the storage that uploaded
   * the file: then the file's key opens the thumbnail too, and no identity is needed.
   *
   * @example
   * ```ts
   * const photo = new Blob(['photo'], { type: 'image/jpeg' });
   * const { path, etag } = await storage.upload(photo, { bucket: 'demo', path: 'photo.jpg' });
   * const picture = new Uint8Array([0xff, 0xd8, 0xff, 0xe0]);
   * await storage.thumbnails.put({ bucket: 'demo', path, etag }, picture);
   * ```
   */
  put(file: PicturedFile, picture: Blob | Uint8Array, options?: CallOptions): Promise<void>;
  /**
   * Returns the thumbnails by path, up to 200 with one request; files without one are absent. One
   * node of the network answers. Encrypted ones that cannot be opened are absent too; if none can
   * be opened, fails like the first, with NoIdentity or IntegrityError.
   *
   * @example
   * ```ts
   * const paths = ['photo.jpg', 'notes/hello.txt'];
   * const thumbnails = await storage.thumbnails.read({ bucket: 'demo', paths });
   * for (const [path, { contentType, bytes }] of thumbnails) {
   *   console.log(path, contentType, bytes.length);
   * }
   * ```
   */
  read(options: ThumbnailsOptions): Promise<ReadonlyMap<string, Thumbnail>>;
}

const types = ['image/webp', 'image/jpeg', 'image/png', 'image/avif', ageType];

export async function pictureBytes(picture: Blob | Uint8Array): Promise<Uint8Array> {
  return picture instanceof Uint8Array ? picture : new Uint8Array(await picture.arrayBuffer());
}

export function thumbnailsOf(connection: Connection): Thumbnails {
  return {
    async put({ bucket, path, etag }, picture, { signal } = {}) {
      const bytes = await pictureBytes(picture);
      await perform(connection, 'putThumbnail', { bucket, path, etag, bytes }, signal);
    },
    read: (options) => readThumbnails(connection, options),
  };
}

async function readThumbnails(
  connection: Connection,
  { bucket, paths, signal }: ThumbnailsOptions,
): Promise<ReadonlyMap<string, Thumbnail>> {
  const found = new Map<string, Thumbnail>();
  for (let start = 0; start < paths.length; ) {
    const asked = paths.slice(start, start + readFileCountMax);
    const request = { bucket, paths: asked, asThumbnails: true };
    const results = await perform(connection, 'readFiles', request, signal);
    for (const [index, result] of results.entries()) {
      if (!isStorageError(result)) {
        const { etag, contentType, bytes } = result;
        // One node answers: another type could run a script where an app shows it
        const isSafe = types.includes(contentType);
        if (isSafe) found.set(asked[index] ?? '', { etag, contentType, bytes });
      } else if (result.code !== 'NoSuchFile') throw result;
    }
    // The service answers at least one path
    start += Math.max(1, results.length);
  }
  return found;
}
