// Converts arguments and answers of retention between Candid and the domain's types.

import type { RetentionRule, SentRule } from '../../domain/buckets/retention-rules.ts';
import type { HoldChange, RetentionChange } from '../../domain/files/retention-changes.ts';
import type { Retention } from '../../domain/shared/retention.ts';
import { numberOf, type Optional, optional } from './optional.ts';

export interface RuleArgument {
  readonly prefix: Optional<string>;
  readonly mode: string;
  readonly days: bigint;
}

export function rulesOf([rules]: Optional<RuleArgument[]>): SentRule[] | undefined {
  return rules?.map(({ prefix, mode, days }) => ({ prefix: prefix[0], mode, days }));
}

/** Returns the field of a bucket's record: absent without rules. */
export function rulesView(rules: readonly RetentionRule[]) {
  if (rules.length === 0) return [];
  return [rules.map(({ prefix, mode, days }) => ({ prefix: [prefix], mode, days: BigInt(days) }))];
}

/** Returns the field of a version's record. */
export function retentionFields(retention: Retention | undefined) {
  if (retention === undefined) return [];
  const { mode, untilNs, hasHold } = retention;
  return [{ mode: optional(mode), retainUntil: optional(mode && untilNs), hold: hasHold }];
}

interface VersionArgument {
  readonly bucketId: string;
  readonly path: string;
  readonly version: Optional<bigint>;
  readonly apiKey: Optional<string>;
}

export interface RetentionArgument extends VersionArgument {
  readonly mode: Optional<string>;
  readonly retainUntil: Optional<bigint>;
  readonly bypassGovernance: Optional<boolean>;
}

export interface HoldArgument extends VersionArgument {
  readonly hold: boolean;
}

function namedOf({ bucketId: bucket, path, version, apiKey }: VersionArgument) {
  return { bucket, path, version: numberOf(version), apiKey: apiKey[0] };
}

export function retentionChangeOf(argument: RetentionArgument): RetentionChange {
  const { mode, retainUntil, bypassGovernance } = argument;
  return {
    ...namedOf(argument),
    mode: mode[0],
    retainUntilNs: retainUntil[0],
    bypassesGovernance: bypassGovernance[0],
  };
}

export function holdChangeOf(argument: HoldArgument): HoldChange {
  return { ...namedOf(argument), hasHold: argument.hold };
}
