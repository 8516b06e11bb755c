// Operations on the subscriptions of a bucket, for its owners. event-delivery.ts delivers entries.

import { bytesEqual } from '../../lib/bytes.ts';
import { hasControlCharacter } from '../../lib/text.ts';
import { eventMethodPattern, subscriptionCountMax, subscriptionTotalMax } from '../../limits.ts';
import { ownedBucket } from '../rights/ownership.ts';
import type { Call } from '../shared/caller.ts';
import { type EntryKind, entryKinds } from '../shared/journal.ts';
import { parsePrefix, quote } from '../shared/names.ts';
import { Refusal } from '../shared/refusal.ts';
import type { Stores } from '../shared/stores.ts';
import { nextContentId } from '../shared/stores.ts';
import {
  countSubscriptions,
  findSubscription,
  idleNs,
  namesOf,
  pausedNs,
  removeSubscriptionRecord,
  type Subscription,
  saveSubscription,
} from './subscription-records.ts';

/** The part of the entries that a subscriber receives; absent fields of a change stay. */
interface Selection {
  readonly prefix: string | undefined;
  /** Empty: all kinds. */
  readonly kinds: readonly string[] | undefined;
}

export interface SubscriptionRequest extends Selection {
  readonly bucket: string;
  /** The subscriber's principal. */
  readonly canister: Uint8Array;
  readonly method: string;
  /** Delivers the entries after that one; by default only later ones. */
  readonly after: number | undefined;
}

export interface SubscriptionChange extends Selection {
  readonly bucket: string;
  readonly id: number;
  readonly isPaused: boolean | undefined;
}

/** Adds a subscription. `self`: the principal of this canister. */
export function addSubscription(
  stores: Stores,
  call: Call,
  { self, ...request }: SubscriptionRequest & { readonly self: Uint8Array },
): Subscription {
  const bucket = ownedBucket(stores, call, request.bucket);
  const { canister, method, after } = request;
  requireSubscriber(canister, self);
  if (!eventMethodPattern.test(method)) {
    throw wrong(
      `The method ${quote(method)} cannot receive entries: name one that begins with efs_ and has ` +
        'at most 64 letters, digits and underscores, such as efs_events.',
    );
  }
  const selection = { prefix: prefixOf(request.prefix), kinds: kindsOf(request.kinds) };
  requireRoom(stores, bucket.id);
  const { last } = stores.journalLog.tip();
  if (after !== undefined && !(Number.isSafeInteger(after) && after >= 0 && after <= last)) {
    throw wrong(`after is ${after}: send 0 for all entries, or the number of one, up to ${last}.`);
  }
  note(stores, bucket.id);
  const added: Subscription = {
    id: nextContentId(stores),
    bucketId: bucket.id,
    canister,
    method,
    prefix: selection.prefix ?? '',
    kinds: selection.kinds ?? 0,
    createdAtNs: call.nowNs,
    cursor: after ?? stores.journalLog.tip().last,
    ...unfailed,
    attempt: 0,
    notBeforeNs: 0n,
    day: 0,
    turnsOfDay: 0,
    cyclesOfDay: 0,
  };
  saveSubscription(stores, added, after === undefined ? idleNs : call.nowNs);
  return added;
}

const unfailed = { failures: 0, failingSinceNs: 0n, pausedAtNs: 0n, error: '' } as const;

function note(stores: Stores, bucketId: string): void {
  stores.journal.note(bucketId, { kind: 'bucket.changed', subject: 'subscriptions' });
}

/** Returns the bucket's subscriptions, the oldest first. */
export function listSubscriptions(stores: Stores, call: Call, name: string): Subscription[] {
  const bucket = ownedBucket(stores, call, name);
  return namesOf(stores, bucket.id, subscriptionCountMax).flatMap(
    (found) => findSubscription(stores, found) ?? [],
  );
}

/**
 * Changes what is delivered, and pauses or resumes. An attempt that is under way is ignored, so
 * its entries are delivered again if they still match.
 */
export function changeSubscription(
  stores: Stores,
  call: Call,
  change: SubscriptionChange,
): Subscription {
  const known = ownedSubscription(stores, call, change);
  const isPaused = change.isPaused ?? known.pausedAtNs > 0n;
  const pausedAtNs = known.pausedAtNs || call.nowNs;
  const changed: Subscription = {
    ...known,
    prefix: prefixOf(change.prefix) ?? known.prefix,
    kinds: kindsOf(change.kinds) ?? known.kinds,
    attempt: known.attempt + 1,
    ...(isPaused ? { pausedAtNs } : unfailed),
  };
  saveSubscription(stores, changed, isPaused ? pausedNs : call.nowNs);
  note(stores, known.bucketId);
  return changed;
}

export function removeSubscription(
  stores: Stores,
  call: Call,
  name: { readonly bucket: string; readonly id: number },
): void {
  const known = ownedSubscription(stores, call, name);
  removeSubscriptionRecord(stores, known);
  note(stores, known.bucketId);
}

/** Removes the subscriptions of a deleted bucket. */
export function forgetSubscriptions(stores: Stores, bucketId: string): void {
  for (const name of namesOf(stores, bucketId, subscriptionCountMax)) {
    removeSubscriptionRecord(stores, name);
  }
  stores.heap.listeningBuckets.delete(bucketId);
}

function ownedSubscription(
  stores: Stores,
  call: Call,
  { bucket: name, id }: { readonly bucket: string; readonly id: number },
): Subscription {
  const bucket = ownedBucket(stores, call, name);
  const known = findSubscription(stores, { bucketId: bucket.id, id });
  if (known !== undefined) return known;
  throw wrong(
    `Bucket ${bucket.id} has no subscription ${id}: listSubscriptions returns those it has.`,
  );
}

/** The last byte of a canister's principal (IC spec, "Special forms of Principals", opaque ids). */
const opaqueClass = 1;

function requireSubscriber(canister: Uint8Array, self: Uint8Array): void {
  if (canister.at(-1) !== opaqueClass) {
    throw wrong('The subscriber is not a canister: send the id of one.');
  }
  if (bytesEqual(canister, self)) {
    throw wrong('This canister cannot subscribe itself: send the id of another one.');
  }
}

function requireRoom(stores: Stores, bucketId: string): void {
  const own = namesOf(stores, bucketId, subscriptionCountMax).length;
  if (own >= subscriptionCountMax) {
    throw new Refusal(
      'QuotaExceeded',
      `Bucket ${bucketId} has ${own} subscriptions, the maximum: remove one first.`,
    );
  }
  if (countSubscriptions(stores) >= subscriptionTotalMax) {
    throw new Refusal(
      'QuotaExceeded',
      `This canister has ${subscriptionTotalMax} subscriptions, the maximum: remove one first.`,
    );
  }
}

function prefixOf(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  if (hasControlCharacter(text) || !text.isWellFormed()) {
    throw wrong(`The prefix ${quote(text)} contains a control character, which no path has.`);
  }
  return parsePrefix(text);
}

/** Returns the bits of the kinds; 0 for all. */
function kindsOf(names: readonly string[] | undefined): number | undefined {
  if (names === undefined) return undefined;
  const numbers = names.map((name) => {
    const number = entryKinds.indexOf(name as EntryKind);
    if (number >= 0) return number;
    throw wrong(`The kind ${quote(name)} does not exist: send some of ${entryKinds.join(', ')}.`);
  });
  return [...new Set(numbers)].reduce((bits, number) => bits + 2 ** number, 0);
}

/** Returns the names of the kinds; none for all. */
export function kindNames({ kinds }: Subscription): string[] {
  return entryKinds.filter((_, number) => hasBit(kinds, number));
}

export function hasBit(bits: number, number: number): boolean {
  return Math.floor(bits / 2 ** number) % 2 === 1;
}

function wrong(message: string): Refusal {
  return new Refusal('InvalidArgument', message);
}
