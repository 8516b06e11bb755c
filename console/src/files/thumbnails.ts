// Thumbnails of visible files: stored ones, which one query reads for all new rows, and while large
// pictures are shown, ones made of files that have none. Loaded with the first row of a picture.

import { makeThumbnail } from '../../../packages/client/src/files/make-thumbnail.ts';
import type { Storage } from '../../../packages/client/src/storage.ts';
import { isStorageError } from '../../../packages/client/src/storage-error.ts';
import type { FileRecord } from '../../../packages/client/src/types/files.ts';
import type { Thumbnail } from '../../../packages/client/src/types/thumbnails.ts';
import { isPassing } from '../failures.ts';
import { session } from '../session.ts';
import { isMade } from './pictures.ts';
import { isSealed } from './sealed.ts';
import { isPicture, shownType } from './shown-type.ts';

/** Rows that appear within this time share a query. */
const gatheredMs = 20;
const madeAtOnceMax = 3;
/** More than are ever visible at a time; together about 15 MB. */
const keptMax = 1_000;

type Name = Pick<FileRecord, 'bucketId' | 'path' | 'etag'>;

interface Wish {
  readonly storage: Storage;
  readonly file: FileRecord;
  readonly signal: AbortSignal;
  /** Receives a blob URL; not called while there is no picture. */
  onMade(address: string): void;
}

const kept = new Map<string, string>();
/** Files whose stored thumbnail was asked for. */
const asked = new Set<string>();
/** Rows without a picture. */
const wishes = new Set<Wish>();
let isPlanned = false;
let madeAtOnce = 0;

export function wishThumbnail(wish: Wish): void {
  const address = kept.get(nameOf(wish.file));
  if (address !== undefined) {
    wish.onMade(address);
    return;
  }
  wishes.add(wish);
  wish.signal.addEventListener('abort', () => wishes.delete(wish));
  if (isPlanned) return;
  isPlanned = true;
  setTimeout(readStored, gatheredMs);
}

/** Returns the cache name; it contains the ETag, so a replaced file has another one. */
function nameOf({ bucketId, path, etag }: Name): string {
  return `${bucketId}/${path} ${etag}`;
}

async function readStored(): Promise<void> {
  isPlanned = false;
  const [first] = wishes;
  if (first === undefined) return;
  const { storage } = first;
  const { bucketId: bucket } = first.file;
  const files = [...wishes]
    .map(({ file }) => file)
    .filter((file) => file.bucketId === bucket && isAskable(file));
  for (const file of files) asked.add(nameOf(file));
  const paths = files.map(({ path }) => path);
  try {
    const found = await storage.thumbnails.read({ bucket, paths });
    for (const file of files) keepStored(file, found.get(file.path));
  } catch (error) {
    // A derivation that the service refuses for now would be refused for each new row.
    const isWorthwhile = isPassing(error) && !isStorageError(error, 'SlowDown');
    if (isWorthwhile) for (const file of files) asked.delete(nameOf(file));
  }
  while (madeAtOnce < madeAtOnceMax && nextMade() !== undefined) void makeMissing();
}

/** An API key cannot decrypt. */
function isAskable(file: FileRecord): boolean {
  if (isSealed(file) && session.value?.kind === 'key') return false;
  return !asked.has(nameOf(file));
}

function keepStored(file: FileRecord, stored: Thumbnail | undefined): void {
  if (stored?.etag !== file.etag) return;
  const { bytes, contentType } = stored;
  if (!isPicture(contentType)) return;
  keepThumbnail(file, new Blob([bytes as BlobPart], { type: contentType }));
}

/** Returns the most recently visible file whose thumbnail is made of its bytes. */
function nextMade(): Wish | undefined {
  return [...wishes].reverse().find(({ file }) => isMade(file));
}

async function makeMissing(): Promise<void> {
  madeAtOnce += 1;
  for (let wish = nextMade(); wish !== undefined; wish = nextMade()) {
    wishes.delete(wish);
    const { storage, file, signal, onMade } = wish;
    const { bucketId: bucket, path } = file;
    try {
      // A thumbnail is not worth the update call that a signed record takes.
      const { bytes } = await storage.download({ bucket, path }, { certified: false, signal });
      const whole = new Blob([(await bytes()) as BlobPart], { type: shownType(file) });
      const made = await makeThumbnail(whole);
      if (made !== undefined) onMade(keepThumbnail(file, made));
    } catch {
      // The icon stays
    }
  }
  madeAtOnce -= 1;
}

/** Shows the picture in all rows of the file; returns its blob URL. */
export function keepThumbnail(file: Name, picture: Blob): string {
  const name = nameOf(file);
  const address = URL.createObjectURL(picture);
  kept.set(name, address);
  for (const wish of wishes) {
    if (nameOf(wish.file) !== name) continue;
    wishes.delete(wish);
    wish.onMade(address);
  }
  const [oldest] = kept;
  if (kept.size > keptMax && oldest !== undefined) {
    URL.revokeObjectURL(oldest[1]);
    kept.delete(oldest[0]);
    asked.delete(oldest[0]);
  }
  return address;
}
