// Operations on the rules of a bucket: owners set them as a whole.

import { saveBucket } from '../buckets/buckets.ts';
import { setRuleCheck } from '../buckets/rule-times.ts';
import {
  findRules,
  parseRules,
  type Rule,
  type SentRule,
  saveRules,
  versionRules,
} from '../buckets/rules.ts';
import { endVersionWalk, isWalking, startVersionWalk } from '../files/version-rules.ts';
import { ownedBucket } from '../rights/ownership.ts';
import { authorize, type SentKey } from '../rights/rights.ts';
import type { Call } from '../shared/caller.ts';
import type { Stores } from '../shared/stores.ts';

/**
 * Replaces the rules of the bucket, for owners; an empty list removes them. Rules also apply to
 * what the bucket has already, step by step.
 */
export function setRules(
  stores: Stores,
  call: Call,
  request: { readonly bucket: string; readonly rules: readonly SentRule[] },
): readonly Rule[] {
  const bucket = ownedBucket(stores, call, request.bucket);
  const rules = parseRules(request.rules);
  const { id } = bucket;
  const limitsVersions = versionRules(rules).length > 0;
  const isLimit = limitsVersions || bucket.limitsVersions;
  const walks = isWalking(stores, id) || (isLimit && bucket.versionCount > 0);
  saveRules(stores, id, rules);
  saveBucket(stores, { ...bucket, limitsVersions, updatedAtNs: call.nowNs }, bucket);
  if (walks) startVersionWalk(stores, id);
  setRuleCheck(stores, id, walks || rules.length > 0 ? call.nowNs : undefined);
  stores.heap.rulePass = undefined;
  stores.journal.note(bucket.id, { kind: 'bucket.changed', subject: 'rules' });
  return rules;
}

/** Returns the rules, for members and for keys that may read the whole bucket. */
export function getRules(
  stores: Stores,
  call: Call,
  { bucket: name, apiKey }: { readonly bucket: string; readonly apiKey: SentKey },
): readonly Rule[] {
  const claim = { bucket: name, apiKey, permission: 'read', prefix: '' } as const;
  const { bucket } = authorize(stores, call, claim);
  return findRules(stores, bucket.id);
}

/** Removes the rules of a deleted bucket. */
export function forgetRules(stores: Stores, bucketId: string): void {
  saveRules(stores, bucketId, []);
  setRuleCheck(stores, bucketId, undefined);
  endVersionWalk(stores, bucketId);
  stores.heap.rulePass = undefined;
}
