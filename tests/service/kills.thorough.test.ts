// Kills a replica at work; `npm run soak` does so a hundred times.

import { test } from 'vitest';
import { killReplica } from '../support/replica-kills.ts';

const rounds = Number(process.env.EFS_CRASH_ROUNDS ?? 1);

test('a killed replica keeps every answered change, of heaps and of files', async () => {
  await killReplica(rounds);
});
