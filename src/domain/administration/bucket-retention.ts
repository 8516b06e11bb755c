// Changes of a bucket's default retention.

import type { Bucket } from '../buckets/buckets.ts';
import { findEndToEnd, type PlannedMode } from '../buckets/end-to-end.ts';
import {
  parseRetentionRules,
  type RetentionRule,
  retentionRules,
  type SentRule,
} from '../buckets/retention-rules.ts';
import { Refusal } from '../shared/refusal.ts';
import type { Stores } from '../shared/stores.ts';

export interface RulesChange {
  /** Replaces all rules; stored files keep their retention. */
  readonly retention?: readonly SentRule[] | undefined;
}

/** Returns the rules of a bucket after the change. */
export function changedRules(
  stores: Stores,
  bucket: Bucket,
  { retention }: RulesChange,
  mode: PlannedMode | null | undefined,
): RetentionRule[] {
  const rules =
    retention === undefined ? retentionRules(stores, bucket) : parseRetentionRules(retention);
  const present = mode === undefined ? findEndToEnd(stores, bucket.id) : mode;
  requireReadablePrefixes(rules, present);
  return rules;
}

/** Refuses prefixes of names that clients seal: they match no stored path. */
export function requireReadablePrefixes(
  rules: readonly RetentionRule[],
  mode: { readonly sealsNames: boolean } | null | undefined,
): void {
  if (mode?.sealsNames !== true || rules.every(({ prefix }) => prefix === '')) return;
  throw new Refusal(
    'InvalidArgument',
    'The bucket seals names, so a retention rule cannot have a prefix: send one rule without a ' +
      'prefix, for the whole bucket.',
  );
}
