// The default retention of a bucket: rules by prefix, each of which gives files that are written
// from then on a retention. The rule with the longest matching prefix applies. The record of a
// bucket with rules has a flag, so that writes in other buckets read nothing more.

import { encodeUtf8 } from '../../lib/text.ts';
import { retentionRuleCountMax } from '../../limits.ts';
import { RecordReader, RecordWriter } from '../../storage/codec.ts';
import { parseKeyPrefix, quote } from '../shared/names.ts';
import { Refusal } from '../shared/refusal.ts';
import {
  parseRetentionDays,
  parseRetentionMode,
  type Retention,
  type RetentionMode,
  retainedUntilNs,
  retentionModes,
} from '../shared/retention.ts';
import type { Stores } from '../shared/stores.ts';

export interface RetentionRule {
  /** Compared exactly, without a leading slash; '' matches every path. */
  readonly prefix: string;
  readonly mode: RetentionMode;
  readonly days: number;
}

/** A rule as owners send it. */
export interface SentRule {
  readonly prefix?: string | undefined;
  readonly mode: string;
  readonly days: bigint;
}

// 0: version 1 | count u8 | for each rule: mode u8, days u32 | texts: prefix …
// In the meta map.
const version = 1;

function metaKey(bucketId: string): Uint8Array {
  return encodeUtf8(`retention/${bucketId}`);
}

interface Ruled {
  readonly id: string;
  readonly hasRetention: boolean;
}

/** Returns the rules of the bucket, in the order in which its owners sent them. */
export function retentionRules(stores: Stores, { id, hasRetention }: Ruled): RetentionRule[] {
  const stored = hasRetention ? stores.meta.get(metaKey(id)) : undefined;
  if (stored === undefined) return [];
  const reader = new RecordReader(stored, version);
  const heads = Array.from({ length: reader.u8() }, () => {
    return { mode: retentionModes[reader.u8()] ?? 'compliance', days: reader.u32() };
  });
  const prefixes = reader.texts();
  return heads.map((head, index) => ({ prefix: prefixes[index] ?? '', ...head }));
}

export function saveRetentionRules(
  stores: Stores,
  bucketId: string,
  rules: readonly RetentionRule[],
): void {
  const key = metaKey(bucketId);
  if (rules.length === 0) {
    if (stores.meta.has(key)) stores.meta.delete(key);
    return;
  }
  const writer = new RecordWriter(version).u8(rules.length);
  for (const { mode, days } of rules) writer.u8(retentionModes.indexOf(mode)).u32(days);
  stores.meta.set(key, writer.finish(rules.map(({ prefix }) => prefix)));
}

/** Parses the rules that replace all rules of a bucket. */
export function parseRetentionRules(sent: readonly SentRule[]): RetentionRule[] {
  if (sent.length > retentionRuleCountMax) {
    throw new Refusal(
      'InvalidArgument',
      `A bucket has at most ${retentionRuleCountMax} retention rules; got ${sent.length}.`,
      { limit: retentionRuleCountMax },
    );
  }
  const rules = sent.map(({ prefix = '', mode, days }) => ({
    prefix: parseKeyPrefix(prefix),
    mode: parseRetentionMode(mode),
    days: parseRetentionDays(days),
  }));
  const prefixes = new Set<string>();
  for (const { prefix } of rules) {
    if (prefixes.has(prefix)) {
      throw new Refusal(
        'InvalidArgument',
        `Two retention rules have the prefix ${quote(prefix)}: send one rule for each prefix.`,
      );
    }
    prefixes.add(prefix);
  }
  return rules;
}

/** Returns the retention of a version that is written now at the path. */
export function defaultRetention(
  stores: Stores,
  bucket: Ruled,
  { path, nowNs }: { readonly path: string; readonly nowNs: bigint },
): Retention | undefined {
  if (!bucket.hasRetention) return undefined;
  let found: RetentionRule | undefined;
  for (const rule of retentionRules(stores, bucket)) {
    const isLonger = found === undefined || rule.prefix.length > found.prefix.length;
    if (isLonger && path.startsWith(rule.prefix)) found = rule;
  }
  if (found === undefined) return undefined;
  return { mode: found.mode, untilNs: retainedUntilNs(nowNs, found.days), hasHold: false };
}
