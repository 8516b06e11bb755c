// The journal of buckets with the real log: how long entries are shown and stored, and checkpoints.

import { beforeEach, describe, expect, test } from 'vitest';
import { deleteBucket } from '../../src/domain/administration/bucket-administration.ts';
import { createBucket } from '../../src/domain/administration/bucket-creation.ts';
import { appendEntry, checkpointEvery } from '../../src/domain/journal/bucket-journal.ts';
import { readJournal } from '../../src/domain/journal/journal-reading.ts';
import { cutJournal, keepJournal } from '../../src/domain/journal/journal-retention.ts';
import { openedEntries } from '../../src/domain/journal/opened-entries.ts';
import { redactEntries } from '../../src/domain/journal/redaction.ts';
import { entryKinds } from '../../src/domain/shared/journal.ts';
import type { Stores } from '../../src/domain/shared/stores.ts';
import { emptyBytes } from '../../src/lib/bytes.ts';
import { openJournalLog } from '../../src/storage/journal-log.ts';
import { spaceIds } from '../../src/storage/memory.ts';
import { callOf } from '../support/domain-fixture.ts';
import { createMemoryStores, type MemoryStores } from '../support/memory-stores.ts';

const dayNs = 86_400_000_000_000n;
const start = callOf('alice').nowNs;
const hashes = new Uint8Array((4 + entryKinds.length) * 32);
/** At least as many as a page of the log has. */
const pageEntries = 170;

let memory: MemoryStores;
let stores: Stores;

beforeEach(async () => {
  memory = await createMemoryStores();
  const journalLog = openJournalLog(spaceIds.journal, () => hashes);
  stores = { ...memory, journalLog };
  for (const bucket of ['films', 'music']) {
    const alice = ownerAt(0);
    const caller = { ...alice.caller, isController: true };
    createBucket(stores, { ...alice, caller }, { bucket, isPublic: false });
  }
});

function ownerAt(days: number) {
  return { ...callOf('alice'), nowNs: start + BigInt(days) * dayNs };
}

/** Appends entries of one day. */
function append(days: number, count: number, bucket = 'films'): void {
  const actor = { kind: 'canister', id: emptyBytes } as const;
  for (let index = 0; index < count; index++) {
    const change = { kind: 'file.stored', subject: `${days}/${index}` } as const;
    appendEntry(stores, bucket, change, { actor, nowNs: ownerAt(days).nowNs });
  }
}

function subjects(days: number, bucket = 'films'): string[] {
  const found: string[] = [];
  for (let after = 0, hasMore = true; hasMore; ) {
    const nothing = { apiKey: undefined, before: undefined, limit: undefined, kinds: emptyBytes };
    const page = readJournal(stores, ownerAt(days), { bucket, after, ...nothing });
    const entries = openedEntries(page.entries);
    found.push(...entries.map(({ subject }) => subject));
    after = entries.at(-1)?.seq ?? after;
    hasMore = page.hasMore;
  }
  return found;
}

const first = () => stores.journalLog.tip().first;

describe('readJournal()', () => {
  const nothing = { apiKey: undefined, before: undefined, kinds: emptyBytes };
  const read = (limit: number, limitMax?: number) =>
    readJournal(stores, ownerAt(0), {
      ...{ bucket: 'films', after: 0, limit, ...nothing },
      ...(limitMax !== undefined && { limitMax }),
    });

  test('refuses more than 100 entries, or than the largest limit of a query', () => {
    append(0, 1);
    expect(() => read(101)).toThrow('limit is 101: send 1 to 100.');
    expect(() => read(5_001, 5_000)).toThrow('limit is 5001: send 1 to 5000.');
    expect(read(5_000, 5_000).entries.count).toBe(1);
  });
});

describe('keepJournal()', () => {
  test('hides entries that are older than its days', () => {
    append(0, 2);
    append(50, 1);
    expect(subjects(89)).toEqual(['0/0', '0/1', '50/0']);
    expect(subjects(91)).toEqual(['50/0']);
    expect(keepJournal(stores, ownerAt(91), { bucket: 'films', days: 365 })).toBe(365);
    expect(subjects(91)).toEqual(['0/0', '0/1', '50/0']);
    keepJournal(stores, ownerAt(91), { bucket: 'films', days: 0 });
    expect(subjects(91)).toEqual([]);
    expect(memory.noted.slice(-2)).toMatchObject([
      { kind: 'bucket.changed', subject: 'journalDays' },
      { kind: 'bucket.changed', subject: 'journalDays' },
    ]);
  });

  test('shows what follows many hidden entries', () => {
    append(0, 500);
    append(0, 100, 'music');
    append(95, 3);
    append(96, 1);
    expect(subjects(96)).toEqual(['95/0', '95/1', '95/2', '96/0']);
    expect(subjects(96, 'music')).toEqual([]);
    expect(subjects(0)).toHaveLength(504);
  });

  test('sets the days of a bucket that has no entries yet', () => {
    const { journal } = stores;
    const actor = { kind: 'canister', id: emptyBytes } as const;
    const note: typeof journal.note = (bucket, change) =>
      appendEntry(stores, bucket, change, { actor, nowNs: start });
    stores = { ...stores, journal: { note } };
    keepJournal(stores, ownerAt(0), { bucket: 'films', days: 365 });
    expect(subjects(300)).toEqual(['journalDays']);
    const before = stores.directory.count();
    keepJournal(stores, ownerAt(0), { bucket: 'films', days: 90 });
    expect(stores.directory.count()).toBe(before - 1);
    expect(subjects(89)).toEqual(['journalDays', 'journalDays']);
    expect(subjects(300)).toEqual([]);
  });

  test('refuses strangers and numbers out of range, and writes nothing', () => {
    append(0, 1);
    const before = memory.writeCount();
    for (const days of [-1, 0.5, 3_651, Number.NaN]) {
      const refused = () => keepJournal(stores, ownerAt(0), { bucket: 'films', days });
      expect(refused).toThrow('days must be 0 to 3650');
    }
    const byBob = () => keepJournal(stores, callOf('bob'), { bucket: 'films', days: 1 });
    expect(byBob).toThrow('Bucket films does not exist');
    expect(memory.writeCount()).toBe(before);
  });
});

describe('cutJournal()', () => {
  test('frees pages once no bucket shows their entries, and never before 90 days', () => {
    append(0, 3 * pageEntries);
    append(100, 3 * pageEntries, 'music');
    keepJournal(stores, ownerAt(0), { bucket: 'music', days: 10 });
    expect(cutJournal(stores, ownerAt(89).nowNs)).toBe(false);
    expect(first()).toBe(1);
    keepJournal(stores, ownerAt(0), { bucket: 'films', days: 150 });
    expect(cutJournal(stores, ownerAt(149).nowNs)).toBe(false);
    expect(first()).toBe(1);
    expect(cutJournal(stores, ownerAt(151).nowNs)).toBe(false);
    const left = first();
    expect(left).toBeGreaterThan(pageEntries);
    expect(left).toBeLessThan(3 * pageEntries + 2);
    expect(subjects(105, 'music')).toHaveLength(3 * pageEntries);
  });

  test('does not wait for a bucket that is deleted', () => {
    append(0, 3 * pageEntries);
    keepJournal(stores, ownerAt(0), { bucket: 'films', days: 3_650 });
    append(10, 3 * pageEntries, 'music');
    cutJournal(stores, ownerAt(200).nowNs);
    expect(first()).toBe(1);
    deleteBucket(stores, ownerAt(200), { bucket: 'films', isForced: false });
    cutJournal(stores, ownerAt(200).nowNs);
    expect(first()).toBeGreaterThan(1);
  });

  test('is bounded in one step, and its checkpoints go with the entries', () => {
    append(0, 70 * pageEntries);
    append(100, 1);
    expect(cutJournal(stores, ownerAt(300).nowNs)).toBe(true);
    expect(cutJournal(stores, ownerAt(300).nowNs)).toBe(false);
    const before = stores.directory.count();
    append(300, 70 * pageEntries);
    expect(stores.directory.count()).toBeLessThan(before + 20);
    expect(subjects(300).length).toBe(70 * pageEntries);
    expect(before).toBeGreaterThan((60 * pageEntries) / checkpointEvery);
  });
});

describe('redactEntries()', () => {
  test("takes the bucket's entries only, 1 to 100 at a time", () => {
    append(0, 2);
    append(0, 1, 'music');
    const redact = (entries: number[]) =>
      redactEntries(stores, ownerAt(1), { bucket: 'films', entries });
    expect(() => redact([])).toThrow('1 to 100');
    expect(() => redact(Array.from({ length: 101 }, (_, index) => index))).toThrow('1 to 100');
    expect(redact([2, 2, 3])).toBe(1);
    expect(subjects(1)).toEqual(['0/0', '']);
    expect(subjects(1, 'music')).toEqual(['0/0']);
    expect(() => redactEntries(stores, callOf('bob'), { bucket: 'films', entries: [1] })).toThrow(
      'Bucket films does not exist',
    );
  });
});
