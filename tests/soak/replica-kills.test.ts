// Kills a replica at work a hundred times, with a counter in a heap and the service.

import { test } from 'vitest';
import { killReplica } from '../support/replica-kills.ts';

const rounds = Number(process.env.EFS_CRASH_ROUNDS ?? 100);

test(`kill -9 of a busy replica, ${rounds} times, loses nothing that was answered`, async () => {
  await killReplica(rounds);
}, 3_600_000);
