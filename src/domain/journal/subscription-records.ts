// Records of subscriptions, by which a canister receives a bucket's entries, and when each of them
// is looked at. In the records: 4 | bucket id | NUL | subscription id u64 -> record. In the
// directory:
//
//   42 | time u64, big-endian | bucket id | NUL | subscription id u64 -> 0
//   43 | bucket id | NUL | subscription id u64                        -> that time, ns; 0: idle
//                                                                        (nothing new), 1: paused

import { concatBytes } from '../../lib/bytes.ts';
import { decodeHex, encodeHex } from '../../lib/hex.ts';
import { decodeUtf8, encodeUtf8 } from '../../lib/text.ts';
import { packFields, requireVersion, u64Key, unpackFields } from '../../storage/codec.ts';
import { dueNames, entriesUnder, firstDueNs } from '../../storage/index-ranges.ts';
import type { Stores } from '../shared/stores.ts';

export interface Subscription {
  /** Never reused in the canister. */
  readonly id: number;
  readonly bucketId: string;
  /** The subscriber's principal, and the method that receives entries. */
  readonly canister: Uint8Array;
  readonly method: string;
  /** Compared with stored paths; '' also matches entries without a path. */
  readonly prefix: string;
  /** A bit for each kind by its number; 0: all kinds. */
  readonly kinds: number;
  readonly createdAtNs: bigint;
  /** All matching entries up to that number have been acknowledged. */
  readonly cursor: number;
  /** Number of attempts; an answer to another one than the last is ignored. */
  readonly attempt: number;
  /** Failed attempts since the last acknowledgement, and the time of the first; 0: none. */
  readonly failures: number;
  readonly failingSinceNs: bigint;
  /** 0: not paused. */
  readonly pausedAtNs: bigint;
  /** No attempt begins earlier: the day's bound spreads them. */
  readonly notBeforeNs: bigint;
  /** The day of the two counts, in days since 1970. */
  readonly day: number;
  /** How often the journal was read for it. */
  readonly turnsOfDay: number;
  readonly cyclesOfDay: number;
  /** Text of the last failure; '' after an acknowledgement. */
  readonly error: string;
}

/** The place of a subscription in the stores. */
export interface SubscriptionName {
  readonly bucketId: string;
  readonly id: number;
}

// Small fields: version 1; longs: created, failing since, paused at, not before; numbers: id,
// kinds, cursor, attempt, failures, day, turns and cycles of the day; rest: texts: canister in
// hexadecimal digits, method, prefix, error. See packFields().
const recordKind = 4;
const version = 1;
const fieldCount = { longs: 4, numbers: 8 } as const;
const kinds = { due: 42, ofBucket: 43 } as const;
export const idleNs = 0n;
export const pausedNs = 1n;
const idBytes = 8;

function scopeOf(kind: number, bucketId: string): Uint8Array {
  return concatBytes(Uint8Array.of(kind), encodeUtf8(`${bucketId}\0`));
}

function keyOf(kind: number, { bucketId, id }: SubscriptionName): Uint8Array {
  return concatBytes(scopeOf(kind, bucketId), u64Key(id));
}

function dueKey(atNs: bigint, name: SubscriptionName): Uint8Array {
  const key = keyOf(kinds.due, name);
  return concatBytes(key.subarray(0, 1), u64Key(atNs), key.subarray(1));
}

/** `name`: the bytes after the kind or the time. */
function nameOf(name: Uint8Array): SubscriptionName {
  const idStart = name.length - idBytes;
  const id = new DataView(name.buffer, name.byteOffset + idStart).getBigUint64(0);
  return { bucketId: decodeUtf8(name.subarray(0, idStart - 1)) ?? '', id: Number(id) };
}

export function findSubscription(
  { records }: Stores,
  name: SubscriptionName,
): Subscription | undefined {
  const bytes = records.get(keyOf(recordKind, name));
  if (bytes === undefined) return undefined;
  requireVersion(bytes, version);
  const { longs, numbers, rest } = unpackFields(bytes, fieldCount);
  const [canister = '', method = '', prefix = '', error = ''] = (decodeUtf8(rest) ?? '').split(
    '\0',
  );
  return {
    id: numbers[0] ?? 0,
    bucketId: name.bucketId,
    canister: decodeHex(canister) ?? new Uint8Array(0),
    method,
    prefix,
    error,
    kinds: numbers[1] ?? 0,
    cursor: numbers[2] ?? 0,
    attempt: numbers[3] ?? 0,
    failures: numbers[4] ?? 0,
    day: numbers[5] ?? 0,
    turnsOfDay: numbers[6] ?? 0,
    cyclesOfDay: numbers[7] ?? 0,
    createdAtNs: longs[0] ?? 0n,
    failingSinceNs: longs[1] ?? 0n,
    pausedAtNs: longs[2] ?? 0n,
    notBeforeNs: longs[3] ?? 0n,
  };
}

/** Stores the record, and when to look at it next: a time, idleNs or pausedNs. */
export function saveSubscription(stores: Stores, saved: Subscription, nextNs: bigint): void {
  const { createdAtNs, failingSinceNs, pausedAtNs, notBeforeNs } = saved;
  const texts = [encodeHex(saved.canister), saved.method, saved.prefix, saved.error];
  const counts = [saved.day, saved.turnsOfDay, saved.cyclesOfDay];
  const record = packFields({
    small: [version],
    longs: [createdAtNs, failingSinceNs, pausedAtNs, notBeforeNs],
    numbers: [saved.id, saved.kinds, saved.cursor, saved.attempt, saved.failures, ...counts],
    rest: encodeUtf8(texts.join('\0')),
  });
  stores.records.set(keyOf(recordKind, saved), record);
  setNext(stores, saved, nextNs);
}

/** Sets when to look at the subscription next. An idle one waits for an entry of its bucket. */
function setNext(stores: Stores, name: SubscriptionName, nextNs: bigint | undefined): void {
  const { directory, heap } = stores;
  const known = directory.remove(keyOf(kinds.ofBucket, name));
  if (known !== undefined && known > pausedNs) directory.remove(dueKey(known, name));
  if (nextNs === undefined) return;
  directory.insert(keyOf(kinds.ofBucket, name), nextNs);
  if (nextNs > pausedNs) directory.insert(dueKey(nextNs, name), 0n);
  if (nextNs === idleNs) heap.listeningBuckets.add(name.bucketId);
}

export function removeSubscriptionRecord(stores: Stores, name: SubscriptionName): void {
  stores.records.delete(keyOf(recordKind, name));
  setNext(stores, name, undefined);
}

/** Returns the names of the bucket's subscriptions, the oldest first. */
export function namesOf({ directory }: Stores, bucketId: string, limit: number) {
  const scope = scopeOf(kinds.ofBucket, bucketId);
  return entriesUnder(directory, { scope, limit }).map(({ key, value }) => {
    return { ...nameOf(key.subarray(1)), nextNs: value };
  });
}

/** Returns the number of subscriptions of all buckets. */
export function countSubscriptions({ directory }: Stores): number {
  const end = directory.rank(Uint8Array.of(kinds.ofBucket + 1));
  return end - directory.rank(Uint8Array.of(kinds.ofBucket));
}

/** Returns the subscription that has been due for the longest time. */
export function dueSubscription(stores: Stores, nowNs: bigint): SubscriptionName | undefined {
  const [name] = dueNames(stores.directory, { kind: kinds.due, nowNs }, 1);
  return name && nameOf(name);
}

/** Returns the time at which a subscription is due next. */
export function nextDeliveryNs({ directory }: Stores): bigint | undefined {
  return firstDueNs(directory, kinds.due);
}

/** Makes the idle subscriptions of the bucket due. */
export function wakeIdle(stores: Stores, bucketId: string, by: { nowNs: bigint; limit: number }) {
  for (const { nextNs, ...name } of namesOf(stores, bucketId, by.limit)) {
    if (nextNs === idleNs) setNext(stores, name, by.nowNs);
  }
}

/**
 * Makes all subscriptions due that are not paused: after an upgrade, which loses the answers to
 * open calls and the note of which buckets have new entries.
 */
export function wakeAll(stores: Stores, nowNs: bigint): void {
  const { directory } = stores;
  const count = countSubscriptions(stores);
  if (count === 0) return;
  for (const { key, value } of directory.read(
    directory.rank(Uint8Array.of(kinds.ofBucket)),
    count,
  )) {
    if (value !== pausedNs) setNext(stores, nameOf(key.subarray(1)), nowNs);
  }
}
