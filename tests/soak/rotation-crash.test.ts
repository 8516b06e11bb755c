// Kills hundreds of times during writes, deletions and key rotations.

import { expect, test } from 'vitest';
import { crashUnderRotation } from '../support/rotation-crash.ts';
import { seedOr } from '../support/seed.ts';

const rounds = Number(process.env.EFS_SOAK_ROUNDS ?? 50);
const seed = seedOr(20_261_120);

test(`kill -9 during rotations, ${rounds} times, loses no key in use, seed ${seed}`, async () => {
  expect(await crashUnderRotation({ rounds, seed })).toBeGreaterThan(rounds / 10);
}, 3_600_000);
