// The changes of a bucket as the journal's entries describe them: selects entries, and reads
// further ones until enough are found.

import { signal } from '@preact/signals';
import type { Storage } from '../../packages/client/src/storage.ts';
import type { JournalEntry } from '../../packages/client/src/types/journal.ts';
import { sentenceOf } from './failures.ts';

export const groups = ['files', 'links', 'keys', 'members', 'settings'] as const;

export type Group = (typeof groups)[number];

/** Groups by the first word of a kind; unknown ones are only among all changes. */
const groupOf: Readonly<Record<string, Group>> = {
  ...{ file: 'files', version: 'files', hold: 'files', thumbnail: 'files' },
  ...{ link: 'links', key: 'keys', member: 'members' },
  ...{ bucket: 'settings', rule: 'settings' },
};

export interface Wanted {
  readonly group?: Group | undefined;
  /** Part of the path, also of the one before a move; in any case of letters. */
  readonly text?: string | undefined;
  /** Only changes of this file, also those under its former paths. */
  readonly path?: string | undefined;
}

/** Returns the wanted entries, newest first as they are passed. */
export function wantedEntries(
  entries: readonly JournalEntry[],
  { group, text = '', path }: Wanted,
): JournalEntry[] {
  const found = path === undefined ? entries : entriesOfFile(entries, path);
  const part = text.toLowerCase();
  return found.filter(({ kind, path = '', formerPath = '' }) => {
    const isOfGroup = group === undefined || groupOf[kind.split('.')[0] ?? ''] === group;
    return isOfGroup && [path, formerPath].some((one) => one.toLowerCase().includes(part));
  });
}

/** Earlier entries of a moved file have its former path, and its present one is another file's. */
function entriesOfFile(entries: readonly JournalEntry[], path: string): JournalEntry[] {
  let name = path;
  return entries.filter((entry) => {
    const isMovedAway = entry.formerPath === name;
    if (entry.path !== name) return isMovedAway;
    name = entry.formerPath ?? name;
    return true;
  });
}

/** The service returns at most so many entries in one page. */
const pageEntries = 100;
/** Loading ends when so many further entries are found, or so many pages are read. */
const entriesAtOnce = 50;
const pagesAtOnce = 10;

/** The entries that have been read, newest first. */
export class Activity {
  readonly entries = signal<readonly JournalEntry[]>([]);
  readonly state = signal<'loading' | 'more' | 'complete'>('more');
  readonly failure = signal<string | undefined>(undefined);
  readonly #storage: Storage;
  readonly #bucket: string;
  readonly #controller = new AbortController();

  constructor(storage: Storage, bucket: string) {
    this.#storage = storage;
    this.#bucket = bucket;
  }

  /** Reads until enough further entries are found. What has been read stays after a failure. */
  async loadMore(wanted: Wanted): Promise<void> {
    if (this.state.value !== 'more') return;
    this.state.value = 'loading';
    this.failure.value = undefined;
    try {
      this.state.value = (await this.#read(wanted)) ? 'more' : 'complete';
    } catch (error) {
      this.state.value = 'more';
      if (!this.#controller.signal.aborted) this.failure.value = sentenceOf(error);
    }
  }

  /** Returns whether more entries follow. */
  async #read(wanted: Wanted): Promise<boolean> {
    const { signal } = this.#controller;
    const count = () => wantedEntries(this.entries.value, wanted).length;
    const enough = count() + entriesAtOnce;
    for (let pages = 0; pages < pagesAtOnce && count() < enough; pages++) {
      const before = this.entries.value.at(-1)?.seq;
      const options = { before, limit: pageEntries, signal };
      const { entries, hasMore } = await this.#storage.journal.list(this.#bucket, options);
      this.entries.value = [...this.entries.value, ...entries];
      if (!hasMore || entries.length === 0) return false;
    }
    return true;
  }

  close(): void {
    this.#controller.abort();
  }
}
