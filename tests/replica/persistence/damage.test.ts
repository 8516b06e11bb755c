// A damaged state folder; `npm run soak` applies each damage with several seeds.

import { expect, test } from 'vitest';
import { seedOr } from '../../support/seed.ts';
import { damageState, finalDamages, repairAfter } from './state-damages.ts';

const seed = seedOr(20_261_122);

test(`each file truncated, changed, removed or replaced by an older one is detected or harmless, seed ${seed}`, () => {
  const counts = damageState({ seed, share: 0.25 });
  expect(counts.refused).toBeGreaterThan(80);
  expect(counts.repaired).toBeGreaterThan(40);
});

test.each(Object.keys(finalDamages) as (keyof typeof finalDamages)[])(
  'repairState refuses, and changes nothing, with %s',
  (name) => {
    const { answer, before, after } = repairAfter(name);
    expect(answer).toContain('no intact state is left, so --repair cannot help');
    expect(after).toEqual(before);
  },
);
