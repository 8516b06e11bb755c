// Delivery of a bucket's entries to its subscribers, one attempt at a time for each. An attempt
// takes the matching entries after the cursor. Only an acknowledgement moves the cursor, so every
// entry arrives at least once and in order. While an attempt is under way, the subscription is due
// once the answer can no longer arrive, so a lost answer, such as by an upgrade, ends nothing.

import { emptyBytes } from '../../lib/bytes.ts';
import { hasControlCharacter } from '../../lib/text.ts';
import {
  eventBytesPerBatch,
  eventCycles,
  eventCyclesPerDay,
  eventsExaminedPerBatch,
  eventsPerBatch,
  eventTurnsPerDay,
  subscriptionCountMax,
} from '../../limits.ts';
import { entryKinds } from '../shared/journal.ts';
import { Refusal, valueOrRefusal } from '../shared/refusal.ts';
import type { Stores } from '../shared/stores.ts';
import { findJournal } from './bucket-journal.ts';
import { journalPage } from './journal-reading.ts';
import { entrySalts, type OpenedEntry, openedEntries, type ProvedEntry } from './opened-entries.ts';
import {
  dueSubscription,
  findSubscription,
  idleNs,
  namesOf,
  pausedNs,
  removeSubscriptionRecord,
  type Subscription,
  type SubscriptionName,
  saveSubscription,
  wakeIdle,
} from './subscription-records.ts';
import { hasBit } from './subscriptions.ts';

const nsPerSecond = 1_000_000_000n;
const dayNs = 86_400n * nsPerSecond;
/** Longer than any answer takes, see kernel/outgoing-calls.ts. */
const answerNs = 660n * nsPerSecond;
/** Pause after the first failure; it doubles with each one, up to the longest. */
const firstPauseNs = 5n * nsPerSecond;
const longestPauseNs = 3_600n * nsPerSecond;
/** Pause after a call that this canister could not make, for lack of cycles or of room. */
const unsentPauseNs = 600n * nsPerSecond;
const errorLengthMax = 200;

export interface Delivery {
  /** As it is stored, with the number of this attempt. */
  readonly subscription: Subscription;
  /** At least one, the oldest first. */
  readonly entries: readonly ProvedEntry[];
  /** The cursor after an acknowledgement. */
  readonly cursor: number;
}

export type DeliveryOutcome =
  | { readonly kind: 'acknowledged'; readonly replyBytes: number }
  | { readonly kind: 'rejected'; readonly error: string }
  /** The canister could not make the call. */
  | { readonly kind: 'unsent'; readonly error: string };

/** Makes the subscriptions due that wait for the entries appended since the last time. */
export function wakeSubscriptions(stores: Stores, nowNs: bigint): void {
  const { wokenBuckets } = stores.heap;
  for (const bucketId of wokenBuckets) {
    wakeIdle(stores, bucketId, { nowNs, limit: subscriptionCountMax });
  }
  wokenBuckets.clear();
}

/**
 * Begins attempts of due subscriptions, at most `limit`; looking at a subscription without matching
 * entries counts like an attempt. Returns whether more are due.
 */
export function beginDeliveries(
  stores: Stores,
  nowNs: bigint,
  limit: number,
): { readonly deliveries: Delivery[]; readonly hasMore: boolean } {
  const deliveries: Delivery[] = [];
  for (let count = 0; count < limit; count++) {
    const name = dueSubscription(stores, nowNs);
    if (name === undefined) return { deliveries, hasMore: false };
    const delivery = begin(stores, name, nowNs);
    if (delivery !== undefined) deliveries.push(delivery);
  }
  return { deliveries, hasMore: dueSubscription(stores, nowNs) !== undefined };
}

/** Begins an attempt, or notes when to look again. */
function begin(stores: Stores, name: SubscriptionName, nowNs: bigint): Delivery | undefined {
  const known = findSubscription(stores, name);
  if (known === undefined) {
    removeSubscriptionRecord(stores, name);
    return undefined;
  }
  const { notBeforeNs } = known;
  if (notBeforeNs > nowNs) {
    saveSubscription(stores, known, notBeforeNs);
    return undefined;
  }
  const batch = valueOrRefusal(() => nextBatch(stores, known));
  if (batch instanceof Refusal) {
    saveFailed(stores, onDay(known, nowNs), { error: batch.message, nowNs });
    return undefined;
  }
  const { entries, cursor, hasMore } = batch;
  const looked = charged(known, { ...costOf(batch), turns: 1 }, nowNs);
  if (entries.length === 0) {
    saveSubscription(stores, { ...looked, cursor }, hasMore ? later(looked, nowNs) : idleNs);
    return undefined;
  }
  const subscription = { ...looked, attempt: looked.attempt + 1 };
  saveSubscription(stores, subscription, nowNs + answerNs);
  return { subscription, entries, cursor };
}

function costOf({ entries, examined, bytes }: Batch) {
  const sending = entries.length === 0 ? 0 : eventCycles.call + bytes * eventCycles.byte;
  return { cycles: eventCycles.look + examined * eventCycles.entry + sending };
}

interface Batch extends Pick<Delivery, 'entries' | 'cursor'> {
  readonly hasMore: boolean;
  /** Number of entries of any kind that were read. */
  readonly examined: number;
  readonly bytes: number;
}

/** Bytes of an entry's other fields and numbers. */
const fixedEntryBytes = 160;

function nextBatch(stores: Stores, subscription: Subscription): Batch {
  const { bucketId, cursor } = subscription;
  const limit = eventsExaminedPerBatch;
  const request = { after: cursor, before: undefined, fromMs: 0, limit, kinds: emptyBytes };
  const page = journalPage(stores, bucketId, request);
  const keys = findJournal(stores, bucketId)?.keys ?? emptyBytes;
  const found = openedEntries(page.entries);
  const entries: ProvedEntry[] = [];
  let bytes = 0;
  let through = cursor;
  for (const entry of found) {
    if (matches(subscription, entry)) {
      const size = fixedEntryBytes + 2 * entry.subject.length + entry.details.length;
      const isFull = entries.length === eventsPerBatch || bytes + size > eventBytesPerBatch;
      if (isFull && entries.length > 0) break;
      entries.push({ ...entry, salts: entrySalts(entry.seq, keys) });
      bytes += size;
    }
    through = entry.seq;
  }
  const hasMore = page.hasMore || through !== (found.at(-1)?.seq ?? cursor);
  return { entries, cursor: through, hasMore, examined: found.length, bytes };
}

/** A prefix excludes changes of keys, members and the bucket, which have no path. */
function matches({ kinds, prefix }: Subscription, { kind, subject }: OpenedEntry): boolean {
  if (kinds !== 0 && !hasBit(kinds, entryKinds.indexOf(kind))) return false;
  if (prefix === '') return true;
  if (/^(?:key|member|bucket)\./.test(kind)) return false;
  const [path = '', formerPath = ''] = subject.split('\0');
  return path.startsWith(prefix) || (kind === 'file.moved' && formerPath.startsWith(prefix));
}

/** Ends the attempt, unless the subscription was removed or changed, or another one has begun. */
export function endDelivery(
  stores: Stores,
  { subscription: begun, cursor }: Delivery,
  { outcome, nowNs }: { readonly outcome: DeliveryOutcome; readonly nowNs: bigint },
): void {
  const known = findSubscription(stores, begun);
  if (known === undefined || known.attempt !== begun.attempt) return;
  if (outcome.kind === 'unsent') {
    saveSubscription(stores, { ...known, error: shown(outcome.error) }, nowNs + unsentPauseNs);
    return;
  }
  if (outcome.kind === 'rejected') {
    saveFailed(stores, onDay(known, nowNs), { error: outcome.error, nowNs });
    return;
  }
  const reply = { cycles: outcome.replyBytes * eventCycles.replyByte, turns: 0 };
  const cleared = { failures: 0, failingSinceNs: 0n, error: '' };
  const ended = { ...charged(known, reply, nowNs), ...cleared, cursor };
  const hasMore = lastEntryOf(stores, known.bucketId) > cursor;
  saveSubscription(stores, ended, hasMore ? later(ended, nowNs) : idleNs);
}

/** Returns the number of the bucket's last entry. */
function lastEntryOf(stores: Stores, bucketId: string): number {
  const journal = findJournal(stores, bucketId);
  return journal === undefined ? 0 : stores.journalLog.lastOf(journal.owner);
}

/** How the deliveries of a bucket's entries go: numbers of subscriptions. */
export interface DeliveryState {
  readonly all: number;
  /** Some entries have not been acknowledged, or not been compared with the selection. */
  readonly waiting: number;
  /** The last attempt failed, or the subscription is paused. */
  readonly failing: number;
}

export function deliveryState(stores: Stores, bucketId: string): DeliveryState {
  const known = namesOf(stores, bucketId, subscriptionCountMax).flatMap(
    (name) => findSubscription(stores, name) ?? [],
  );
  const last = known.length === 0 ? 0 : lastEntryOf(stores, bucketId);
  return {
    all: known.length,
    waiting: known.filter(({ cursor }) => cursor < last).length,
    failing: known.filter(({ failures, pausedAtNs }) => failures > 0 || pausedAtNs > 0n).length,
  };
}

function saveFailed(
  stores: Stores,
  known: Subscription,
  { error, nowNs }: { readonly error: string; readonly nowNs: bigint },
): void {
  const failingSinceNs = known.failingSinceNs || nowNs;
  const failures = known.failures + 1;
  const isOver = nowNs - failingSinceNs >= dayNs;
  const pausedAtNs = isOver ? nowNs : 0n;
  const failed = { ...known, failures, failingSinceNs, pausedAtNs, error: shown(error) };
  const pauseNs = firstPauseNs << BigInt(Math.min(failures - 1, 20));
  const waitNs = pauseNs < longestPauseNs ? pauseNs : longestPauseNs;
  saveSubscription(stores, failed, isOver ? pausedNs : nowNs + waitNs);
}

/** Returns a text of another canister as a short line. */
function shown(error: string): string {
  const line = [...error.toWellFormed()]
    .slice(0, errorLengthMax)
    .map((character) => (hasControlCharacter(character) ? ' ' : character));
  return line.join('');
}

function later({ notBeforeNs }: Subscription, nowNs: bigint): bigint {
  return notBeforeNs > nowNs ? notBeforeNs : nowNs;
}

/** Returns the cycles that the subscription has taken on the present day. */
export function cyclesToday(subscription: Subscription, nowNs: bigint): number {
  return onDay(subscription, nowNs).cyclesOfDay;
}

/** Returns the subscription with the counts of the present day. */
function onDay(known: Subscription, nowNs: bigint): Subscription {
  const day = Number(nowNs / dayNs);
  return day === known.day ? known : { ...known, day, turnsOfDay: 0, cyclesOfDay: 0 };
}

/** Adds to the counts of the day, and sets the time of the next attempt. */
function charged(
  known: Subscription,
  { turns, cycles }: { readonly turns: number; readonly cycles: number },
  nowNs: bigint,
): Subscription {
  const today = onDay(known, nowNs);
  const turnsOfDay = today.turnsOfDay + turns;
  const cyclesOfDay = today.cyclesOfDay + Math.ceil(cycles);
  const counted = { ...today, turnsOfDay, cyclesOfDay };
  return { ...counted, notBeforeNs: nowNs + pauseOf(counted, nowNs) };
}

/**
 * Returns the pause before the next attempt. The first half of the day's turns and cycles is free,
 * the second one is spread over the rest of the day, and then the subscription waits for the next
 * day.
 */
function pauseOf({ turnsOfDay, cyclesOfDay }: Subscription, nowNs: bigint): bigint {
  const left = Math.min(1 - turnsOfDay / eventTurnsPerDay, 1 - cyclesOfDay / eventCyclesPerDay);
  if (left >= 0.5) return 0n;
  const restNs = dayNs - (nowNs % dayNs);
  const isSpent = turnsOfDay >= eventTurnsPerDay || left * eventCyclesPerDay < eventCycles.most;
  if (isSpent) return restNs;
  const turnsLeft = Math.max(1, (left / (1 - left)) * turnsOfDay);
  return BigInt(Math.floor(Number(restNs) / turnsLeft));
}
