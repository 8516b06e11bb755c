// The rules of a bucket, which require the actor.

import type { Connection } from '../connection/connection.ts';
import type { BucketRule, StoredRule } from '../types/rules.ts';
import { manage } from './buckets-and-keys.ts';

/** Rules of buckets, which delete old files, former versions and unfinished uploads. */
export interface BucketRules {
  /**
   * Lists the rules of a bucket. One node of the network answers, unless `certified` is true: then
   * the network signs the reply, which takes a few seconds and costs the service cycles. Whoever
   * sends a changed list back needs that, because a rule that a node left out would be removed.
   *
   * @example
   * ```ts
   * for (const { id, prefix } of await storage.rules.list('demo')) console.log(id, prefix);
   * const rules = await storage.rules.list('demo', { certified: true });
   * await storage.rules.set('demo', [...rules, { id: 'tmp', prefix: 'tmp/', deleteAfterDays: 1 }]);
   * ```
   */
  list(bucket: string, options?: { readonly certified?: boolean }): Promise<readonly StoredRule[]>;
  /**
   * Replaces all rules of a bucket, at most 20; an empty list removes them. Requires an owner. The
   * rules also apply to the files that the bucket has.
   *
   * @example
   * ```ts
   * await storage.rules.set('demo', [
   *   { id: 'logs', prefix: 'logs/', deleteAfterDays: 30 },
   *   { id: 'unfinished', endUploadsAfterHours: 24 },
   * ]);
   * ```
   */
  set(bucket: string, rules: readonly BucketRule[]): Promise<readonly StoredRule[]>;
}

export function rulesOf(connection: Connection): BucketRules {
  return {
    list: (bucket, { certified = false } = {}) =>
      manage(connection, certified ? 'getSignedRules' : 'getRules', bucket),
    set: (bucket, rules) => manage(connection, 'setRules', { bucket, rules }),
  };
}
