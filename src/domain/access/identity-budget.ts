// How many identities of buckets the network may be asked for: each costs the canister 26 G cycles.
// Counted over the last hour, for each principal and in all, so that no more are remembered than
// are allowed in all. On the heap alone: an upgrade forgets them.

import { byteString } from '../../lib/bytes.ts';
import { allIdentitiesPerHourMax, hourNs, identitiesPerHourMax } from '../../limits.ts';
import type { Call } from '../shared/caller.ts';
import type { Derivation } from '../shared/heap-state.ts';
import { Refusal, secondsUntil } from '../shared/refusal.ts';
import type { Stores } from '../shared/stores.ts';

/** Refuses with SlowDown, and the time when it is possible again; changes nothing. */
export function checkIdentityBudget(stores: Stores, { caller, nowNs }: Call): Derivation[] {
  const recent = stores.heap.derivations.filter(({ atNs }) => atNs > nowNs - hourNs);
  const principal = byteString(caller.principal);
  const own = recent.filter((derivation) => derivation.principal === principal);
  requireRoom(own, { limit: identitiesPerHourMax, who: 'a principal', nowNs });
  requireRoom(recent, { limit: allIdentitiesPerHourMax, who: 'all callers together', nowNs });
  return recent;
}

function requireRoom(
  counted: readonly Derivation[],
  { limit, who, nowNs }: { readonly limit: number; readonly who: string; readonly nowNs: bigint },
): void {
  const oldest = counted.at(-limit);
  if (oldest === undefined) return;
  const seconds = secondsUntil(oldest.atNs + hourNs, nowNs);
  throw new Refusal(
    'SlowDown',
    `The network derives at most ${limit} identities of buckets an hour for ${who}: try again in ` +
      `${seconds} seconds, and keep an identity that was derived.`,
    { limit, seconds },
  );
}

/**
 * Counts one, before the network is asked, so that calls at one time do not pass the limit. It
 * stays counted when the network fails, for that can cost as much.
 */
export function takeIdentity(stores: Stores, call: Call): void {
  const recent = checkIdentityBudget(stores, call);
  const principal = byteString(call.caller.principal);
  stores.heap.derivations = [...recent, { principal, atNs: call.nowNs }];
}
