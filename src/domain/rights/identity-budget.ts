// Limits how many identities of buckets the canister derives, because each derivation costs it 26 G
// cycles. The budget `derivations` is for the whole canister. A principal, a bucket, and all
// buckets of an owner can each use only a part of it. The last quarter is reserved for principals
// without a derivation in the last hour, so that nobody can lock all others out of their files.

import { byteString } from '../../lib/bytes.ts';
import { derivationShares, derivationsPerHourMax } from '../../limits.ts';
import type { Bucket } from '../buckets/buckets.ts';
import type { Call } from '../shared/caller.ts';
import { Refusal } from '../shared/refusal.ts';
import type { Stores } from '../shared/stores.ts';
import { secondsUntilTokens, type TokenBucket, takeTokens } from '../shared/token-buckets.ts';
import { readBudget } from './budgets.ts';

interface Limit {
  readonly bucket: TokenBucket;
  /** Tokens that must be left: 1, or more if some are reserved for others. */
  readonly amount: number;
  readonly holder: string;
}

const hourly = (count: number) => ({ burst: count, perMinute: count / 60 });

/** A token bucket that is full only if the principal has derived nothing in the last hour. */
function firstOf(principal: string): TokenBucket {
  return { name: `first derivation ${principal}`, allowance: hourly(1) };
}

function limitsOf(stores: Stores, { caller, nowNs }: Call, { id, owner }: Bucket): Limit[] {
  const total = readBudget(stores, 'derivations');
  const shareOf = (share: number) => ({
    burst: Math.ceil(total.burst * share),
    perMinute: total.perMinute * share,
  });
  const principal = byteString(caller.principal);
  const asked = { amount: 1, nowNs };
  const isFirst = secondsUntilTokens(stores.heap.tokens, firstOf(principal), asked) === 0;
  const kept = isFirst ? 0 : total.burst * derivationShares.kept;
  const limit = (holder: string, name: string, allowance: TokenBucket['allowance']) => {
    return { holder, amount: 1, bucket: { name: `derivations ${name}`, allowance } };
  };
  return [
    limit('the caller', `principal ${principal}`, hourly(derivationsPerHourMax)),
    limit(`bucket ${id}`, `bucket ${id}`, shareOf(derivationShares.bucket)),
    limit(
      `the owner of bucket ${id}`,
      `owner ${byteString(owner)}`,
      shareOf(derivationShares.owner),
    ),
    { ...limit('all callers together', 'all', total), amount: 1 + kept },
  ];
}

/** Refuses with SlowDown and the seconds to wait; changes nothing. */
export function checkIdentityBudget(stores: Stores, call: Call, bucket: Bucket): Limit[] {
  const limits = limitsOf(stores, call, bucket);
  for (const { bucket: tokens, amount, holder } of limits) {
    const asked = { amount, nowNs: call.nowNs };
    const seconds = secondsUntilTokens(stores.heap.tokens, tokens, asked);
    if (seconds === 0) continue;
    throw new Refusal(
      'SlowDown',
      `The limit of derivations for ${holder} is reached: ` +
        (Number.isFinite(seconds) ? `try again in ${seconds} seconds, and ` : '') +
        'reuse identities that were derived.',
      { limit: tokens.allowance.burst, ...(Number.isFinite(seconds) ? { seconds } : {}) },
    );
  }
  return limits;
}

/**
 * Counts a derivation before the network is called, so that concurrent calls cannot exceed a limit.
 * It stays counted if the network fails, because a failure can cost as much.
 */
export function takeIdentity(stores: Stores, call: Call, bucket: Bucket): void {
  const { nowNs, caller } = call;
  for (const { bucket: tokens } of checkIdentityBudget(stores, call, bucket)) {
    takeTokens(stores.heap.tokens, tokens, { nowNs });
  }
  takeTokens(stores.heap.tokens, firstOf(byteString(caller.principal)), { nowNs });
}
