// Kills a process that commits, a few times; `npm run soak` runs more.

import { test } from 'vitest';
import { crashStore } from './store-crashes.ts';

const rounds = Number(process.env.EFS_CRASH_ROUNDS ?? 5);

test('a killed process loses no answered commit and leaves none half-written', async () => {
  await crashStore(rounds);
});
