// All entries of a bucket's journal, page by page.

import type { Connection } from '../connection/connection.ts';
import type { JournalEntriesOptions, JournalEntry } from '../types/journal.ts';
import { manage } from './buckets-and-keys.ts';

/** Yields the entries of a bucket; `after` is the number of the last one that is not wanted. */
export async function* entriesOf(
  connection: Connection,
  bucket: string,
  { after = 0, signal }: JournalEntriesOptions = {},
): AsyncGenerator<JournalEntry> {
  for (let last = after, hasMore = true; hasMore; ) {
    const page = await manage(connection, 'readJournal', { bucket, after: last }, signal);
    yield* page.entries;
    const next = page.entries.at(-1)?.seq ?? last;
    // A node that returns the same page again must not keep the loop running.
    hasMore = page.hasMore && next > last;
    last = next;
  }
}
