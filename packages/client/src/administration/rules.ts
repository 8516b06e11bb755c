// The rules of a bucket, which require the actor.

import type { Connection } from '../connection/connection.ts';
import type { BucketRule, StoredRule } from '../types/rules.ts';
import { manage } from './buckets-and-keys.ts';

/** Rules of buckets, which delete old files, former versions and unfinished uploads. */
export interface BucketRules {
  /**
   * Lists the rules of a bucket.
   *
   * @example
   * ```ts
   * for (const { id, prefix } of await storage.rules.list('demo')) console.log(id, prefix);
   * ```
   */
  list(bucket: string): Promise<readonly StoredRule[]>;
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
    list: (bucket) => manage(connection, 'getRules', bucket),
    set: (bucket, rules) => manage(connection, 'setRules', { bucket, rules }),
  };
}
