// The Candid types of subscriptions to the entries of a bucket's journal.

import { IDL } from '@dfinity/candid';
import { resultOf } from './result.ts';

/**
 * A new subscription. The method's name begins with `efs_`. Its argument is a record with
 * `bucketId`, `subscription`, `after`, `entries` (JournalEntry) and `cursor`, and a reply
 * acknowledges them.
 */
export const SubscriptionRequest = IDL.Record({
  bucketId: IDL.Text,
  canister: IDL.Principal,
  method: IDL.Text,
  /** Compared exactly with stored paths; entries without a path are then left out. */
  prefix: IDL.Opt(IDL.Text),
  /** Kinds of entries, such as `file.stored`; by default all. */
  kinds: IDL.Opt(IDL.Vec(IDL.Text)),
  /** Delivers the entries after that one, 0 for all; by default only later ones. */
  after: IDL.Opt(IDL.Nat),
});

/** A change of a subscription; absent fields stay. No kinds: all. */
export const SubscriptionChange = IDL.Record({
  bucketId: IDL.Text,
  id: IDL.Nat,
  prefix: IDL.Opt(IDL.Text),
  kinds: IDL.Opt(IDL.Vec(IDL.Text)),
  /** False resumes a paused subscription, and tries again at once. */
  isPaused: IDL.Opt(IDL.Bool),
});

/** A subscription, and how its deliveries go. */
export const Subscription = IDL.Record({
  id: IDL.Nat,
  bucketId: IDL.Text,
  canister: IDL.Principal,
  method: IDL.Text,
  prefix: IDL.Opt(IDL.Text),
  /** Empty: all kinds. */
  kinds: IDL.Vec(IDL.Text),
  /** Nanoseconds since 1970, as all times. */
  createdAt: IDL.Int,
  /** All entries up to that one have been acknowledged or do not match. */
  cursor: IDL.Nat,
  /** Present while deliveries fail: the time of the first failure. */
  failingSince: IDL.Opt(IDL.Int),
  /** Text of the last failure. */
  error: IDL.Opt(IDL.Text),
  /** Present if it is paused: by an owner, or after deliveries have failed for a day. */
  pausedAt: IDL.Opt(IDL.Int),
  /** Present if the bounds of the day let the next delivery wait until then. */
  waitsUntil: IDL.Opt(IDL.Int),
  /** Cycles that deliveries have taken today (UTC), at most 25 billion. */
  cyclesToday: IDL.Nat,
});

export const ResultSubscription = resultOf(Subscription);
export const ResultSubscriptions = resultOf(IDL.Vec(Subscription));
