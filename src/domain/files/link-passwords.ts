// Opens links with a password: returns the secret to whoever sends the proof of the password (see
// link-secrets.ts), and counts wrong proofs. Only an update does, as a query could be repeated
// without a limit. The link's record has the count: nothing else that callers do makes it forget.

import { linkTriesPerLink } from '../../limits.ts';
import type { Call } from '../shared/caller.ts';
import { Refusal } from '../shared/refusal.ts';
import type { Stores } from '../shared/stores.ts';
import { type Link, storeLink } from './link-layout.ts';
import { openLinkSecret } from './link-secrets.ts';
import { addressOf, findOpenLink, noSuchLink } from './links.ts';

/** The address of a link without its secret. */
export interface LockedAddress {
  readonly id: string;
  readonly name: string;
}

const perTry = 1_000;
const { burst, minutesPerTry } = linkTriesPerLink;
const nsPerThousandth = (BigInt(minutesPerTry) * 60_000_000_000n) / BigInt(perTry);
const thousandthsPerSecond = perTry / (minutesPerTry * 60);

/** Refuses what unlockLink() would refuse for every proof; changes nothing. */
export function checkUnlocking(stores: Stores, call: Call, address: LockedAddress): Link {
  const link = findOpenLink(stores, call, address);
  if (link?.sealedSecret === undefined) throw noSuchLink();
  return link;
}

/** Whether the address belongs to a link with a password, of which tries are left. */
export function mayTry(stores: Stores, call: Call, address: LockedAddress): boolean {
  const link = findOpenLink(stores, call, address);
  return link?.sealedSecret !== undefined && triesLeft(call, link) >= 1;
}

/** Returns the link's address with its secret; refuses and counts a wrong proof. */
export function unlockLink(
  stores: Stores,
  call: Call,
  request: LockedAddress & { readonly proof: Uint8Array },
): string {
  const link = checkUnlocking(stores, call, request);
  const left = triesLeft(call, link);
  if (left < 1) {
    const seconds = Math.ceil(((1 - left) * perTry) / thousandthsPerSecond);
    throw new Refusal(
      'SlowDown',
      `Too many wrong passwords were sent to this link: try again in ${seconds} seconds.`,
      { seconds },
    );
  }
  const secret = openLinkSecret(link, request.proof);
  if (secret !== undefined) return addressOf(link, secret);
  const spent = spentThousandths(call, link) + perTry;
  storeLink(stores, { ...link, tries: { spent, atNs: call.nowNs } });
  throw new Refusal(
    'AccessDenied',
    `The password is wrong. ${Math.floor(left - 1)} tries are left, and another one every ` +
      `${minutesPerTry} minutes.`,
  );
}

function triesLeft(call: Call, link: Link): number {
  return burst - spentThousandths(call, link) / perTry;
}

function spentThousandths({ nowNs }: Call, { tries }: Link): number {
  if (tries === undefined) return 0;
  const regained = Number((nowNs - tries.atNs) / nsPerThousandth);
  return Math.max(0, tries.spent - Math.max(0, regained));
}
