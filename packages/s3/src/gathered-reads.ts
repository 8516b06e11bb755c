// Reads of files that arrive at about the same time and that few queries answer together. A read
// is sent at once if none of its bucket is under way. Later ones wait until that one has ended, at
// most for `windowMs`, and are then sent together.

import { StorageError } from '../../client/src/storage-error.ts';
import { readFileCountMax, readFilesBytesMax } from '../../wire/src/limits.ts';
import type { Account } from './account.ts';

export interface ReadPlace {
  readonly account: Account;
  readonly bucket: string;
}

export interface PendingRead<Found> {
  /** Expected length of the answer, in bytes. */
  readonly size: number;
  readonly found: Promise<Found>;
  readonly resolve: (found: Found | Promise<Found>) => void;
  readonly reject: (error: unknown) => void;
}

/** Reads by their paths. */
export type PendingReads<Found> = ReadonlyMap<string, PendingRead<Found>>;

interface Group<Found> {
  /** Reads that have not been sent. */
  readonly waiting: Map<string, PendingRead<Found>>;
  underWay: number;
  isDue: boolean;
  timer?: NodeJS.Timeout | undefined;
}

/** A quarter of the time of a query on the network. */
const windowMs = 50;
/** Bytes of the reads that are sent together; leaves room for paths in the service's answer. */
const bytesMax = readFilesBytesMax - 200_000;

export class GatheredReads<Found> {
  readonly #groups = new WeakMap<Account, Map<string, Group<Found>>>();
  readonly #send: (place: ReadPlace, reads: PendingReads<Found>) => Promise<void>;

  /** `send` settles each read; a rejection is the result of all reads without one. */
  constructor(send: (place: ReadPlace, reads: PendingReads<Found>) => Promise<void>) {
    this.#send = send;
  }

  /**
   * Resolves to the file's result. Reads of one path share a request only if it is sent after all
   * of them have arrived, so that each returns what was stored before it.
   */
  read(place: ReadPlace, path: string, size: number): Promise<Found> {
    const group = this.#groupOf(place);
    const known = group.waiting.get(path);
    if (known !== undefined) return known.found;
    const made = pendingRead<Found>(size);
    group.waiting.set(path, made);
    this.#schedule(place, group);
    return made.found;
  }

  #groupOf({ account, bucket }: ReadPlace): Group<Found> {
    const groups = this.#groups.get(account) ?? new Map<string, Group<Found>>();
    this.#groups.set(account, groups);
    const group = groups.get(bucket) ?? { waiting: new Map(), underWay: 0, isDue: false };
    groups.set(bucket, group);
    return group;
  }

  #schedule(place: ReadPlace, group: Group<Found>): void {
    if (group.waiting.size === 0 || group.isDue) return;
    if (group.underWay > 0) {
      group.timer ??= setTimeout(() => void this.#sendFirsts(place, group), windowMs);
      return;
    }
    group.isDue = true;
    // Requests whose bytes have arrived together are handled before.
    setImmediate(() => void this.#sendFirsts(place, group));
  }

  async #sendFirsts(place: ReadPlace, group: Group<Found>): Promise<void> {
    clearTimeout(group.timer);
    group.timer = undefined;
    group.isDue = false;
    const reads = takeFirsts(group.waiting);
    group.underWay += 1;
    this.#schedule(place, group);
    try {
      await this.#send(place, reads);
      throw new StorageError('NetworkError', "The service's answer lacks this object.");
    } catch (error) {
      for (const { reject } of reads.values()) reject(error);
    } finally {
      group.underWay -= 1;
      this.#schedule(place, group);
      // Callers can name any bucket, so no state is kept per name.
      const isIdle = group.underWay === 0 && group.waiting.size === 0;
      if (isIdle) this.#groups.get(place.account)?.delete(place.bucket);
    }
  }
}

function pendingRead<Found>(size: number): PendingRead<Found> {
  let resolve: PendingRead<Found>['resolve'] = () => {};
  let reject: PendingRead<Found>['reject'] = () => {};
  const found = new Promise<Found>((...settle) => {
    [resolve, reject] = settle;
  });
  return { size, found, resolve, reject };
}

/** Takes the reads that fit into one answer, at least one. */
function takeFirsts<Found>(waiting: Map<string, PendingRead<Found>>): PendingReads<Found> {
  const taken = new Map<string, PendingRead<Found>>();
  let bytes = 0;
  for (const [path, read] of waiting) {
    bytes += read.size;
    if (taken.size === readFileCountMax || (taken.size > 0 && bytes > bytesMax)) break;
    taken.set(path, read);
    waiting.delete(path);
  }
  return taken;
}
