// The subscriptions of a bucket, which require the actor and an owner.

import type { Connection } from '../connection/connection.ts';
import type {
  Subscription,
  SubscriptionChange,
  SubscriptionRequest,
} from '../types/subscriptions.ts';
import { manage } from './buckets-and-keys.ts';

/** Subscriptions of canisters to the journal of a bucket. Each method requires an owner. */
export interface Subscriptions {
  /**
   * Subscribes a canister: the service calls its method with each entry that matches, within
   * seconds of the change, in order and at least once.
   *
   * @example
   * ```ts
   * const { id } = await storage.subscriptions.add('demo', {
   *   canisterId: 'ryjl3-tyaaa-aaaaa-aaaba-cai',
   *   method: 'efs_events',
   *   prefix: 'invoices/',
   *   kinds: ['file.stored', 'file.deleted'],
   *   after: 0,
   * });
   * console.log(id);
   * ```
   */
  add(bucket: string, subscription: SubscriptionRequest): Promise<Subscription>;
  /**
   * Lists the subscriptions of a bucket, at most 8.
   *
   * @example
   * ```ts
   * for (const { id, canisterId, pausedAt, error } of await storage.subscriptions.list('demo')) {
   *   console.log(id, canisterId, pausedAt, error);
   * }
   * ```
   */
  list(bucket: string): Promise<readonly Subscription[]>;
  /**
   * Changes what is delivered, pauses or resumes. It takes effect from the cursor on: entries
   * whose delivery is under way may arrive again.
   *
   * @example
   * ```ts
   * for (const { id, pausedAt } of await storage.subscriptions.list('demo')) {
   *   if (pausedAt) await storage.subscriptions.update('demo', id, { isPaused: false });
   * }
   * ```
   */
  update(bucket: string, id: number, change: SubscriptionChange): Promise<Subscription>;
  /**
   * Removes a subscription. Entries whose delivery is under way may still arrive.
   *
   * @example
   * ```ts
   * for (const { id } of await storage.subscriptions.list('demo')) {
   *   await storage.subscriptions.remove('demo', id);
   * }
   * ```
   */
  remove(bucket: string, id: number): Promise<void>;
}

export function subscriptionsOf(connection: Connection): Subscriptions {
  return {
    add: (bucket, request) => manage(connection, 'addSubscription', { bucket, ...request }),
    list: (bucket) => manage(connection, 'listSubscriptions', bucket),
    update: (bucket, id, change) =>
      manage(connection, 'updateSubscription', { bucket, id, ...change }),
    async remove(bucket, id) {
      await manage(connection, 'removeSubscription', { bucket, id });
    },
  };
}
