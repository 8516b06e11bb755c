// Reads records of files that are requested at about the same time: the first one by itself, and at
// the same time the others by a list that begins after it, because clients often request files in
// the order of their names. Records that the list lacks are read one by one.
//
// A list and a record come from one node, which can invent either; nothing else is believed of a
// list. A file that it lacks may exist, so only the read of its record reports that it does not.

import { limiter } from '../../client/src/connection/parallel.ts';
import { isStorageError } from '../../client/src/storage-error.ts';
import type { FileName, FileRecord } from '../../client/src/types/files.ts';
import { folderPageMax } from '../../wire/src/limits.ts';
import type { Account } from './account.ts';
import { GatheredReads, type PendingReads, type ReadPlace } from './gathered-reads.ts';
import { compareNames } from './listing.ts';

/** The list has this many records for each requested one. */
const listedPerFile = 4;
/** After a list that had few of the requested records, none is tried for this time. */
const scatteredMs = 10_000;
/** Concurrent reads of single records. */
const concurrency = 32;

export class RecordReads {
  readonly #reads = new GatheredReads<FileRecord>((place, reads) => this.#send(place, reads));
  /** Buckets whose files are requested in another order, or that cannot be listed from a name. */
  readonly #scattered = new WeakMap<Account, Set<string>>();

  /** Returns the present record, as `storage.stat` does. */
  find(account: Account, { bucket, path }: FileName): Promise<FileRecord> {
    return this.#reads.read({ account, bucket }, path, 0);
  }

  async #send(place: ReadPlace, reads: PendingReads<FileRecord>): Promise<void> {
    const { account, bucket } = place;
    const limited = limiter(concurrency);
    const readAlone = (path: string) => {
      const read = reads.get(path);
      read?.resolve(limited(() => account.storage.stat({ bucket, path })));
      return read?.found.catch(() => {});
    };
    const [first = '', ...others] = [...reads.keys()].sort(compareNames);
    const readFirst = readAlone(first);
    const listed = await this.#listed(place, first, others);
    for (const record of listed) reads.get(record.path)?.resolve(record);
    const known = new Set(listed.map(({ path }) => path));
    await Promise.all([readFirst, ...others.filter((path) => !known.has(path)).map(readAlone)]);
  }

  /** Returns the requested records in the list after `first`. */
  async #listed(
    place: ReadPlace,
    first: string,
    others: readonly string[],
  ): Promise<readonly FileRecord[]> {
    const { account, bucket } = place;
    if (others.length === 0 || this.#scattered.get(account)?.has(bucket)) return [];
    const wanted = new Set(others);
    const limit = Math.min(folderPageMax, listedPerFile * others.length);
    const options = { bucket, startAfter: first, limit };
    // The refusal of a list, for example in a bucket that seals names, is not that of a record.
    const page = await account.storage.listFolder(options).catch(unlessRefused);
    const found = page?.items.filter(({ path }) => wanted.has(path)) ?? [];
    if (2 * found.length < others.length) this.#noteScattered(place);
    return found;
  }

  #noteScattered({ account, bucket }: ReadPlace): void {
    const buckets = this.#scattered.get(account) ?? new Set();
    this.#scattered.set(account, buckets);
    buckets.add(bucket);
    setTimeout(() => buckets.delete(bucket), scatteredMs).unref();
  }
}

function unlessRefused(error: unknown): undefined {
  if (!isStorageError(error)) throw error;
}
