// Small pictures in the place of icons, where somebody wants them: each is fetched once, a few at a
// time, those that came into sight last first, and made small before it is kept.

import { signal } from '@preact/signals';
import type { Storage } from '../../../packages/client/src/storage.ts';
import type { FileRecord } from '../../../packages/client/src/types/files.ts';
import { shownType } from './shown-type.ts';

/** Twice what it takes on the page, for fine displays. */
const widthPixels = 192;
const sourceBytesMax = 10_000_000;
const atOnceMax = 3;
/** More than are ever in sight. */
const keptMax = 300;

const settingName = 'efs-pictures';

/** Off until asked for: it reads whole pictures. */
export const arePicturesShown = signal(localStorage.getItem(settingName) === '1');

export function togglePictures(): void {
  arePicturesShown.value = !arePicturesShown.value;
  if (arePicturesShown.value) localStorage.setItem(settingName, '1');
  else localStorage.removeItem(settingName);
}

/** Whether browsers can shrink the picture; they cannot with a drawing (SVG). */
export function hasThumbnail(file: FileRecord): boolean {
  const isPicture = /^image\/(?!svg)/.test(shownType(file));
  return isPicture && file.size <= sourceBytesMax;
}

interface Wish {
  readonly storage: Storage;
  readonly file: FileRecord;
  readonly signal: AbortSignal;
  /** Receives an address of this page; not called if the file contains no picture. */
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

/** Name in the cache for these bytes: a replaced file has another tag. */
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
  const { bytes } = await storage.download({ bucket, path }, { signal: abort });
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
