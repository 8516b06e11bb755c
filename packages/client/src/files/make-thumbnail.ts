// Makes thumbnails by the browser's own decoder and encoder.

import { thumbnailBytesMax } from '../../../wire/src/limits.ts';

const longSidePixels = 320;
const qualities = [0.8, 0.6, 0.4];
/** Safari encodes no WebP and returns PNG instead. */
const types = ['image/webp', 'image/jpeg'];

/**
 * Makes the thumbnail of a picture in a browser, at most 320 pixels wide and high, turned as the
 * picture says (EXIF). Returns `undefined` if the browser cannot decode the picture.
 *
 * @example
 * ```ts
 * import { makeThumbnail } from '@encrypted-file-storage/client';
 *
 * const photo = new Blob(['photo'], { type: 'image/jpeg' });
 * const { path, etag } = await storage.upload(photo, { bucket: 'demo', path: 'photo.jpg' });
 * const picture = await makeThumbnail(photo);
 * if (picture) await storage.thumbnails.put({ bucket: 'demo', path, etag }, picture);
 * ```
 */
export async function makeThumbnail(picture: Blob): Promise<Blob | undefined> {
  const decoded = await createImageBitmap(picture).catch(() => undefined);
  if (decoded === undefined) return undefined;
  const scale = Math.min(1, longSidePixels / Math.max(decoded.width, decoded.height));
  const [width, height] = [decoded.width, decoded.height].map((side) =>
    Math.max(1, Math.round(side * scale)),
  ) as [number, number];
  const canvas = new OffscreenCanvas(width, height);
  const context = canvas.getContext('2d');
  if (context !== null) context.imageSmoothingQuality = 'high';
  context?.drawImage(decoded, 0, 0, width, height);
  decoded.close();
  for (const quality of qualities) {
    for (const type of types) {
      const made = await canvas.convertToBlob({ type, quality });
      if (made.type === type && made.size <= thumbnailBytesMax) return made;
    }
  }
  return undefined;
}
