// When upkeep has work again. A service without work looks once a day instead of every ten minutes,
// which would cost it 0.7 T cycles a year.

import { nextRuleCheckNs } from '../buckets/rule-times.ts';
import { keptContents } from '../contents/kept-contents.ts';
import { hasLinks } from '../files/link-records.ts';
import { nextVersionExpiryNs } from '../files/version-entries.ts';
import { nextDeliveryNs } from '../journal/subscription-records.ts';
import type { Stores } from '../shared/stores.ts';
import { nextUploadCheckNs } from '../uploads/upload-expiry.ts';

/**
 * Returns the earliest time at which something expires or has to be looked at; undefined if nothing
 * is known. Links are looked at in each turn, because the network reports no change of controllers.
 */
export function nextUpkeepNs(stores: Stores, nowNs: bigint): bigint | undefined {
  if (hasLinks(stores) || stores.reclaims.firstKey() !== undefined) return nowNs;
  const times = [
    nextUploadCheckNs(stores),
    keptContents(stores)[0]?.untilNs,
    nextVersionExpiryNs(stores),
    nextRuleCheckNs(stores),
    nextDeliveryNs(stores),
  ];
  const known = times.filter((time) => time !== undefined);
  return known.length === 0
    ? undefined
    : known.reduce((least, time) => (time < least ? time : least));
}
