// Hundreds of kills under writes, deletions and rotations of keys.

import { expect, test } from 'vitest';
import { crashUnderRotation } from '../support/rotation-crash.ts';

const rounds = Number(process.env.EFS_CRASH_ROUNDS ?? 200);
const seed = Number(process.env.EFS_SEED ?? 20261120) || Date.now();

test(`kill -9 under rotations, ${rounds} times, loses no key in use, seed ${seed}`, async () => {
  expect(await crashUnderRotation({ rounds, seed })).toBeGreaterThan(rounds / 10);
}, 3_600_000);
