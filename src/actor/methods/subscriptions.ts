// Actor methods for subscriptions to the entries of a bucket.

import { IDL } from '@dfinity/candid';
import { Principal } from '@dfinity/principal';
import { canisterSelf } from 'azle';
import { cyclesToday } from '../../domain/journal/event-delivery.ts';
import type { Subscription } from '../../domain/journal/subscription-records.ts';
import {
  addSubscription,
  changeSubscription,
  kindNames,
  listSubscriptions,
  removeSubscription,
} from '../../domain/journal/subscriptions.ts';
import {
  ResultSubscription,
  ResultSubscriptions,
  SubscriptionChange,
  SubscriptionRequest,
} from '../candid/subscriptions.ts';
import { ResultNull } from '../candid/types.ts';
import { query, update } from '../dispatch/method.ts';
import { numberOf, type Optional, optional, prefixOf } from '../messages/optional.ts';
import { answer, currentCall } from '../runtime/call.ts';
import { eventDelivery, stores } from '../runtime/runtime.ts';
import { time } from '../runtime/system.ts';

interface RequestArgument {
  bucketId: string;
  canister: Principal;
  method: string;
  prefix: Optional<string>;
  kinds: Optional<string[]>;
  after: Optional<bigint>;
}

interface ChangeArgument {
  bucketId: string;
  id: bigint;
  prefix: Optional<string>;
  kinds: Optional<string[]>;
  isPaused: Optional<boolean>;
}

function optionalTime(timeNs: bigint): Optional<bigint> {
  return timeNs === 0n ? [] : [timeNs];
}

function view(subscription: Subscription, nowNs: bigint) {
  const { canister, prefix, error, failingSinceNs, pausedAtNs, notBeforeNs } = subscription;
  return {
    id: subscription.id,
    bucketId: subscription.bucketId,
    canister: Principal.fromUint8Array(canister),
    method: subscription.method,
    prefix: optional(prefix || undefined),
    kinds: kindNames(subscription),
    createdAt: subscription.createdAtNs,
    cursor: subscription.cursor,
    failingSince: optionalTime(failingSinceNs),
    error: optional(error || undefined),
    pausedAt: optionalTime(pausedAtNs),
    waitsUntil: optionalTime(notBeforeNs > nowNs ? notBeforeNs : 0n),
    cyclesToday: cyclesToday(subscription, nowNs),
  };
}

/** Subscriptions: canisters that receive the entries of a bucket's journal. */
export class SubscriptionsActor {
  /**
   * Adds a subscription, for owners. A bucket has at most 8, the canister 64. Errors: AccessDenied,
   * InvalidArgument, NoSuchBucket, QuotaExceeded.
   */
  @update([SubscriptionRequest], ResultSubscription)
  addSubscription(argument: RequestArgument) {
    return answer(() => {
      const { canister, method, prefix, kinds, after } = argument;
      const call = currentCall();
      const added = addSubscription(stores, call, {
        bucket: argument.bucketId,
        canister: canister.toUint8Array(),
        method,
        prefix: prefixOf(prefix),
        kinds: kinds[0],
        after: numberOf(after),
        self: canisterSelf().toUint8Array(),
      });
      eventDelivery.arm();
      return view(added, call.nowNs);
    });
  }

  /**
   * (bucketId) Lists the subscriptions of a bucket, for owners. Errors: AccessDenied, NoSuchBucket.
   */
  @query([IDL.Text], ResultSubscriptions)
  listSubscriptions(bucket: string) {
    return answer(() => {
      const found = listSubscriptions(stores, currentCall(), bucket);
      return found.map((subscription) => view(subscription, time()));
    });
  }

  /**
   * Changes what is delivered, pauses or resumes, for owners. It takes effect from the cursor on:
   * entries whose delivery is under way may arrive again. Errors: AccessDenied, InvalidArgument,
   * NoSuchBucket.
   */
  @update([SubscriptionChange], ResultSubscription)
  updateSubscription(argument: ChangeArgument) {
    return answer(() => {
      const { id, prefix, kinds, isPaused } = argument;
      const call = currentCall();
      const changed = changeSubscription(stores, call, {
        bucket: argument.bucketId,
        id: Number(id),
        prefix: prefixOf(prefix),
        kinds: kinds[0],
        isPaused: isPaused[0],
      });
      eventDelivery.arm();
      return view(changed, call.nowNs);
    });
  }

  /**
   * (bucketId, id) Removes a subscription, for owners. An entry that is under way may still arrive.
   * Errors: AccessDenied, InvalidArgument, NoSuchBucket.
   */
  @update([IDL.Text, IDL.Nat], ResultNull)
  removeSubscription(bucket: string, id: bigint) {
    return answer(() => {
      removeSubscription(stores, currentCall(), { bucket, id: Number(id) });
      return null;
    });
  }
}
