// Retention of a file's version, with the meaning of S3's Object Lock: until a time in one of two
// modes, and a legal hold, which has no time.

import { retentionDaysMax } from '../../limits.ts';
import { quote } from './names.ts';
import { Refusal } from './refusal.ts';

export const retentionModes = ['governance', 'compliance'] as const;
/** governance: owners may end it explicitly; compliance: nobody can shorten it. */
export type RetentionMode = (typeof retentionModes)[number];

/** A record has it only if it has a mode or a hold. */
export interface Retention {
  /** Absent: only a hold. */
  readonly mode?: RetentionMode | undefined;
  /** 0n without a mode. */
  readonly untilNs: bigint;
  /** A legal hold, until an owner removes it. */
  readonly hasHold: boolean;
}

const nsPerDay = 86_400_000_000_000n;

/** Returns the end of a retention of so many days. */
export function retainedUntilNs(nowNs: bigint, days: number): bigint {
  return nowNs + BigInt(days) * nsPerDay;
}

export function isRetentionMode(text: string): text is RetentionMode {
  return (retentionModes as readonly string[]).includes(text);
}

export function parseRetentionMode(text: string): RetentionMode {
  if (isRetentionMode(text)) return text;
  throw new Refusal(
    'InvalidArgument',
    `The mode of a retention is one of ${retentionModes.join(', ')}; got ${quote(text)}.`,
  );
}

export function parseRetentionDays(days: bigint): number {
  if (days >= 1n && days <= BigInt(retentionDaysMax)) return Number(days);
  throw new Refusal(
    'InvalidArgument',
    `The days of a retention must be 1 to ${retentionDaysMax}; got ${shownNumber(days)}. An empty ` +
      'list of rules removes the default retention.',
    { limit: retentionDaysMax },
  );
}

/** Refuses a time that is past, or later than the longest retention. */
export function parseRetainUntil(untilNs: bigint, nowNs: bigint): bigint {
  if (untilNs > nowNs && untilNs <= retainedUntilNs(nowNs, retentionDaysMax)) return untilNs;
  throw new Refusal(
    'InvalidArgument',
    `retainUntil must be in the future, at most ${retentionDaysMax} days from now; got ` +
      `${shownNumber(untilNs)} ns since 1970.`,
  );
}

/** Callers may send numbers of thousands of digits. */
function shownNumber(number: bigint): string {
  const digits = `${number}`;
  return digits.length <= 24 ? digits : `a number of ${digits.length} digits`;
}
