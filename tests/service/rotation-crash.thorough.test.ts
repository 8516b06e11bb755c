// Kills during key rotations, a few times; `npm run soak` runs more.

import { expect, test } from 'vitest';
import { crashUnderRotation } from '../support/rotation-crash.ts';
import { seedOr } from '../support/seed.ts';

const rounds = Number(process.env.EFS_CRASH_ROUNDS ?? 1);
const seed = seedOr(20_261_120);

test(`kill -9 during rotations, ${rounds} times, loses no key in use, seed ${seed}`, async () => {
  // A single kill may miss a rotation; the long run requires hits.
  expect(await crashUnderRotation({ rounds, seed })).toBeGreaterThanOrEqual(rounds < 10 ? 0 : 1);
}, 1_800_000);
