// Hundreds of upgrades at random moments while calls of the canister are pending.

import { expect, test } from 'vitest';
import { seedOr } from '../support/seed.ts';
import { upgradeUnderCalls } from '../support/upgrade-storm.ts';

const upgrades = Number(process.env.EFS_UPGRADES ?? 200);
const seed = seedOr(20_261_122);

test(`${upgrades} upgrades during uploads and rotations lose nothing, seed ${seed}`, async () => {
  const counts = await upgradeUnderCalls({ upgrades, seed });
  console.log(JSON.stringify(counts));
  expect(counts.rejections).toBeGreaterThan(upgrades / 20);
}, 3_600_000);
