// Fetches fresh bytes for the random source from the network: by a timer every 50 minutes while the
// canister is used, so that no message waits, and on request. The first message after a rest finds
// the source stale and calls reseed().

import { clearTimer, randSeed, setTimerInterval, time } from 'azle';
import type { RandomSource } from '../../crypto/random.ts';
import { fetchRandom, isCleanup } from './management.ts';
import { createOneShotTimer, type OneShotTimer } from './timers.ts';

/** Less than the hour after which the source counts as stale. */
const reseedSeconds = 3_000;

type Seeded = Pick<RandomSource, 'seed' | 'next'>;
const azleSeedBytes = 32;

/**
 * Also seeds the source behind Azle's `crypto.getRandomValues`. Azle seeds it by a timer at install
 * and upgrade, which traps if cycles are short, and is not armed again. Throws the error of the
 * call.
 */
export async function reseed(random: Seeded): Promise<void> {
  const entropy = await fetchRandom();
  random.seed(entropy, time());
  const azleSeed = random.next(azleSeedBytes, time());
  randSeed(azleSeed);
  azleSeed.fill(0);
  entropy.fill(0);
}

export interface Refresher {
  /** Starts the interval anew. */
  start(): void;
  /** Starts the interval if it has ended. */
  resume(): void;
}

/**
 * `isUsed`: whether the canister has been used since that time, or has work that may draw random
 * bytes; otherwise the interval ends.
 */
export function createRefresher(random: Seeded, isUsed: (sinceNs: bigint) => boolean): Refresher {
  let interval: bigint | undefined;
  let turnAtNs = 0n;
  const end = () => {
    if (interval !== undefined) clearTimer(interval);
    interval = undefined;
  };
  const start = () => {
    end();
    turnAtNs = time();
    interval = setTimerInterval(reseedSeconds, async () => {
      const sinceNs = turnAtNs;
      if (!isUsed(sinceNs)) return end();
      turnAtNs = time();
      if (!(await refresh(random))) turnAtNs = sinceNs;
    });
  };
  return {
    start,
    resume() {
      if (interval === undefined) start();
    },
  };
}

/** Returns a timer that reseeds soon, so that the state does not reveal earlier random bytes. */
export function createReseedTimer(random: Seeded): OneShotTimer {
  return createOneShotTimer(async () => void (await refresh(random)));
}

/**
 * Returns whether fresh bytes arrived. The interval, or the first message that finds the source
 * stale, repeats a failed attempt.
 */
async function refresh(random: Seeded): Promise<boolean> {
  try {
    await reseed(random);
    return true;
  } catch (error) {
    if (isCleanup(error)) throw error;
    console.log('Cannot fetch random bytes.');
    return false;
  }
}
