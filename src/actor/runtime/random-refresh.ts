// Fresh bytes of the network for the random source: every hour and when somebody asks for them, by
// timers, so that nobody waits. Who has to wait for them calls reseed().

import { setTimerInterval, time } from 'azle';
import type { RandomSource } from '../../crypto/random.ts';
import { fetchRandom, isCleanup } from './management.ts';
import { createOneShotTimer, type OneShotTimer } from './timers.ts';

/** Well within the hour after which the source counts as stale. */
const reseedSeconds = 3_000;

type Seeded = Pick<RandomSource, 'seed'>;

/** Throws what the call ends with. */
export async function reseed(random: Seeded): Promise<void> {
  const entropy = await fetchRandom();
  random.seed(entropy, time());
  entropy.fill(0);
}

/** Starts the interval; returns its timer. */
export function keepFresh(random: Seeded): bigint {
  return setTimerInterval(reseedSeconds, () => refresh(random));
}

/** Reseeds soon, so that the state keeps nothing of what was drawn before. */
export function createReseedTimer(random: Seeded): OneShotTimer {
  return createOneShotTimer(() => refresh(random));
}

/** The next attempt comes with the interval, or with the first message that finds it stale. */
async function refresh(random: Seeded): Promise<void> {
  try {
    await reseed(random);
  } catch (error) {
    if (isCleanup(error)) throw error;
    console.log('Cannot fetch random bytes.');
  }
}
