// Subscriptions of canisters through actor calls.

import { Principal } from '@icp-sdk/core/principal';
import type { Subscription as CandidSubscription } from '../candid/file_storage.did.ts';
import type { AdministrationOperations } from '../operations/administration.ts';
import { StorageError } from '../storage-error.ts';
import type { Subscription } from '../types/subscriptions.ts';
import { type ActorCalls, calling, nothing } from './actor-call.ts';
import { isoTime, optional, optionals } from './candid-records.ts';

type SubscriptionOperations = Pick<
  AdministrationOperations,
  'addSubscription' | 'listSubscriptions' | 'updateSubscription' | 'removeSubscription'
>;

export const subscriptionCalls: ActorCalls<SubscriptionOperations> = {
  addSubscription: calling(
    ({ actor }, { bucket: bucketId, canisterId, method, prefix, kinds, after }) =>
      actor.addSubscription({
        ...{ bucketId, canister: principalOf(canisterId), method },
        ...{ ...optionals({ prefix, after }), kinds: optional(kinds && [...kinds]) },
      }),
    subscriptionOf,
  ),
  listSubscriptions: calling(
    ({ actor }, bucket) => actor.listSubscriptions(bucket),
    (found) => found.map(subscriptionOf),
  ),
  updateSubscription: calling(
    ({ actor }, { bucket: bucketId, id, prefix, kinds, isPaused }) =>
      actor.updateSubscription({
        ...{ bucketId, id: BigInt(id), kinds: optional(kinds && [...kinds]) },
        ...optionals({ prefix, isPaused }),
      }),
    subscriptionOf,
  ),
  removeSubscription: calling(
    ({ actor }, { bucket, id }) => actor.removeSubscription(bucket, BigInt(id)),
    nothing,
  ),
};

function principalOf(text: string): Principal {
  try {
    return Principal.fromText(text);
  } catch (cause) {
    throw new StorageError(
      'InvalidArgument',
      `The subscriber ${JSON.stringify(text)} is not a principal: send the id of a canister.`,
      { cause },
    );
  }
}

function subscriptionOf(found: CandidSubscription): Subscription {
  const time = ([timeNs]: [] | [bigint]) => (timeNs === undefined ? undefined : isoTime(timeNs));
  return {
    id: Number(found.id),
    canisterId: found.canister.toText(),
    method: found.method,
    prefix: found.prefix[0] ?? '',
    kinds: found.kinds,
    createdAt: isoTime(found.createdAt),
    cursor: Number(found.cursor),
    failingSince: time(found.failingSince),
    error: found.error[0],
    pausedAt: time(found.pausedAt),
    waitsUntil: time(found.waitsUntil),
    cyclesToday: Number(found.cyclesToday),
  };
}
