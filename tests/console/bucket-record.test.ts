// The record of a bucket as the console reads it, with a storage in memory.

import { expect, test } from 'vitest';
import { keepsVersions } from '../../console/src/bucket-record.ts';
import type { Session } from '../../console/src/session.ts';

test('keepsVersions reports a change that another page has made', async () => {
  let keepVersionsDays = 30;
  const storage = { buckets: { get: async () => ({ id: 'demo', keepVersionsDays }) } };
  const session = { kind: 'device', storage } as unknown as Session;
  expect(await keepsVersions(session, 'demo')).toBe(true);
  keepVersionsDays = 0;
  expect(await keepsVersions(session, 'demo')).toBe(false);
});
