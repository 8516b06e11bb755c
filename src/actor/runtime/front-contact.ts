// A volume's contact with its front: reports its buckets after each change, and all of them every
// day. One call at a time, with pauses, so that owners who change buckets cannot cause many. A
// failed report waits for the next change, at most an hour. A call costs 23 M cycles here and 7 M
// at the front, so reporting unchanged buckets every hour would cost 0.26 T a year.

import { call, time } from 'azle';
import {
  noteUnreported,
  type ReportPage,
  takeUnreported,
} from '../../domain/buckets/public-buckets.ts';
import { serviceRole } from '../../domain/shared/role-record.ts';
import { originOfVolume, type VolumeRole } from '../../domain/shared/service-role.ts';
import type { Stores } from '../../domain/shared/stores.ts';
import { spendableCycles, stablePageBytes, stableSize } from '../../storage/stable-space.ts';
import { PublicBucketReport } from '../candid/service.ts';
import { ResultNull } from '../candid/types.ts';
import { isCleanup, reasonOf } from './management.ts';
import { renewReservation, storageReservation } from './storage-reservation.ts';
import { createOneShotTimer } from './timers.ts';

const nsPerSecond = 1_000_000_000n;
/** Minimum time between two calls. */
const pauseNs = 5n * nsPerSecond;
/** A failed report is repeated after this time; a lost answer then prevents no other one. */
const retrySeconds = 3_000;
const retryNs = BigInt(retrySeconds) * nsPerSecond;
/** A report of all buckets restores what the front has lost, such as by a snapshot. */
const contactNs = 86_000n * nsPerSecond;
/** The front has to know within an hour if the cycles have fallen to this share. */
const cyclesStep = 0.75;

export interface FrontContact {
  /** Reports all buckets soon: for install and upgrade. */
  start(): void;
  /**
   * Repeats a failed report every hour, and reports all buckets every day, or within an hour if
   * there are clearly fewer cycles: for upkeep.
   */
  resume(): void;
  /** Reports changed buckets soon. */
  arm(): void;
  /**
   * Whether a change waits for its report. A report that this message began is left out: it has a
   * timer of its own, and the next day's turn repeats it if that is lost.
   */
  hasWork(): boolean;
}

export function createFrontContact(stores: Stores): FrontContact {
  const timer = createOneShotTimer(report);
  let contactAtNs = 0n;
  let reportedCycles = 0;
  let calledAtNs = 0n;
  let isWaiting = false;

  function arm(): void {
    if (volumeWithFront(stores) === undefined) return;
    const waitNs = calledAtNs + pauseNs - time();
    timer.arm(waitNs > 0n ? Number(waitNs / nsPerSecond) + 1 : 0);
  }

  function start(): void {
    contactAtNs = time();
    noteUnreported(stores);
    arm();
  }

  async function report(): Promise<void> {
    const isBusy = isWaiting && time() - calledAtNs < retryNs;
    if (volumeWithFront(stores) === undefined || isBusy) return;
    if (stores.heap.unreported === undefined) return;
    const startedNs = time();
    calledAtNs = startedNs;
    isWaiting = true;
    try {
      await renewReservation();
      reportedCycles = spendableCycles();
      const reservedCycles = Number(storageReservation()?.reservedCycles ?? 0n);
      const isSent = await sendPage(stores, { cycles: reportedCycles, reservedCycles });
      // After a change during the call, or if there are more buckets than in one report
      if (isSent && stores.heap.unreported !== undefined) arm();
      if (!isSent) timer.arm(retrySeconds);
    } finally {
      if (calledAtNs === startedNs) isWaiting = false;
    }
  }

  return {
    start,
    resume() {
      const nowNs = time();
      const isFewer = spendableCycles() < reportedCycles * cyclesStep;
      const isDue = nowNs - contactAtNs >= (isFewer ? retryNs : contactNs);
      if (isDue) start();
      else if (stores.heap.unreported !== undefined && nowNs - calledAtNs >= retryNs) arm();
    },
    arm,
    hasWork: () =>
      stores.heap.unreported !== undefined &&
      contactAtNs !== time() &&
      volumeWithFront(stores) !== undefined,
  };
}

type VolumeWithFront = VolumeRole & { readonly front: NonNullable<VolumeRole['front']> };

function volumeWithFront(stores: Stores): VolumeWithFront | undefined {
  const role = serviceRole(stores);
  if (role.kind === 'front' || role.front === undefined) return undefined;
  return { ...role, front: role.front };
}

interface Amounts {
  readonly cycles: number;
  readonly reservedCycles: number;
}

/** Returns whether the front has received a page of what has not been reported. */
async function sendPage(stores: Stores, amounts: Amounts): Promise<boolean> {
  const volume = volumeWithFront(stores);
  const page = volume && takeUnreported(stores);
  if (volume === undefined || page === undefined) return false;
  try {
    await send(volume, page, amounts);
    return true;
  } catch (error) {
    noteUnreported(stores, page);
    if (isCleanup(error)) throw error;
    console.log(
      `Cannot report buckets to the front ${volume.front.id}: ${reasonOf(error)}. The next ` +
        'try is within an hour.',
    );
    return false;
  }
}

/** Throws the error of the call or the front's refusal. */
async function send(
  { id, front }: VolumeWithFront,
  page: ReportPage,
  amounts: Amounts,
): Promise<void> {
  const { after, through, buckets, others } = page;
  const origin = originOfVolume(id, front);
  const stableBytes = stableSize() * stablePageBytes;
  const state = [{ others, at: time(), stableBytes, ...amounts }];
  const reply = await call<[object], { err?: string }>(front.id, 'reportPublicBuckets', {
    paramIdlTypes: [PublicBucketReport],
    returnIdlType: ResultNull,
    args: [{ origin, after, through: through === undefined ? [] : [through], buckets, state }],
  });
  if (reply.err !== undefined) throw new Error(reply.err);
}
