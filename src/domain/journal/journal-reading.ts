// Reading of the journal: the entries of a bucket for its members, and the blocks of the chain.

import { journalPageMax } from '../../limits.ts';
import { AlteredEntry, type Encoded } from '../../storage/journal-log.ts';
import { bucketIds } from '../buckets/bucket-directory.ts';
import { authorize, type SentKey } from '../rights/rights.ts';
import type { Call } from '../shared/caller.ts';
import { Refusal } from '../shared/refusal.ts';
import type { OpenedJournal } from '../shared/secrets.ts';
import type { Stores } from '../shared/stores.ts';
import {
  checkpointEvery,
  checkpointKey,
  checkpointOf,
  findJournal,
  keptDaysOf,
} from './bucket-journal.ts';
import { shownFromMs } from './journal-retention.ts';

/** Blocks that one query returns, and ranges of which it returns blocks. */
const blocksMax = 5_000;
const rangesMax = 100;

export interface JournalRequest {
  readonly bucket: string;
  readonly apiKey: SentKey;
  /** Returns the entries after that one, the oldest first. */
  readonly after: number | undefined;
  /** Without `after`: returns the entries before that one, the newest first. */
  readonly before: number | undefined;
  readonly limit: number | undefined;
}

interface Reading extends JournalRequest {
  /** The names of kinds for entries in Candid, see storage/journal-log.ts. */
  readonly kinds: Uint8Array;
  /** The largest limit; by default that of an update. */
  readonly limitMax?: number;
}

export interface JournalPage {
  readonly entries: Encoded;
  /** Number of the last entry of the whole journal. */
  readonly last: number;
  /** Whether more entries follow in this direction. */
  readonly hasMore: boolean;
  /** For how many days the bucket's entries are shown. */
  readonly keptDays: number;
}

/**
 * Returns entries of a bucket for members who may read it, and for keys with the permission audit;
 * fewer than `limit` if they are long or far from one another.
 */
export function readJournal(
  stores: Stores,
  call: Call,
  { kinds, limitMax, ...request }: Reading,
): JournalPage {
  const { bucket: name, apiKey } = request;
  const limit = parseLimit(request.limit, limitMax);
  const after = parseNumber('after', request.after);
  const before = parseNumber('before', request.before);
  if (after !== undefined && before !== undefined) {
    throw new Refusal('InvalidArgument', 'Send after or before, not both.');
  }
  const permission = apiKey === undefined ? 'read' : 'audit';
  const { bucket } = authorize(stores, call, { bucket: name, permission, apiKey, prefix: '' });
  const keptDays = keptDaysOf(stores, bucket.id);
  const fromMs = shownFromMs(keptDays, call.nowNs);
  const page = journalPage(stores, bucket.id, { after, before, fromMs, limit, kinds });
  return { ...page, keptDays };
}

interface PageRequest {
  readonly after: number | undefined;
  readonly before: number | undefined;
  /** Milliseconds since 1970; no entry is older. */
  readonly fromMs: number;
  readonly limit: number;
  readonly kinds: Uint8Array;
}

/** Returns entries of a bucket; the caller has checked who may read them. */
export function journalPage(
  stores: Stores,
  bucketId: string,
  { after, before, fromMs, limit, kinds }: PageRequest,
): Omit<JournalPage, 'keptDays'> {
  const { last } = stores.journalLog.tip();
  const journal = findJournal(stores, bucketId);
  if (journal === undefined) {
    return { entries: { bytes: new Uint8Array(0), count: 0 }, last, hasMore: false };
  }
  const { hasMore, ...entries } =
    after === undefined
      ? entriesBefore(stores, journal, { bound: before ?? last + 1, fromMs, limit, kinds })
      : entriesAfter(stores, journal, { bound: after, fromMs, limit, kinds });
  return { entries, last, hasMore };
}

function parseLimit(limit = journalPageMax, limitMax = journalPageMax): number {
  if (Number.isInteger(limit) && limit >= 1 && limit <= limitMax) return limit;
  throw new Refusal('InvalidArgument', `limit is ${limit}: send 1 to ${limitMax}.`);
}

function parseNumber(name: string, number: number | undefined): number | undefined {
  if (number === undefined || Number.isSafeInteger(number)) return number;
  throw new Refusal('InvalidArgument', `${name} must be the number of an entry.`);
}

type Page = Omit<ReadRange, 'start' | 'isForward'>;

function entriesBefore(stores: Stores, journal: OpenedJournal, page: Page) {
  const { owner } = journal;
  const last = stores.journalLog.lastOf(owner);
  // From the next checkpoint on, as the entry before may be anywhere
  const start = last < page.bound ? last : (checkpoints(stores, owner, page.bound, 1)[0] ?? last);
  return readRange(stores, journal, { ...page, start, isForward: false });
}

function entriesAfter(stores: Stores, journal: OpenedJournal, page: Page) {
  const found = entriesUpTo(stores, journal, page);
  if (found.count > 0 || !found.hasMore) return found;
  // All up to there are older, or not stored any more
  const from = stores.journalLog.numberFrom(page.fromMs);
  return entriesUpTo(stores, journal, { ...page, bound: Math.max(page.bound, from - 1) });
}

/** If 100 entries of an owner are further apart than these, many are alone in their page. */
const nearMax = 1_000;

/** Returns entries up to one of the next checkpoints, from which the log goes back. */
function entriesUpTo(stores: Stores, journal: OpenedJournal, page: Page) {
  const { bound, limit } = page;
  const last = stores.journalLog.lastOf(journal.owner);
  // So many checkpoints have more than `limit` entries before the last of them
  const wanted = Math.ceil((limit + 1) / checkpointEvery) + 1;
  const next = checkpoints(stores, journal.owner, bound + 1, wanted);
  if (next.length < wanted) next.push(last);
  const farthest = bound + nearMax * Math.ceil(limit / journalPageMax);
  const start = next.findLast((number) => number <= farthest) ?? next[0] ?? last;
  const { hasMore, ...found } = readRange(stores, journal, { ...page, start, isForward: true });
  return { ...found, hasMore: hasMore || start < last };
}

/** Returns numbers of the owner's checkpoints from a number on. */
function checkpoints(stores: Stores, owner: number, from: number, limit: number): number[] {
  const { directory } = stores;
  const entries = directory.read(directory.rank(checkpointKey(owner, from)), limit);
  return entries.flatMap(({ key }) => checkpointOf(key, owner) ?? []);
}

interface ReadRange {
  readonly start: number;
  readonly bound: number;
  readonly isForward: boolean;
  readonly fromMs: number;
  readonly limit: number;
  readonly kinds: Uint8Array;
}

function readRange(stores: Stores, journal: OpenedJournal, { kinds, ...range }: ReadRange) {
  try {
    return stores.journalLog.entries(range, journal, kinds);
  } catch (error) {
    if (error instanceof AlteredEntry) throw new Refusal('IntegrityError', error.message);
    throw error;
  }
}

export interface BlockRange {
  /** Index of the first block, from 0 as ICRC-3 counts. */
  readonly start: number;
  readonly length: number;
}

/**
 * Returns blocks of the chain in Candid; a range may lack its last ones. They show kinds and times
 * of changes in all buckets, so callers without a role in any bucket get none. `types`: the names
 * of block types, see storage/journal-log.ts.
 */
export function readBlocks(
  stores: Stores,
  { caller }: Call,
  { ranges, types }: { readonly ranges: readonly BlockRange[]; readonly types: Uint8Array },
): Encoded[] {
  const page = { skip: 0, limit: 1 };
  const isKnown =
    caller.isController || bucketIds(stores.directory, caller.principal, page).length > 0;
  if (!isKnown) return [];
  const pages: Encoded[] = [];
  let left = blocksMax;
  const { first } = stores.journalLog.tip();
  for (const { start, length } of ranges.slice(0, rangesMax)) {
    // The first blocks of a range may not be stored any more
    const number = Math.max(start + 1, first);
    const limit = Math.min(start + length + 1 - number, left);
    const found = stores.journalLog.blocks(number, Math.max(limit, 0), types);
    pages.push(found);
    left -= found.count;
  }
  return pages;
}
