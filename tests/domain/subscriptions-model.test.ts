// Random entries, subscriptions, replies, failures, lost answers, upgrades and time jumps, compared
// with a model that looks at all entries each time: every matching entry is delivered at least once
// and in order, within the bounds of a day, and a subscription is paused after a day of failures.

import { expect, test } from 'vitest';
import { appendEntry } from '../../src/domain/journal/bucket-journal.ts';
import {
  beginDeliveries,
  type Delivery,
  type DeliveryOutcome,
  endDelivery,
  wakeSubscriptions,
} from '../../src/domain/journal/event-delivery.ts';
import {
  findSubscription,
  nextDeliveryNs,
  type Subscription,
  wakeAll,
} from '../../src/domain/journal/subscription-records.ts';
import {
  addSubscription,
  changeSubscription,
  forgetSubscriptions,
  kindNames,
  listSubscriptions,
  removeSubscription,
} from '../../src/domain/journal/subscriptions.ts';
import { type EntryKind, entryKinds } from '../../src/domain/shared/journal.ts';
import {
  eventCycles,
  eventCyclesPerDay,
  eventsPerBatch,
  eventTurnsPerDay,
} from '../../src/limits.ts';
import { checkSubscriptions } from '../support/directory-invariants.ts';
import { callOf, createScene, startNs } from '../support/domain-fixture.ts';
import { type MemoryStores, upgradeStores } from '../support/memory-stores.ts';
import { randomNumbers } from '../support/random-numbers.ts';
import { seedsOr } from '../support/seed.ts';

const nsPerSecond = 1_000_000_000n;
const daySeconds = 86_400;
const dayNs = BigInt(daySeconds) * nsPerSecond;
const buckets = ['box', 'other'];
const subjects = ['a/1', 'a/2', 'ab', 'b/1', 'a/9\0b/3', 'c\0a/3'];
const prefixes = ['', 'a/', 'a', 'b/'];
const kindLists: (EntryKind[] | undefined)[] = [
  undefined,
  [],
  ['file.stored'],
  ['file.moved', 'key.created'],
];
const outcomeKinds = ['acknowledged', 'acknowledged', 'rejected', 'unsent'] as const;
const actor = { kind: 'canister', id: new Uint8Array(0) } as const;

type Random = ReturnType<typeof randomNumbers>;

interface Entry {
  readonly seq: number;
  readonly kind: EntryKind;
  readonly subject: string;
}

interface Known {
  readonly bucket: string;
  readonly id: number;
  prefix: string;
  kinds: readonly string[];
  /** The cursor of the model: the number of the last acknowledged entry. */
  acknowledged: number;
  isPaused: boolean;
  /** Time of the first failure since the last acknowledgement. */
  failingSinceNs: bigint | undefined;
  /** The only attempt whose answer counts. */
  open: Delivery | undefined;
  day: bigint;
  turns: number;
}

interface Model {
  stores: MemoryStores;
  nowNs: bigint;
  readonly entries: Map<string, Entry[]>;
  readonly known: Map<number, Known>;
  starts: number;
  delivered: number;
  pauses: number;
}

const pick = <T>(random: Random, list: readonly T[]): T => list[random(list.length)] as T;

function matches({ prefix, kinds }: Known, { kind, subject }: Entry): boolean {
  if (kinds.length > 0 && !kinds.includes(kind)) return false;
  if (prefix === '') return true;
  const [group] = kind.split('.');
  if (group === 'key' || group === 'member' || group === 'bucket') return false;
  const paths = kind === 'file.moved' ? subject.split('\0') : [subject.split('\0')[0] ?? ''];
  return paths.some((path) => path.startsWith(prefix));
}

function pendingOf(model: Model, known: Known): Entry[] {
  const all = model.entries.get(known.bucket) ?? [];
  return all.filter((entry) => entry.seq > known.acknowledged && matches(known, entry));
}

function append(model: Model, random: Random): void {
  const bucket = pick(random, buckets);
  const change = { kind: pick(random, entryKinds), subject: pick(random, subjects) };
  for (let count = random(10) === 0 ? 150 : 1 + random(3); count > 0; count--) {
    appendEntry(model.stores, bucket, change, { actor, nowNs: model.nowNs });
    const seq = model.stores.journalLog.tip().last;
    model.entries.set(bucket, [...(model.entries.get(bucket) ?? []), { seq, ...change }]);
  }
}

function subscribe(model: Model, random: Random): void {
  const bucket = pick(random, buckets);
  const prefix = pick(random, prefixes);
  const kinds = pick(random, kindLists);
  const { last } = model.stores.journalLog.tip();
  const after = random(2) === 0 ? undefined : random(last + 1);
  const own = [...model.known.values()].filter((one) => one.bucket === bucket);
  if (own.length >= 8) return;
  const added = addSubscription(model.stores, callOf('alice', model.nowNs), {
    ...{ bucket, prefix, kinds, after, method: 'efs_events' },
    canister: Uint8Array.of(9, 1),
    self: Uint8Array.of(8, 1),
  });
  const { id } = added;
  expect(model.known.has(id)).toBe(false);
  model.known.set(id, {
    ...{ bucket, id, prefix, kinds: kinds ?? [], acknowledged: after ?? last },
    ...{ isPaused: false, failingSinceNs: undefined, open: undefined, day: 0n, turns: 0 },
  });
}

function change(model: Model, random: Random): void {
  if (model.known.size === 0) return;
  const known = pick(random, [...model.known.values()]);
  const call = callOf('alice', model.nowNs);
  const { bucket, id } = known;
  switch (random(8)) {
    case 0:
      removeSubscription(model.stores, call, { bucket, id });
      model.known.delete(id);
      return;
    case 1:
      for (const [other, one] of model.known) if (one.bucket === bucket) model.known.delete(other);
      forgetSubscriptions(model.stores, bucket);
      return;
    default: {
      const prefix = random(2) === 0 ? undefined : pick(random, prefixes);
      const kinds = random(2) === 0 ? undefined : pick(random, kindLists);
      const isPaused = pick(random, [undefined, true, false, false]);
      const changed = changeSubscription(model.stores, call, {
        ...{ bucket, id, prefix, kinds, isPaused },
      });
      // The cursor may have passed entries that did not match before the change
      for (const { seq } of pendingOf(model, known)) expect(seq).toBeGreaterThan(changed.cursor);
      known.acknowledged = changed.cursor;
      known.prefix = prefix ?? known.prefix;
      known.kinds = kinds ?? known.kinds;
      known.isPaused = isPaused ?? known.isPaused;
      if (!known.isPaused) known.failingSinceNs = undefined;
      known.open = undefined;
    }
  }
}

/** Expects the delivery to be the first part of what is pending. */
function receive(model: Model, delivery: Delivery): void {
  const { subscription, entries, cursor } = delivery;
  const known = model.known.get(subscription.id) ?? expect.fail('a removed subscription');
  expect(known.isPaused).toBe(false);
  const pending = pendingOf(model, known);
  const shown = entries.map(({ seq, kind, subject }) => ({ seq, kind, subject }));
  expect(shown.length).toBeGreaterThan(0);
  expect(shown.length).toBeLessThanOrEqual(eventsPerBatch);
  expect(shown).toEqual(pending.slice(0, shown.length));
  const next = pending[shown.length]?.seq ?? Number.POSITIVE_INFINITY;
  expect(cursor).toBeGreaterThanOrEqual(shown.at(-1)?.seq ?? 0);
  expect(cursor).toBeLessThan(next);
  known.open = delivery;
  countTurn(model, known);
}

function countTurn({ nowNs }: Model, known: Known): void {
  const day = nowNs / dayNs;
  known.turns = day === known.day ? known.turns + 1 : 1;
  known.day = day;
  expect(known.turns).toBeLessThanOrEqual(eventTurnsPerDay);
}

function reply(model: Model, random: Random, delivery: Delivery): void {
  const known = model.known.get(delivery.subscription.id);
  const counts = known !== undefined && known.open === delivery;
  const { nowNs } = model;
  // Some subscribers always fail
  const isBroken = delivery.subscription.id % 4 === 0;
  const kinds = isBroken ? (['rejected'] as const) : outcomeKinds;
  const kind = pick<DeliveryOutcome['kind']>(random, kinds);
  const outcome: DeliveryOutcome =
    kind === 'acknowledged'
      ? { kind, replyBytes: random(3) === 0 ? 2_000_000 : 6 }
      : { kind, error: 'IC0503: it trapped\n\u0007' };
  endDelivery(model.stores, delivery, { outcome, nowNs });
  if (!counts) return;
  known.open = undefined;
  if (kind === 'acknowledged') {
    known.acknowledged = delivery.cursor;
    known.failingSinceNs = undefined;
    model.delivered += delivery.entries.length;
  }
  if (kind !== 'rejected') return;
  known.failingSinceNs ??= nowNs;
  known.isPaused = nowNs - known.failingSinceNs >= dayNs;
  if (known.isPaused) model.pauses += 1;
}

function step(model: Model, random: Random, open: Delivery[]): void {
  wakeSubscriptions(model.stores, model.nowNs);
  const { deliveries } = beginDeliveries(model.stores, model.nowNs, 1 + random(8));
  for (const delivery of deliveries) receive(model, delivery);
  open.push(...deliveries);
}

function checkState(model: Model): void {
  const { stores, nowNs } = model;
  const today = Number(nowNs / dayNs);
  const shown: Subscription[] = buckets.flatMap((bucket) =>
    listSubscriptions(stores, callOf('alice', nowNs), bucket),
  );
  expect(shown.map(({ id }) => id).sort()).toEqual([...model.known.keys()].sort());
  for (const one of shown) {
    const known = model.known.get(one.id) ?? expect.fail();
    expect(kindNames(one).sort()).toEqual([...known.kinds].sort());
    expect(one.pausedAtNs > 0n).toBe(known.isPaused);
    expect(one.failingSinceNs || undefined).toBe(known.failingSinceNs);
    expect(one.error).toMatch(/^(?:IC0503: it trapped {2})?$/);
    expect(one.turnsOfDay).toBeLessThanOrEqual(eventTurnsPerDay);
    if (one.day > today) expect.fail('a day of the future');
    expect(one.cyclesOfDay).toBeLessThanOrEqual(eventCyclesPerDay);
  }
  checkSubscriptions(stores, buckets);
}

/** Answers all attempts well until nothing is left; returns the number of steps. */
function drain(model: Model): void {
  for (let turn = 0; ; turn++) {
    expect(turn).toBeLessThan(20_000);
    wakeSubscriptions(model.stores, model.nowNs);
    const { deliveries } = beginDeliveries(model.stores, model.nowNs, 8);
    for (const delivery of deliveries) {
      receive(model, delivery);
      const known = model.known.get(delivery.subscription.id) ?? expect.fail();
      const outcome = { kind: 'acknowledged', replyBytes: 6 } as const;
      endDelivery(model.stores, delivery, { outcome, nowNs: model.nowNs });
      known.acknowledged = delivery.cursor;
    }
    const nextNs = nextDeliveryNs(model.stores);
    if (nextNs === undefined) return;
    if (nextNs > model.nowNs) model.nowNs = nextNs;
  }
}

test.each(seedsOr(1, 2, 3))(
  'beginDeliveries delivers what a slow model says, seed %i',
  async (seed) => {
    const random = randomNumbers(seed);
    const { stores } = await createScene();
    const model: Model = {
      ...{ stores, nowNs: startNs, entries: new Map(), known: new Map() },
      ...{ starts: 0, delivered: 0, pauses: 0 },
    };
    let open: Delivery[] = [];
    for (let turn = 0; turn < 600; turn++) {
      model.nowNs += BigInt(random(20)) * nsPerSecond;
      const chance = random(40);
      if (chance < 14) append(model, random);
      else if (chance < 16) subscribe(model, random);
      else if (chance < 17) change(model, random);
      else if (chance < 28) step(model, random, open);
      else if (chance < 38) {
        const answered = open.splice(0, 1 + random(4));
        for (const delivery of answered) reply(model, random, delivery);
      } else if (chance < 39) {
        model.nowNs += BigInt(random(3 * daySeconds)) * nsPerSecond;
      } else {
        // The answers to open calls are lost
        open = [];
        model.starts += 1;
        model.stores = await upgradeStores(model.stores, 1_000 + model.starts);
        wakeAll(model.stores, model.nowNs);
      }
      if (turn % 10 === 0) checkState(model);
    }
    expect(model.delivered).toBeGreaterThan(100);
    expect(model.pauses).toBeGreaterThan(0);
    const call = callOf('alice', model.nowNs);
    for (const known of model.known.values()) {
      const { bucket, id } = known;
      const fields = { prefix: undefined, kinds: undefined, isPaused: false };
      changeSubscription(model.stores, call, { bucket, id, ...fields });
      known.isPaused = false;
    }
    drain(model);
    for (const known of model.known.values()) {
      expect(pendingOf(model, known)).toEqual([]);
      const { bucket: bucketId, id } = known;
      expect(findSubscription(model.stores, { bucketId, id })?.failures).toBe(0);
    }
    checkSubscriptions(model.stores, buckets);
  },
);

test('beginDeliveries keeps within the turns and cycles of a day, and spreads the second half', async () => {
  for (const replyBytes of [6, 2_000_000]) {
    const { stores } = await createScene();
    const nowNs = (startNs / dayNs) * dayNs;
    const model: Model = {
      ...{ stores, nowNs, entries: new Map(), known: new Map() },
      ...{ starts: 0, delivered: 0, pauses: 0 },
    };
    const added = addSubscription(stores, callOf('alice', nowNs), {
      ...{ bucket: 'box', prefix: '', kinds: undefined, after: undefined, method: 'efs_events' },
      ...{ canister: Uint8Array.of(9, 1), self: Uint8Array.of(8, 1) },
    });
    const times: number[] = [];
    let mostCycles = 0;
    const seconds = 30;
    for (let second = 0; second < daySeconds; second += seconds) {
      model.nowNs = nowNs + BigInt(second) * nsPerSecond;
      const change = { kind: 'file.stored', subject: 'a' } as const;
      appendEntry(stores, 'box', change, { actor, nowNs: model.nowNs });
      wakeSubscriptions(stores, model.nowNs);
      for (const delivery of beginDeliveries(stores, model.nowNs, 8).deliveries) {
        times.push(second);
        const outcome = { kind: 'acknowledged', replyBytes } as const;
        endDelivery(stores, delivery, { outcome, nowNs: model.nowNs });
      }
      const now = findSubscription(stores, { bucketId: 'box', id: added.id }) ?? expect.fail();
      mostCycles = Math.max(mostCycles, now.cyclesOfDay);
    }
    expect(times.length).toBeLessThanOrEqual(eventTurnsPerDay);
    expect(mostCycles).toBeLessThanOrEqual(eventCyclesPerDay);
    expect(mostCycles).toBeGreaterThan(eventCyclesPerDay / 2 - eventCycles.most);
    const last = times.at(-1) ?? 0;
    expect(last).toBeGreaterThan((daySeconds * 2) / 3);
    // At first each change is delivered
    expect(times.slice(0, 5)).toEqual([0, 1, 2, 3, 4].map((index) => index * seconds));
  }
});
