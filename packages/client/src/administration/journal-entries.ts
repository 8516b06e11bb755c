// All entries of a bucket's journal, page by page.

import type { Connection } from '../connection/connection.ts';
import type { JournalEntriesOptions, JournalEntry, JournalPage } from '../types/journal.ts';
import { manage } from './buckets-and-keys.ts';

/** Entries of the first page; each further one has up to ten times as many. */
const firstLimit = 100;
const limitMax = 5_000;

/** Yields the entries of a bucket; `after` is the number of the last one that is not wanted. */
export async function* entriesOf(
  connection: Connection,
  bucket: string,
  { after = 0, signal }: JournalEntriesOptions = {},
): AsyncGenerator<JournalEntry> {
  const read = (last: number, limit: number) =>
    manage(connection, 'readJournal', { bucket, after: last, limit }, signal);
  let limit = firstLimit;
  let next: Promise<JournalPage> | undefined = read(after, limit);
  for (let last = after; next !== undefined; ) {
    const page: JournalPage = await next;
    const end = page.entries.at(-1)?.seq ?? last;
    limit = Math.min(10 * limit, limitMax);
    // A node that returns the same page again must not keep the loop running
    next = page.hasMore && end > last ? read(end, limit) : undefined;
    // A failure is reported when the page's turn comes
    next?.catch(() => {});
    last = end;
    yield* page.entries;
  }
}
