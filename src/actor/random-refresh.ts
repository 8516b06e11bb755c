// Fresh bytes of the network for the random source: every hour and when somebody asks for them, by
// timers, so that nobody waits. Who has to wait for them calls reseed().

import { setTimer, setTimerInterval, time } from 'azle';
import type { RandomSource } from '../crypto/random.ts';
import { fetchRandom, isCleanup } from './management.ts';

/** Well within the hour after which the source counts as stale. */
const reseedSeconds = 3_000;

type Seeded = Pick<RandomSource, 'seed'>;

/** Throws what the call ends with. */
export async function reseed(random: Seeded): Promise<void> {
  const entropy = await fetchRandom();
  random.seed(entropy, time());
  entropy.fill(0);
}

/** For init and post_upgrade. */
export function keepFresh(random: Seeded): void {
  setTimerInterval(reseedSeconds, () => refresh(random));
}

/** For what should leave nothing behind of what was drawn for it. */
export function reseedSoon(random: Seeded): void {
  setTimer(0, () => refresh(random));
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
