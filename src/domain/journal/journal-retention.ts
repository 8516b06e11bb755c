// How long entries are kept. A bucket shows those of its last days, 90 by default. The log, which
// is common to all buckets, frees a page once no bucket shows its entries any more, and never
// before 90 days. The hash before the first stored block stays, so the chain does too. In the
// directory, for buckets that differ from the default:
//
//   44 | days u16, big-endian | bucket id -> 0

import { concatBytes } from '../../lib/bytes.ts';
import { encodeUtf8 } from '../../lib/text.ts';
import { journalDaysDefault, journalDaysMax } from '../../limits.ts';
import { ownedBucket } from '../rights/ownership.ts';
import type { Call } from '../shared/caller.ts';
import { Refusal } from '../shared/refusal.ts';
import type { Stores } from '../shared/stores.ts';
import { keptDaysOf, saveKeptDays } from './bucket-journal.ts';

const kind = 44;
const nsPerMs = 1_000_000n;
const msPerDay = 86_400_000;
/** Pages that one step frees. */
const pagesMax = 128;

function daysKey(days: number, bucketId: string): Uint8Array {
  return concatBytes(Uint8Array.of(kind, days >> 8, days & 255), encodeUtf8(bucketId));
}

/** Sets for how many days the bucket shows its entries, for owners. */
export function keepJournal(
  stores: Stores,
  call: Call,
  request: { readonly bucket: string; readonly days: number },
): number {
  const { id } = ownedBucket(stores, call, request.bucket);
  const { days } = request;
  if (!Number.isInteger(days) || days < 0 || days > journalDaysMax) {
    throw new Refusal(
      'InvalidArgument',
      `days must be 0 to ${journalDaysMax}; 0 shows no entries.`,
      { limit: journalDaysMax },
    );
  }
  // A bucket that has not changed since an earlier release gets its journal by this entry
  stores.journal.note(id, { kind: 'bucket.changed', subject: 'journalDays' });
  forgetKeptDays(stores, id);
  if (days !== journalDaysDefault) stores.directory.insert(daysKey(days, id), 0n);
  saveKeptDays(stores, id, days);
  return days;
}

/** For the bucket's deletion. */
export function forgetKeptDays(stores: Stores, bucketId: string): void {
  stores.directory.remove(daysKey(keptDaysOf(stores, bucketId), bucketId));
}

/** Returns the time of the oldest entries that are shown for so many days, in ms since 1970. */
export function shownFromMs(days: number, nowNs: bigint): number {
  return Number(nowNs / nsPerMs) - days * msPerDay;
}

/** Frees entries that no bucket shows any more, a bounded number; true if more may follow. */
export function cutJournal(stores: Stores, nowNs: bigint): boolean {
  const beforeMs = shownFromMs(longestDays(stores), nowNs);
  for (let pages = 0; pages < pagesMax; pages++) {
    if (!stores.journalLog.cut(beforeMs)) return false;
  }
  return true;
}

function longestDays({ directory }: Stores): number {
  const end = directory.rank(Uint8Array.of(kind + 1));
  const [last] = end === 0 ? [] : directory.read(end - 1, 1);
  const [lastKind, high = 0, low = 0] = last?.key ?? [];
  return Math.max(journalDaysDefault, lastKind === kind ? (high << 8) | low : 0);
}
