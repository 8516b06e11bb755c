// Kills of a replica at work, a few; `npm run soak` has more of them.

import { test } from 'vitest';
import { killReplica } from '../support/replica-kills.ts';

const rounds = Number(process.env.EFS_CRASH_ROUNDS ?? 3);

test('a killed replica loses nothing that was answered, of a heap and of files', async () => {
  await killReplica(rounds);
}, 300_000);
