// Applies every damage to every file of a state folder, with several seeds.

import { expect, test } from 'vitest';
import { damageState } from '../replica/persistence/state-damages.ts';
import { seedOr } from '../support/seed.ts';

const first = seedOr(20_261_122);

test.each([0, 1, 2, 3, 4].map((step) => first + step))(
  'each file truncated, changed, removed or replaced by an older one is detected or harmless, seed %i',
  (seed) => {
    expect(damageState({ seed, share: 1 }).refused).toBeGreaterThan(200);
  },
  3_600_000,
);
