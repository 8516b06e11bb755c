// Follows the journal of a bucket: reads entries, and asks for later ones until the caller stops.

import { onAbort } from '../connection/abort.ts';
import type { Connection } from '../connection/connection.ts';
import { StorageError } from '../storage-error.ts';
import type { JournalEntry, JournalWatchOptions } from '../types/journal.ts';
import { manage } from './buckets-and-keys.ts';
import { entriesOf } from './journal-entries.ts';

const intervalMsDefault = 1_000;
const intervalMsMin = 100;
/** Longest delay of timers. */
const intervalMsMax = 2 ** 31 - 1;
/** Pauses grow while nothing changes, up to so many times the interval. */
const idleFactorMax = 10;

/** Yields entries in their order, each once; ends when the signal aborts. */
export async function* watchEntries(
  connection: Connection,
  bucket: string,
  { after, intervalMs = intervalMsDefault, signal }: JournalWatchOptions,
): AsyncGenerator<JournalEntry> {
  requireInterval(intervalMs);
  let pauseMs = intervalMs;
  try {
    let last =
      after ?? (await manage(connection, 'readJournal', { bucket, limit: 1 }, signal)).last;
    while (!signal?.aborted) {
      for await (const entry of entriesOf(connection, bucket, { after: last, signal })) {
        requireLater(entry, last);
        pauseMs = intervalMs;
        last = entry.seq;
        yield entry;
        if (signal?.aborted) return;
      }
      await pause(pauseMs, signal);
      pauseMs = Math.min(2 * pauseMs, idleFactorMax * intervalMs, intervalMsMax);
    }
  } catch (error) {
    if (!signal?.aborted) throw error;
  }
}

function requireInterval(intervalMs: number): void {
  if (intervalMs >= intervalMsMin && intervalMs <= intervalMsMax) return;
  throw new StorageError(
    'InvalidArgument',
    `intervalMs is ${intervalMs}: pass ${intervalMsMin} to ${intervalMsMax} milliseconds.`,
  );
}

function requireLater({ seq }: JournalEntry, last: number): void {
  if (seq > last) return;
  throw new StorageError(
    'IntegrityError',
    `A node returned entry ${seq} of the journal after entry ${last}: continue after ${last} to ` +
      'reach another node.',
  );
}

/** Ends early when the signal aborts. */
function pause(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const stop = () => {
      clearTimeout(timer);
      resolve();
    };
    const timer = setTimeout(() => {
      settled();
      resolve();
    }, milliseconds);
    const settled = onAbort(signal, stop);
  });
}

/** Returns whether the entry has one of the kinds, and a path that begins with the prefix. */
export function isWatched(
  { kind, path, formerPath }: JournalEntry,
  { kinds, prefix }: JournalWatchOptions,
): boolean {
  if (kinds !== undefined && !kinds.includes(kind)) return false;
  if (prefix === undefined) return true;
  return [path, formerPath].some((each) => each?.startsWith(prefix));
}
