// Makes thumbnails; loaded when the user turns them on. Each picture is downloaded once and
// cached at a small size. A few load at a time, the most recently visible first.

import type { Storage } from '../../../packages/client/src/storage.ts';
import type { FileRecord } from '../../../packages/client/src/types/files.ts';
import { shownType } from './shown-type.ts';

/** Twice the width on the page, for displays of high resolution. */
const widthPixels = 192;
const atOnceMax = 3;
/** More than are ever visible at a time. */
const keptMax = 300;

interface Wish {
  readonly storage: Storage;
  readonly file: FileRecord;
  readonly signal: AbortSignal;
  /** Receives a blob URL; not called if no picture could be made. */
  onMade(address: string): void;
}

const kept = new Map<string, string>();
const waiting: Wish[] = [];
let atOnce = 0;

export function wishThumbnail(wish: Wish): void {
  const address = kept.get(nameOfKept(wish.file));
  if (address === undefined) {
    waiting.push(wish);
    void work();
  } else wish.onMade(address);
}

/** Returns the cache name; it contains the ETag, so a replaced file has another one. */
function nameOfKept({ bucketId, path, etag }: FileRecord): string {
  return `${bucketId}/${path} ${etag}`;
}

async function work(): Promise<void> {
  if (atOnce === atOnceMax) return;
  atOnce += 1;
  for (let wish = waiting.pop(); wish !== undefined; wish = waiting.pop()) {
    if (wish.signal.aborted) continue;
    const address = await made(wish).catch(() => undefined);
    if (address !== undefined) wish.onMade(address);
  }
  atOnce -= 1;
}

async function made({ storage, file, signal: abort }: Wish): Promise<string | undefined> {
  const { bucketId: bucket, path } = file;
  // A thumbnail is not worth the update call that a signed record takes.
  const options = { certified: false, signal: abort };
  const { bytes } = await storage.download({ bucket, path }, options);
  const whole = new Blob([(await bytes()) as BlobPart], { type: shownType(file) });
  const picture = await createImageBitmap(whole, { resizeWidth: widthPixels });
  const canvas = new OffscreenCanvas(picture.width, picture.height);
  canvas.getContext('2d')?.drawImage(picture, 0, 0);
  picture.close();
  const address = URL.createObjectURL(await canvas.convertToBlob({ type: 'image/webp' }));
  keep(nameOfKept(file), address);
  return address;
}

function keep(name: string, address: string): void {
  kept.set(name, address);
  const [oldest] = kept;
  if (kept.size <= keptMax || oldest === undefined) return;
  URL.revokeObjectURL(oldest[1]);
  kept.delete(oldest[0]);
}
