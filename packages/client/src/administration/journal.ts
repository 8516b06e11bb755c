// The journal of changes, which requires the actor and the identity of a member of the bucket.

import type { Connection } from '../connection/connection.ts';
import type {
  JournalEntriesOptions,
  JournalEntry,
  JournalListOptions,
  JournalPage,
  JournalVerifyOptions,
  VerifiedJournal,
} from '../types/journal.ts';
import { manage } from './buckets-and-keys.ts';
import { entriesOf } from './journal-entries.ts';

/** Reads the journal: an entry for each change in a bucket. Requires the identity of a member. */
export interface Journal {
  /**
   * Returns a page of a bucket's entries, by default the newest 100, newest first. One node of the
   * network answers; `verify()` compares its answers with the certified chain.
   *
   * @example
   * ```ts
   * const { entries, hasMore } = await storage.journal.list('demo');
   * for (const { at, kind, by, path } of entries) console.log(at, kind, by.id, path);
   * console.log(hasMore);
   * ```
   */
  list(bucket: string, options?: JournalListOptions): Promise<JournalPage>;
  /**
   * Yields all entries of a bucket up to the present, oldest first.
   *
   * @example
   * ```ts
   * for await (const { at, kind, path } of storage.journal.entries('demo')) {
   *   console.log(at, kind, path);
   * }
   * ```
   */
  entries(bucket: string, options?: JournalEntriesOptions): AsyncIterable<JournalEntry>;
  /**
   * Verifies that the chain of blocks ends in the tip that the network has certified within five
   * minutes, so that no block was altered, removed, repeated or reordered. Keep the returned tip:
   * passed as `since` later, it proves that nothing before it was changed. Throws IntegrityError
   * that names the block, and Untrusted if a node reports another tip than the network's.
   *
   * @example
   * ```ts
   * const { tip, blocks } = await storage.journal.verify();
   * console.log(tip.index, tip.hash, blocks);
   * ```
   */
  verify(options?: JournalVerifyOptions): Promise<VerifiedJournal>;
}

export function journalOf(connection: Connection): Journal {
  return {
    list: (bucket, { signal, ...page } = {}) =>
      manage(connection, 'readJournal', { bucket, ...page }, signal),
    entries: (bucket, options) => entriesOf(connection, bucket, options),
    async verify(options = {}) {
      const { verifyJournal } = await import('./journal-verification.ts');
      return verifyJournal(connection, options);
    },
  };
}
