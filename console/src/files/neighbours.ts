// The files before and after a file in its folder, in the service's order of names.

import type { Storage } from '../../../packages/client/src/storage.ts';
import { folderOf } from '../words.ts';

export interface Neighbours {
  readonly previous: string | undefined;
  readonly next: string | undefined;
}

interface FilePlace {
  readonly storage: Storage;
  readonly bucket: string;
  readonly path: string;
  readonly signal: AbortSignal;
}

/** A page also counts folders, which are skipped. */
const pageEntries = 50;
const pagesMax = 10;
/** The service's maximum. */
const sealedEntries = 1_000;

/**
 * Returns the paths of both neighbours. In a bucket that encrypts names, it looks only among the
 * first 1,000 entries of the folder, because the service cannot begin a list at a name there.
 */
export async function neighboursOf(place: FilePlace, isSealed: boolean): Promise<Neighbours> {
  if (isSealed) return neighboursInFirstPage(place);
  const [previous, next] = await Promise.all([
    firstFileAfter(place, 'name_desc'),
    firstFileAfter(place, 'name_asc'),
  ]);
  return { previous, next };
}

async function firstFileAfter(
  { storage, bucket, path, signal }: FilePlace,
  sort: 'name_asc' | 'name_desc',
): Promise<string | undefined> {
  const where = { bucket, prefix: folderOf(path), delimiter: '/', sort, signal } as const;
  let from: { cursor: string } | { startAfter: string } = { startAfter: path };
  for (let page = 0; page < pagesMax; page++) {
    const found = await storage.listFolder({ ...where, ...from, limit: pageEntries });
    const [file] = found.items;
    if (file !== undefined || found.nextCursor === undefined) return file?.path;
    from = { cursor: found.nextCursor };
  }
  return undefined;
}

async function neighboursInFirstPage(place: FilePlace): Promise<Neighbours> {
  const { storage, bucket, path, signal } = place;
  const prefix = folderOf(path);
  const limit = sealedEntries;
  const { items } = await storage.listFolder({ bucket, prefix, delimiter: '/', limit, signal });
  const paths = items.map((file) => file.path).sort();
  const at = paths.indexOf(path);
  if (at === -1) return { previous: undefined, next: undefined };
  return { previous: paths[at - 1], next: paths[at + 1] };
}
