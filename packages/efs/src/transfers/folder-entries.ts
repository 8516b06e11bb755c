// The files and folders directly in a folder, sorted by name.

import type { Storage } from '../../../client/src/storage.ts';
import type { FileRecord } from '../../../client/src/types/files.ts';
import type {
  FolderOptions,
  FolderPage,
  FolderRecord,
} from '../../../client/src/types/listings.ts';

/** The service's maximum; the first page is shorter, because many callers need few entries. */
const pageEntriesMax = 1_000;

export type Entry = FileRecord | FolderRecord;

export function isFile(entry: Entry): entry is FileRecord {
  return 'size' in entry;
}

export async function* entriesOf(
  storage: Storage,
  options: Omit<FolderOptions, 'delimiter' | 'cursor' | 'limit'>,
): AsyncGenerator<Entry> {
  const sign = options.sort === 'name_desc' ? -1 : 1;
  let cursor: string | undefined;
  do {
    const limit = cursor === undefined ? undefined : pageEntriesMax;
    const request = { ...options, delimiter: '/', limit, cursor } as const;
    const page: FolderPage = await storage.listFolder(request);
    const entries = [...page.items, ...page.folders];
    yield* entries.sort((one, other) => sign * compareNames(one.path, other.path));
    cursor = page.nextCursor;
  } while (cursor !== undefined);
}

/** Compares bytes, as the service sorts. */
function compareNames(one: string, other: string): number {
  return Buffer.compare(Buffer.from(one), Buffer.from(other));
}
