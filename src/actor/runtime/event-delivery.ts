// Sends entries to subscribers, by calls that wait at most a minute for their reply
// (kernel/outgoing-calls.ts), so that a subscriber can hold up neither the stop of this canister
// nor other subscribers. The next timer runs in the round after the change. Attempts that are due
// later than the next turn of upkeep wait for that one, which also repeats those without an answer.

import { Principal } from '@dfinity/principal';
import { call, time } from 'azle';
import {
  beginDeliveries,
  type Delivery,
  type DeliveryOutcome,
  endDelivery,
  wakeSubscriptions,
} from '../../domain/journal/event-delivery.ts';
import { nextDeliveryNs, wakeAll } from '../../domain/journal/subscription-records.ts';
import { areCyclesLow } from '../../domain/shared/cycles.ts';
import type { Stores } from '../../domain/shared/stores.ts';
import { concatBytes } from '../../lib/bytes.ts';
import { deliveriesPerMessage } from '../../limits.ts';
import { spendableCycles } from '../../storage/stable-space.ts';
import { JournalEvents } from '../candid/journal-events.ts';
import { messageHead } from '../candid/result.ts';
import { entryView } from './journal-entries.ts';
import { isCleanup, reasonOf } from './management.ts';
import { createOneShotTimer } from './timers.ts';

const nsPerSecond = 1_000_000_000n;
/** The interval of upkeep. */
const upkeepSeconds = 600;

export interface EventDelivery {
  /** Continues all subscriptions soon: for upgrades. */
  start(): void;
  /** Delivers soon what is due. */
  arm(): void;
  /** Repeats what is overdue: for upkeep, and when keys have arrived. */
  resume(): void;
}

/** `areKeysAtHand`: entries are encrypted. */
export function createEventDelivery(stores: Stores, areKeysAtHand: () => boolean): EventDelivery {
  const timer = createOneShotTimer(work);
  const head = messageHead(JournalEvents);

  async function work(): Promise<void> {
    // Upkeep tries again
    if (!areKeysAtHand() || areCyclesLow(spendableCycles())) return;
    wakeSubscriptions(stores, time());
    const { deliveries, hasMore } = beginDeliveries(stores, time(), deliveriesPerMessage);
    if (hasMore) timer.arm();
    else armNext();
    await Promise.all(deliveries.map(deliver));
  }

  function armNext(): void {
    const nextNs = nextDeliveryNs(stores);
    if (nextNs === undefined) return;
    const waitNs = nextNs - time();
    const seconds = waitNs > 0n ? Number(waitNs / nsPerSecond) + 1 : 0;
    if (seconds <= upkeepSeconds) timer.arm(seconds);
  }

  async function deliver(delivery: Delivery): Promise<void> {
    const outcome = await send(head, delivery);
    endDelivery(stores, delivery, { outcome, nowNs: time() });
    armNext();
  }

  function resume(): void {
    const nextNs = nextDeliveryNs(stores);
    const isDue = nextNs !== undefined && nextNs <= time();
    if (isDue || stores.heap.wokenBuckets.size > 0) timer.arm();
  }

  return {
    start() {
      wakeAll(stores, time());
      resume();
    },
    arm: () => timer.arm(),
    resume,
  };
}

async function send(head: Uint8Array, delivery: Delivery): Promise<DeliveryOutcome> {
  const { subscription, entries, cursor } = delivery;
  const { bucketId, id, canister, method } = subscription;
  const value = {
    bucketId,
    subscription: id,
    after: subscription.cursor,
    entries: entries.map(entryView),
    cursor,
  };
  try {
    const reply = await call<Uint8Array, Uint8Array>(Principal.fromUint8Array(canister), method, {
      raw: true,
      args: concatBytes(head, JournalEvents.encodeValue(value)),
    });
    return { kind: 'acknowledged', replyBytes: reply.length };
  } catch (error) {
    if (isCleanup(error)) throw error;
    const isSent = (error as { rejectCode?: number }).rejectCode !== undefined;
    return { kind: isSent ? 'rejected' : 'unsent', error: reasonOf(error) };
  }
}
