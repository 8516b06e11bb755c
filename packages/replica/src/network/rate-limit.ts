// The rate limit of boundary nodes: a token bucket, and a ban of addresses whose bucket is empty.

import type { NetworkProfile, RateLimit } from './profile.ts';

/** Takes one token; returns false if the bucket is empty. */
export type TakeToken = () => boolean;

export function tokenBucket({ perSecond, burst }: RateLimit, nowMs: () => number): TakeToken {
  let tokens = burst;
  let filledAtMs = nowMs();
  return () => {
    const now = nowMs();
    tokens = Math.min(burst, tokens + (Math.max(0, now - filledAtMs) * perSecond) / 1_000);
    filledAtMs = now;
    if (tokens < 1) return false;
    tokens -= 1;
    return true;
  };
}

/**
 * Limits one address, which all clients on this machine share. The network's firewall drops packets
 * of a banned address; here a response states the reason.
 */
export function addressLimit(
  limit: NetworkProfile['requests'],
  nowMs: () => number,
): () => 'passes' | 'isShutOut' {
  const take = tokenBucket(limit, nowMs);
  let shutUntilMs = Number.NEGATIVE_INFINITY;
  return () => {
    const now = nowMs();
    if (now < shutUntilMs) return 'isShutOut';
    if (take()) return 'passes';
    shutUntilMs = now + limit.banMs;
    return 'isShutOut';
  };
}
