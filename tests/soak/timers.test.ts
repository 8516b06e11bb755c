// Each timer is lost between any two messages of its work, and at the commit of each, in every
// possible way: the work always continues.

import { expect, test } from 'vitest';
import { loseTimer, losses, networkWithStoredKey, timerCases } from '../support/lost-timers.ts';

const rounds = Number(process.env.EFS_SOAK_ROUNDS ?? 50);

test.each(timerCases)(
  `the $name timer is armed again, ${rounds} rounds`,
  async (timer) => {
    for (let round = 0; round < rounds; round++) {
      const network = await networkWithStoredKey();
      for (const loss of losses) {
        let point = 0;
        while (await loseTimer(network, timer, { loss, point })) point += 1;
        expect(point, loss).toBeGreaterThan(1);
      }
    }
  },
  86_400_000,
);
