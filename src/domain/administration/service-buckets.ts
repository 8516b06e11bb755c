// Creation of a bucket in a service of several volumes. The front reserves the name and asks a
// volume, which creates the bucket for the front's caller. If the answer is lost, the reservation
// stays until the front has asked that volume whether the bucket exists.

import { bytesEqual } from '../../lib/bytes.ts';
import { findBucket } from '../buckets/buckets.ts';
import { requireCreator } from '../rights/creators.ts';
import type { Call } from '../shared/caller.ts';
import { parseBucketId } from '../shared/names.ts';
import { Refusal } from '../shared/refusal.ts';
import { serviceRole } from '../shared/role-record.ts';
import type { Stores } from '../shared/stores.ts';
import { type BucketDetails, withDetails } from './bucket-administration.ts';
import { createBucketOf, type NewBucket } from './bucket-creation.ts';
import {
  allReservations,
  findReservation,
  type Reservation,
  releaseName,
  reserveName,
  settleName,
  volumeOfBucket,
} from './bucket-names.ts';
import { chooseVolume, noteRejection, requireFront } from './volume-states.ts';

const nsPerSecond = 1_000_000_000n;
/** A volume creates a bucket within this time after the front asked, or not at all. */
const creationNs = 120n * nsPerSecond;
/** Time after which no volume's clock is before the end of a reservation. */
const clocksNs = 60n * nsPerSecond;

export interface ReservedBucket extends Reservation {
  /** Whether the front chose the volume now; otherwise, this volume may have the bucket already. */
  readonly isChosen: boolean;
}

export interface BucketRequest {
  readonly bucket: string;
  /** Principal as text. */
  readonly caller: string;
  /** Volumes that have rejected this request. */
  readonly tried?: ReadonlySet<string>;
}

/** Chooses the volume of a new bucket and reserves its name there. For a front's creators. */
export function reserveBucket(
  stores: Stores,
  call: Call,
  { bucket, caller: owner, tried = new Set() }: BucketRequest,
): ReservedBucket {
  requireFront(stores);
  const bucketId = parseBucketId(bucket);
  requireCreator(stores, call);
  const former = findReservation(stores, bucketId);
  if (former !== undefined && former.owner !== owner) {
    throw new Refusal(
      'BucketExists',
      `Bucket ${bucketId} is being created for another caller: choose another id.`,
    );
  }
  // A volume that has or had the bucket knows who owns it
  const known = former?.volumeId ?? volumeOfBucket(stores, bucketId);
  const volumeId = known ?? chooseVolume(stores, { nowNs: call.nowNs, tried });
  // Requests of one round have the same time; different ends tell them apart
  const untilNs = maximum(call.nowNs + creationNs, (former?.untilNs ?? 0n) + 1n);
  const reservation = { bucketId, volumeId, owner, untilNs };
  reserveName(stores, reservation);
  return { ...reservation, isChosen: known === undefined };
}

function maximum(one: bigint, two: bigint): bigint {
  return one > two ? one : two;
}

/**
 * Ends the reservation, unless it was extended or ended meanwhile. `createdAtNs`: when the volume
 * created the bucket; `undefined` if it has no such bucket.
 */
export function endReservation(
  stores: Stores,
  reservation: Reservation,
  createdAtNs: bigint | undefined,
): void {
  const present = findReservation(stores, reservation.bucketId);
  const isSame = present?.volumeId === reservation.volumeId && present.owner === reservation.owner;
  if (!isSame) return;
  if (createdAtNs !== undefined) settleName(stores, reservation, createdAtNs);
  else if (present.untilNs === reservation.untilNs) releaseName(stores, reservation);
}

/**
 * Ends the reservation after the volume certainly did not create the bucket: it rejected the call.
 * Returns whether another volume can be asked.
 */
export function endRejected(stores: Stores, reserved: ReservedBucket, nowNs: bigint): boolean {
  noteRejection(stores, reserved.volumeId, nowNs);
  if (!reserved.isChosen) return false;
  endReservation(stores, reserved, undefined);
  return findReservation(stores, reserved.bucketId) === undefined;
}

/** Returns the reservations whose volume cannot create the bucket any more. */
export function overdueReservations(stores: Stores, nowNs: bigint): Reservation[] {
  return allReservations(stores).filter(({ untilNs }) => untilNs + clocksNs <= nowNs);
}

/** Returns when the first reservation will be overdue; `undefined` without reservations. */
export function nextOverdueNs(stores: Stores): bigint | undefined {
  const times = allReservations(stores).map(({ untilNs }) => untilNs + clocksNs);
  return times.length === 0 ? undefined : times.reduce((one, two) => (one < two ? one : two));
}

export interface CreationOrder extends NewBucket {
  /** The caller's principal as text. */
  readonly callerId: string;
  readonly owner: Uint8Array;
  readonly untilNs: bigint;
}

/**
 * Creates the bucket that the front asks its volume for. Returns the existing bucket if it has
 * the same owner, so that a repeated request succeeds.
 */
export function createBucketFor(stores: Stores, call: Call, order: CreationOrder): BucketDetails {
  requireFrontOf(stores, order.callerId);
  if (call.nowNs > order.untilNs) {
    throw new Refusal(
      'ServiceUnavailable',
      `The request to create bucket ${order.bucket} reached its volume too late: send it again.`,
    );
  }
  const existing = findBucket(stores, parseBucketId(order.bucket));
  const caller = { principal: order.owner, isController: false };
  if (existing !== undefined && bytesEqual(existing.owner, order.owner)) {
    return withDetails(stores, { ...call, caller }, existing);
  }
  return createBucketOf(stores, { ...call, caller }, order);
}

/** Returns when each of a volume's buckets was created; `undefined` for those that do not exist. */
export function creationTimes(stores: Stores, ids: readonly string[]): (bigint | undefined)[] {
  return ids.map((id) => findBucket(stores, parseBucketId(id))?.createdAtNs);
}

/** Refuses everybody but the front of this volume; `callerId` is a principal as text. */
export function requireFrontOf(stores: Stores, callerId: string): void {
  const role = serviceRole(stores);
  const front = role.kind === 'volume' ? role.front : undefined;
  if (front?.id === callerId) return;
  throw new Refusal(
    'AccessDenied',
    'Only the front of this volume may call this method: create buckets by createBucket of ' +
      `${front === undefined ? 'the volume' : `its front ${front.id}`}.`,
  );
}
