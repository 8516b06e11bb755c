// The journal of changes, which requires the actor and the identity of a member of the bucket.

import type { Connection } from '../connection/connection.ts';
import type { Signal } from '../connection/transport.ts';
import type {
  JournalEntriesOptions,
  JournalEntry,
  JournalListOptions,
  JournalPage,
  JournalVerifyOptions,
  JournalWatchOptions,
  VerifiedJournal,
} from '../types/journal.ts';
import { manage } from './buckets-and-keys.ts';
import { entriesOf } from './journal-entries.ts';
import { isWatched, watchEntries } from './journal-watch.ts';

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
   * Yields changes of a bucket as they happen, by default those after the call, oldest first and
   * each once, and ends when the signal aborts. It polls by queries, which cost the caller nothing:
   * each entry is one node's word until `verify()` has compared it with the certified chain. To
   * continue later, pass the number of the last entry as `after`.
   *
   * @example
   * ```ts
   * const stop = new AbortController();
   * const changes = storage.journal.watch('demo', { prefix: 'notes/', signal: stop.signal });
   * setTimeout(() => stop.abort(), 3_000);
   * for await (const { seq, kind, path } of changes) console.log(seq, kind, path);
   * ```
   */
  watch(bucket: string, options?: JournalWatchOptions): AsyncIterable<JournalEntry>;
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
  /**
   * Sets for how many days the bucket shows its entries, 0 to 3,650; 90 by default. Requires an
   * owner. Returns the number.
   *
   * @example
   * ```ts
   * console.log(await storage.journal.keep('demo', 365));
   * ```
   */
  keep(bucket: string, days: number): Promise<number>;
  /**
   * Replaces the paths, or other subjects, of up to 100 entries by their hashes, for ever. Requires
   * an owner. The chain of blocks stays valid. Returns how many were not redacted before.
   *
   * @example
   * ```ts
   * const { entries } = await storage.journal.list('demo', { limit: 1 });
   * console.log(await storage.journal.redact('demo', entries.map(({ seq }) => seq)));
   * ```
   */
  redact(bucket: string, entries: readonly number[]): Promise<number>;
}

/** Returns a function that opens the paths of a bucket, if it seals them. */
export type PathOpener = (bucket: string, signal: Signal) => Promise<(path: string) => string>;

/** `openerOf`: absent for callers whose buckets have no sealed names. */
export function journalOf(connection: Connection, openerOf: PathOpener = plainPaths): Journal {
  return {
    async list(bucket, { signal, ...request } = {}) {
      const open = await openerOf(bucket, signal);
      const page = await manage(connection, 'readJournal', { bucket, ...request }, signal);
      return { ...page, entries: page.entries.map((entry) => opened(entry, open)) };
    },
    async *entries(bucket, options = {}) {
      const open = await openerOf(bucket, options.signal);
      for await (const entry of entriesOf(connection, bucket, options)) yield opened(entry, open);
    },
    keep: (bucket, days) => manage(connection, 'keepJournal', { bucket, days }),
    redact: (bucket, entries) => manage(connection, 'redactEntries', { bucket, entries }),
    async *watch(bucket, options = {}) {
      const open = await openerOf(bucket, options.signal);
      for await (const sealed of watchEntries(connection, bucket, options)) {
        const entry = opened(sealed, open);
        if (isWatched(entry, options)) yield entry;
      }
    },
    async verify(options = {}) {
      const { verifyJournal } = await import('./journal-verification.ts');
      return verifyJournal(connection, options);
    },
  };
}

async function plainPaths() {
  return (path: string) => path;
}

/** The subject stays as the service stores it, because the block commits to it. */
function opened(entry: JournalEntry, open: (path: string) => string): JournalEntry {
  const { path, formerPath } = entry;
  if (path === undefined) return entry;
  const former = formerPath === undefined ? {} : { formerPath: open(formerPath) };
  return { ...entry, path: open(path), ...former };
}
