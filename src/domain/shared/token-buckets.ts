// Token buckets, which allow a burst after a quiet time, then a constant rate. This module counts
// tokens; the owner of a budget chooses the sizes and what an empty bucket means. Levels are on the
// heap, so an upgrade fills every bucket.

import { tokenLevelCountMax } from '../../limits.ts';

export interface Allowance {
  /** Number of tokens in a full bucket. */
  readonly burst: number;
  readonly perMinute: number;
}

/** One bucket: `name` identifies its level, `allowance` is its size. */
export interface TokenBucket {
  readonly name: string;
  readonly allowance: Allowance;
}

interface Level {
  readonly left: number;
  readonly atNs: bigint;
  /** The time at which the bucket is full again, so that its level can be forgotten. */
  readonly fullAtNs: bigint;
}

/** Levels of the buckets that are not full, by name. */
export type TokenLevels = Map<string, Level>;

const nsPerMinute = 60_000_000_000;

/** Returns the tokens that are left, including fractions; negative while the bucket is in debt. */
export function tokensLeft(levels: TokenLevels, bucket: TokenBucket, nowNs: bigint): number {
  const { burst, perMinute } = bucket.allowance;
  const level = levels.get(bucket.name);
  if (level === undefined) return burst;
  const minutes = Math.max(0, Number(nowNs - level.atNs)) / nsPerMinute;
  return Math.min(burst, level.left + minutes * perMinute);
}

/** Returns whole seconds until that many tokens are left; Infinity if the bucket never has them. */
export function secondsUntilTokens(
  levels: TokenLevels,
  bucket: TokenBucket,
  { amount, nowNs }: { readonly amount: number; readonly nowNs: bigint },
): number {
  const { burst, perMinute } = bucket.allowance;
  const lacking = amount - tokensLeft(levels, bucket, nowNs);
  if (lacking <= 0) return 0;
  return amount > burst ? Number.POSITIVE_INFINITY : Math.ceil((lacking / perMinute) * 60);
}

/**
 * Takes tokens and never refuses: callers that must not exceed a budget check tokensLeft() first. A
 * bucket can go into debt by at most one burst, because several messages can pass an inspection
 * before the first one runs.
 */
export function takeTokens(
  levels: TokenLevels,
  bucket: TokenBucket,
  { amount = 1, nowNs }: { readonly amount?: number; readonly nowNs: bigint },
): void {
  const { burst, perMinute } = bucket.allowance;
  const left = Math.max(-burst, tokensLeft(levels, bucket, nowNs) - amount);
  const minutes =
    perMinute > 0 ? (burst - left) / perMinute : Number.MAX_SAFE_INTEGER / nsPerMinute;
  const fullAtNs = nowNs + BigInt(Math.ceil(minutes * nsPerMinute));
  if (!levels.has(bucket.name)) makeRoom(levels, nowNs);
  levels.set(bucket.name, { left, atNs: nowNs, fullAtNs });
}

/** Forgets the levels of full buckets or, if none is full, of the one that is full next. */
function makeRoom(levels: TokenLevels, nowNs: bigint): void {
  if (levels.size < tokenLevelCountMax) return;
  let next: readonly [name: string, Level] | undefined;
  for (const entry of levels) {
    const [name, { fullAtNs }] = entry;
    if (fullAtNs <= nowNs) levels.delete(name);
    else if (next === undefined || fullAtNs < next[1].fullAtNs) next = entry;
  }
  if (levels.size >= tokenLevelCountMax && next !== undefined) levels.delete(next[0]);
}
