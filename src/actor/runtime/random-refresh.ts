// Fetches fresh bytes for the random source from the network, every 50 minutes and on request, by
// timers, so that no message waits. Messages that must wait for the bytes call reseed().

import { setTimerInterval, time } from 'azle';
import type { RandomSource } from '../../crypto/random.ts';
import { fetchRandom, isCleanup } from './management.ts';
import { createOneShotTimer, type OneShotTimer } from './timers.ts';

/** Less than the hour after which the source counts as stale. */
const reseedSeconds = 3_000;

type Seeded = Pick<RandomSource, 'seed'>;

/** Throws the error of the call. */
export async function reseed(random: Seeded): Promise<void> {
  const entropy = await fetchRandom();
  random.seed(entropy, time());
  entropy.fill(0);
}

/** Starts the interval; returns its timer. */
export function keepFresh(random: Seeded): bigint {
  return setTimerInterval(reseedSeconds, () => refresh(random));
}

/** Returns a timer that reseeds soon, so that the state does not reveal earlier random bytes. */
export function createReseedTimer(random: Seeded): OneShotTimer {
  return createOneShotTimer(() => refresh(random));
}

/** The interval, or the first message that finds the source stale, repeats a failed attempt. */
async function refresh(random: Seeded): Promise<void> {
  try {
    await reseed(random);
  } catch (error) {
    if (isCleanup(error)) throw error;
    console.log('Cannot fetch random bytes.');
  }
}
