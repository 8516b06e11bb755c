// Kills a process that commits to the replica's store hundreds of times.

import { test } from 'vitest';
import { crashStore } from '../replica/persistence/store-crashes.ts';

const rounds = Number(process.env.EFS_CRASH_ROUNDS ?? 300);

test(`kill -9 during commits, ${rounds} times, loses none that was answered`, async () => {
  await crashStore(rounds);
}, 3_600_000);
