// The public buckets of a volume, and the ids that it has not reported to its front yet. A report
// names all buckets of a range of ids, and which of them are public. The ids to be reported are
// only on the heap, because the volume reports all its buckets after an upgrade. In the directory:
//
//   16 | bucket id -> 0

import { concatBytes } from '../../lib/bytes.ts';
import { encodeUtf8 } from '../../lib/text.ts';
import { bucketsPerReport } from '../../limits.ts';
import { entriesUnder } from '../../storage/index-ranges.ts';
import type { IdRange } from '../shared/heap-state.ts';
import type { Stores } from '../shared/stores.ts';
import { bucketIdBefore, bucketIdsIn, idsIn } from './bucket-directory.ts';

const kind = 16;
const everything: IdRange = { after: '', through: undefined };

export interface ReportPage extends IdRange {
  /** All public buckets of the range. */
  readonly buckets: readonly string[];
  /** All other buckets of the range. */
  readonly others: readonly string[];
}

function keyOf(id: string): Uint8Array {
  return concatBytes(Uint8Array.of(kind), encodeUtf8(id));
}

/** Records whether the bucket is public, without a report. */
export function notePublic({ directory }: Stores, id: string, isPublic: boolean): void {
  if (isPublic) directory.insert(keyOf(id), 0n);
  else directory.remove(keyOf(id));
}

/** Records a bucket that was created, deleted, shown or hidden, which has to be reported. */
export function noteChanged(stores: Stores, id: string, isPublic: boolean): void {
  notePublic(stores, id, isPublic);
  noteUnreported(stores, { after: bucketIdBefore(stores.directory, id), through: id });
}

/**
 * Adds the range to the ids to be reported; by default all ids. Ids that this round of reports has
 * passed wait for the next round, so that changes of a few buckets do not delay the others.
 */
export function noteUnreported(stores: Stores, range = everything): void {
  const { present = range, next } = stores.heap.unreported ?? {};
  const isPassed = range.after < present.after;
  stores.heap.unreported = isPassed
    ? { present, next: union(range, next) }
    : { present: union(present, range), next };
}

/** Returns the range from the first to the last id of both. */
function union(one: IdRange, other: IdRange = one): IdRange {
  return {
    after: one.after < other.after ? one.after : other.after,
    through: laterEnd(one.through, other.through),
  };
}

function laterEnd(one: string | undefined, other: string | undefined): string | undefined {
  if (one === undefined || other === undefined) return undefined;
  return one > other ? one : other;
}

/** Returns the next page, and removes its range from the ids to be reported. */
export function takeUnreported(stores: Stores): ReportPage | undefined {
  if (stores.heap.unreported === undefined) return undefined;
  const { present: range, next } = stores.heap.unreported;
  const { directory } = stores;
  const ids = bucketIdsIn(directory, range, bucketsPerReport + 1);
  const reported = ids.slice(0, bucketsPerReport);
  const isLast = ids.length === reported.length;
  const through = isLast ? range.through : reported.at(-1);
  const rest = isLast ? next : { ...range, after: through ?? '' };
  stores.heap.unreported = rest && { present: rest, next: isLast ? undefined : next };
  const ofPage = { after: range.after, through: reported.at(-1) };
  const shown = new Set(idsIn(directory, kind, ofPage, bucketsPerReport));
  const [buckets, others] = [true, false].map((isPublic) =>
    reported.filter((id) => shown.has(id) === isPublic),
  );
  return { after: range.after, through, buckets: buckets ?? [], others: others ?? [] };
}

/** Forgets which buckets are public, before an upgrade notes them again. */
export function forgetPublicBuckets({ directory }: Stores): void {
  const entries = entriesUnder(directory, { scope: Uint8Array.of(kind), limit: directory.count() });
  for (const { key } of entries) directory.remove(key);
}
