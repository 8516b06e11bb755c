// The cycles of this canister that the network keeps for the price of its growth, where its subnet
// has little room. A query cannot ask for them, so an update does while the canister grows.

import { time } from 'azle';
import type { StorageReservation } from '../../domain/administration/bucket-status.ts';
import { stableSize } from '../../storage/stable-space.ts';
import { fetchReservation, isCleanup, reasonOf } from './management.ts';
import { createOneShotTimer } from './timers.ts';

/** Minimum time between two readings because of growth: each costs about 33 M cycles. */
const pauseNs = 3_000_000_000_000n;

let last: StorageReservation | undefined;
let readPages: number | undefined;
let triedAtNs: bigint | undefined;

const timer = createOneShotTimer(readReservation);

/** Returns what was read last since the latest install or upgrade. */
export function storageReservation(): StorageReservation | undefined {
  return last;
}

/** Reads the figures, or leaves the former ones if that fails. */
async function readReservation(): Promise<void> {
  triedAtNs = time();
  const pages = stableSize();
  try {
    last = { ...(await fetchReservation()), readAtNs: time() };
    readPages = pages;
  } catch (error) {
    if (isCleanup(error)) throw error;
    console.log(`Cannot read the reserved cycles: ${reasonOf(error)}.`);
  }
}

/** Reads the figures if they may have changed: the network keeps more only of what grows. */
export async function renewReservation(): Promise<void> {
  const isUnchanged = last?.reservedCycles === 0n && stableSize() === readPages;
  if (!isUnchanged) await readReservation();
}

/** Reads the figures soon if stable memory has grown since: for upkeep of a used canister. */
export function followGrowth(nowNs: bigint): void {
  const isPause = triedAtNs !== undefined && nowNs - triedAtNs < pauseNs;
  if (!isPause && stableSize() !== readPages) timer.arm();
}
