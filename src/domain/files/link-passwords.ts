// Opens links with a password: returns the secret to whoever sends the proof of the password (see
// link-secrets.ts), and counts wrong proofs. Only an update does, as a query could be repeated
// without a limit.

import { linkTriesPerLink } from '../../limits.ts';
import type { Call } from '../shared/caller.ts';
import { Refusal } from '../shared/refusal.ts';
import type { Stores } from '../shared/stores.ts';
import {
  secondsUntilTokens,
  type TokenBucket,
  takeTokens,
  tokensLeft,
} from '../shared/token-buckets.ts';
import type { Link } from './link-layout.ts';
import { openLinkSecret } from './link-secrets.ts';
import { addressOf, findOpenLink, noSuchLink } from './links.ts';

/** The address of a link without its secret. */
export interface LockedAddress {
  readonly id: string;
  readonly name: string;
}

const minutesPerTry = 1 / linkTriesPerLink.perMinute;

/** Refuses what unlockLink() would refuse for every proof; changes nothing. */
export function checkUnlocking(stores: Stores, call: Call, address: LockedAddress): Link {
  const link = findOpenLink(stores, call, address);
  if (link?.sealedSecret === undefined) throw noSuchLink();
  return link;
}

/** Whether the address belongs to a link with a password, of which tries are left. */
export function mayTry(stores: Stores, call: Call, address: LockedAddress): boolean {
  const link = findOpenLink(stores, call, address);
  return link?.sealedSecret !== undefined && triesLeft(stores, call, link) >= 1;
}

/** Returns the link's address with its secret; refuses and counts a wrong proof. */
export function unlockLink(
  stores: Stores,
  call: Call,
  request: LockedAddress & { readonly proof: Uint8Array },
): string {
  const link = checkUnlocking(stores, call, request);
  const { nowNs } = call;
  if (triesLeft(stores, call, link) < 1) {
    const seconds = secondsUntilTokens(stores.heap.tokens, triesOf(link), { amount: 1, nowNs });
    throw new Refusal(
      'SlowDown',
      `Too many wrong passwords were sent to this link: try again in ${seconds} seconds.`,
      { seconds },
    );
  }
  const secret = openLinkSecret(link, request.proof);
  if (secret !== undefined) return addressOf(link, secret);
  takeTokens(stores.heap.tokens, triesOf(link), { nowNs });
  throw new Refusal(
    'AccessDenied',
    `The password is wrong. ${Math.floor(triesLeft(stores, call, link))} tries are left, and ` +
      `another one every ${minutesPerTry} minutes.`,
  );
}

/** Wrong proofs take tokens, which are on the heap: an upgrade allows new tries. */
function triesOf({ id }: Link): TokenBucket {
  return { name: `link ${id}`, allowance: linkTriesPerLink };
}

function triesLeft(stores: Stores, { nowNs }: Call, link: Link): number {
  return tokensLeft(stores.heap.tokens, triesOf(link), nowNs);
}
