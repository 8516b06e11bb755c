// Stores small objects that arrive at about the same time by one update, because one object takes
// as long as two hundred. A single object does not wait. Each request gets its own result.

import { StorageError } from '../../client/src/storage-error.ts';
import type { FileRecord } from '../../client/src/types/files.ts';
import type { FileToUpload } from '../../client/src/types/transfers.ts';
import type { Account } from './account.ts';

interface Waiting {
  readonly file: FileToUpload;
  readonly resolve: (record: FileRecord) => void;
  readonly reject: (error: unknown) => void;
}

interface Group {
  waiting: Waiting[];
  isTimed: boolean;
  /** The number of running updates, and the time at which the last one ended. */
  underWay: number;
  endedMs: number;
}

/** Time to wait for others if others were active: a fortieth of an update. */
const windowMs = 50;
/** After an answer, the client's next object is expected for this time. */
const recentMs = 100;
/** Concurrent uploads of files too large for a batch. */
const concurrency = 16;

export class SmallPuts {
  readonly #groups = new WeakMap<Account, Map<string, Group>>();

  /** Resolves when the file is stored. The file must fit into one update. */
  put(account: Account, bucket: string, file: FileToUpload): Promise<FileRecord> {
    const group = this.#groupOf(account, bucket);
    return new Promise((resolve, reject) => {
      group.waiting.push({ file, resolve, reject });
      this.#schedule(account, bucket, group);
    });
  }

  #groupOf(account: Account, bucket: string): Group {
    const groups = this.#groups.get(account) ?? new Map<string, Group>();
    this.#groups.set(account, groups);
    const group = groups.get(bucket) ?? { waiting: [], isTimed: false, underWay: 0, endedMs: 0 };
    groups.set(bucket, group);
    return group;
  }

  #schedule(account: Account, bucket: string, group: Group): void {
    if (group.isTimed) return;
    group.isTimed = true;
    const isAlone = group.underWay === 0 && Date.now() - group.endedMs > recentMs;
    setTimeout(
      () => {
        group.isTimed = false;
        void this.#send(account, bucket, group);
      },
      isAlone ? 0 : windowMs,
    );
  }

  async #send(account: Account, bucket: string, group: Group): Promise<void> {
    const sent = takeFirsts(group);
    if (group.waiting.length > 0) this.#schedule(account, bucket, group);
    group.underWay += 1;
    try {
      const files = [...sent.values()].map(({ file }) => file);
      for await (const ended of account.storage.uploadAll(files, { bucket, concurrency })) {
        const waiting = sent.get(ended.path);
        sent.delete(ended.path);
        if (ended.error !== undefined) waiting?.reject(ended.error);
        else waiting?.resolve(ended.file);
      }
      throw new StorageError('NetworkError', "The service's answer lacks this object.");
    } catch (error) {
      for (const { reject } of sent.values()) reject(error);
    } finally {
      group.underWay -= 1;
      group.endedMs = Date.now();
      const isIdle = group.underWay === 0 && group.waiting.length === 0;
      if (isIdle) this.#forget(account, bucket);
    }
  }

  /** Callers can name any bucket, so no state is kept per name. */
  #forget(account: Account, bucket: string): void {
    setTimeout(() => {
      const group = this.#groups.get(account)?.get(bucket);
      const isIdle = group?.underWay === 0 && group.waiting.length === 0;
      if (isIdle) this.#groups.get(account)?.delete(bucket);
    }, recentMs).unref();
  }
}

/** Takes the first file of each path; another one for the same path is stored after it. */
function takeFirsts(group: Group): Map<string, Waiting> {
  const firsts = new Map<string, Waiting>();
  const later: Waiting[] = [];
  for (const waiting of group.waiting) {
    const { path } = waiting.file;
    if (firsts.has(path)) later.push(waiting);
    else firsts.set(path, waiting);
  }
  group.waiting = later;
  return firsts;
}
