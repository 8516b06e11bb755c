// The names of a service's buckets, at its front: no two buckets have the same one. Volumes report
// their buckets, and a name is reserved while one of them creates a bucket. A name that two volumes
// report, because both had it before they joined, belongs to each of them. In the directory:
//
//   19 | bucket id | 0 | volume id             -> when the volume had the bucket, ns by its clock
//   20 | volume id | 0 | bucket id             -> 0
//   21 | bucket id | 0 | volume id | 0 | owner -> until when the volume may create it, ns

import { bucketCountMax, reservationCountMax } from '../../limits.ts';
import { entriesUnder } from '../../storage/index-ranges.ts';
import type { IndexEntry } from '../../storage/ordered-index.ts';
import type { IdRange } from '../shared/heap-state.ts';
import { Refusal } from '../shared/refusal.ts';
import type { Stores } from '../shared/stores.ts';
import { countOfVolume, firstAfter, keyOf, textsOf, textsOfVolume } from './volume-entries.ts';

const kinds = { name: 19, ofVolume: 20, reservation: 21 } as const;

/** Returns the first volume that has the bucket. */
export function volumeOfBucket({ directory }: Stores, bucketId: string): string | undefined {
  const entry = firstAfter(directory, kinds.name, bucketId);
  return entry && textsOf(entry)[1];
}

/** Counts the buckets of a volume. */
export function countNames({ directory }: Stores, volumeId: string): number {
  return countOfVolume(directory, { kind: kinds.ofVolume, volumeId });
}

export interface NameReport extends IdRange {
  readonly volumeId: string;
  /** All buckets of the range. */
  readonly buckets: readonly string[];
  /** When the volume read them, by its clock. */
  readonly atNs: bigint;
}

/** Replaces the names of the volume in the range, except those that are newer than the report. */
export function replaceNames(stores: Stores, report: NameReport): void {
  const { volumeId, atNs } = report;
  const stored = namesOf(stores, volumeId, report);
  const reported = new Set(report.buckets);
  for (const bucketId of stored) {
    const isNewer = (knownSince(stores, { bucketId, volumeId }) ?? 0n) >= atNs;
    if (!reported.has(bucketId) && !isNewer) forgetName(stores, { bucketId, volumeId });
  }
  const known = new Set(stored);
  let room = bucketCountMax - countNames(stores, volumeId);
  for (const bucketId of reported) {
    if (known.has(bucketId) || room <= 0) continue;
    noteName(stores, { bucketId, volumeId }, atNs);
    room -= 1;
  }
}

function namesOf({ directory }: Stores, volumeId: string, range: IdRange): string[] {
  const texts = textsOfVolume(directory, { kind: kinds.ofVolume, volumeId }, range);
  return texts.map(([, bucketId = '']) => bucketId);
}

interface PlacedName {
  readonly bucketId: string;
  readonly volumeId: string;
}

function knownSince({ directory }: Stores, { bucketId, volumeId }: PlacedName): bigint | undefined {
  const scope = keyOf(kinds.name, bucketId, volumeId);
  return entriesUnder(directory, { scope, limit: 1 })[0]?.value;
}

function noteName(
  { directory }: Stores,
  { bucketId, volumeId }: PlacedName,
  sinceNs: bigint,
): void {
  directory.insert(keyOf(kinds.name, bucketId, volumeId), sinceNs);
  directory.insert(keyOf(kinds.ofVolume, volumeId, bucketId), 0n);
}

function forgetName({ directory }: Stores, { bucketId, volumeId }: PlacedName): void {
  directory.remove(keyOf(kinds.name, bucketId, volumeId));
  directory.remove(keyOf(kinds.ofVolume, volumeId, bucketId));
}

/** Forgets the names of a volume that leaves the service: at most 10,000. */
export function forgetNamesOf(stores: Stores, volumeId: string): void {
  for (const bucketId of namesOf(stores, volumeId, { after: '', through: undefined })) {
    forgetName(stores, { bucketId, volumeId });
  }
  for (const reservation of allReservations(stores)) {
    if (reservation.volumeId === volumeId) releaseName(stores, reservation);
  }
}

/** A name for which a volume was asked to create a bucket. */
export interface Reservation extends PlacedName {
  /** Principal as text. */
  readonly owner: string;
  /** The volume refuses to create the bucket later. */
  readonly untilNs: bigint;
}

export function findReservation({ directory }: Stores, bucketId: string): Reservation | undefined {
  const entry = firstAfter(directory, kinds.reservation, bucketId);
  return entry && reservationOf(entry);
}

function reservationOf(entry: IndexEntry): Reservation {
  const [bucketId = '', volumeId = '', owner = ''] = textsOf(entry);
  return { bucketId, volumeId, owner, untilNs: entry.value };
}

/** Returns all reservations: a hundred at most. */
export function allReservations({ directory }: Stores): Reservation[] {
  const scope = Uint8Array.of(kinds.reservation);
  return entriesUnder(directory, { scope, limit: reservationCountMax }).map(reservationOf);
}

/** Reserves the name, or extends the reservation. */
export function reserveName(stores: Stores, reservation: Reservation): void {
  const { directory } = stores;
  const { bucketId, volumeId, owner, untilNs } = reservation;
  const isNew = findReservation(stores, bucketId) === undefined;
  if (isNew && allReservations(stores).length >= reservationCountMax) {
    throw new Refusal(
      'SlowDown',
      `${reservationCountMax} buckets are being created: try again in a minute.`,
    );
  }
  directory.insert(keyOf(kinds.reservation, bucketId, volumeId, owner), untilNs);
}

export function releaseName({ directory }: Stores, reservation: Reservation): void {
  const { bucketId, volumeId, owner } = reservation;
  directory.remove(keyOf(kinds.reservation, bucketId, volumeId, owner));
}

/** Ends the reservation: the volume has had the bucket since that time. */
export function settleName(stores: Stores, reservation: Reservation, createdAtNs: bigint): void {
  releaseName(stores, reservation);
  noteName(stores, reservation, createdAtNs);
}
