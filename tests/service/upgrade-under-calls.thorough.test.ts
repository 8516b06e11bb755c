// Upgrades while calls of the canister are pending.

import { expect, test } from 'vitest';
import { upgradeUnderCalls } from '../support/upgrade-storm.ts';

test('answers to calls of a former instance change nothing, and clients that retry succeed', async () => {
  const counts = await upgradeUnderCalls({ upgrades: 10, seed: 20261122 });
  expect(counts.upgrades).toBeGreaterThanOrEqual(10);
  for (const count of Object.values(counts)) expect(count).toBeGreaterThan(0);
});
