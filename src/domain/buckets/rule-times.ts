// When the rules of a bucket are to be checked. In the directory:
//
//   30 | time u64, big-endian | bucket id -> 0
//   31 | bucket id                        -> that time, ns
//
// A bucket has one entry of each kind. Files need none: those with a prefix are found in the order
// of their dates (listing/date-order.ts), and a file that is stored after a check is due later than
// the check's time plus the rule's days, which is the latest time of the next check.

import { concatBytes } from '../../lib/bytes.ts';
import { decodeUtf8, encodeUtf8 } from '../../lib/text.ts';
import { u64Key } from '../../storage/codec.ts';
import { dueNames, firstDueNs } from '../../storage/index-ranges.ts';
import type { Stores } from '../shared/stores.ts';

const kinds = { due: 30, ofBucket: 31 } as const;

function dueKey(atNs: bigint, bucketId: string): Uint8Array {
  return concatBytes(Uint8Array.of(kinds.due), u64Key(atNs), encodeUtf8(bucketId));
}

function bucketKey(bucketId: string): Uint8Array {
  return concatBytes(Uint8Array.of(kinds.ofBucket), encodeUtf8(bucketId));
}

/** Sets the time of the bucket's next check; `undefined` removes it. */
export function setRuleCheck(stores: Stores, bucketId: string, atNs: bigint | undefined): void {
  const { directory } = stores;
  const known = directory.remove(bucketKey(bucketId));
  if (known !== undefined) directory.remove(dueKey(known, bucketId));
  if (atNs === undefined) return;
  directory.insert(bucketKey(bucketId), atNs);
  directory.insert(dueKey(atNs, bucketId), 0n);
}

/** Makes the bucket's check due now, if it has rules. */
export function hastenRuleCheck(stores: Stores, bucketId: string, nowNs: bigint): void {
  const atNs = stores.directory.find(bucketKey(bucketId));
  if (atNs !== undefined && atNs > nowNs) setRuleCheck(stores, bucketId, nowNs);
}

/** Returns the time of the first check of any bucket. */
export function nextRuleCheckNs({ directory }: Stores): bigint | undefined {
  return firstDueNs(directory, kinds.due);
}

/** Returns the bucket whose check has been due for the longest time. */
export function dueBucket({ directory }: Stores, nowNs: bigint): string | undefined {
  const [name] = dueNames(directory, { kind: kinds.due, nowNs }, 1);
  return name && decodeUtf8(name);
}
