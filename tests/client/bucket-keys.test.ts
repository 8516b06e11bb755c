// The identities and recipients of a bucket, with a service replaced by its operations in memory.

import { expect, test } from 'vitest';
import { BucketKeys, type Issuer } from '../../packages/client/src/age/bucket-keys.ts';
import { memoryIdentityStore } from '../../packages/client/src/age/identity-store.ts';
import type { Connection } from '../../packages/client/src/connection/connection.ts';
import { StorageError } from '../../packages/client/src/storage-error.ts';

const retryPolicy = { attemptsMax: 1, delayMsMin: 1, delayMsMax: 1 };
const issuer: Issuer = {
  canisterId: 'aaaaa-aa',
  canisterBytes: async () => new Uint8Array(),
  isOnNetwork: false,
};

function bucketIn(newest: number) {
  const epochs = [{ epoch: newest, openedAt: '2026-01-01T00:00:00Z' }];
  const own = { usesVetKeys: true, sealsNames: false, recipients: [], serial: '7', epochs };
  return { id: 'team', mode: own };
}

test('sealingOf() publishes the recipient of an epoch once, and again after a failure', async () => {
  const store = memoryIdentityStore();
  for (const epoch of [1, 2])
    await store.set(`aaaaa-aa-7-${epoch}`, new Uint8Array(48).fill(epoch));
  const published: string[] = [];
  let isFailing = true;
  const setBucketRecipient = async ({ recipient }: { readonly recipient: string }) => {
    if (isFailing) throw new StorageError('Timeout', 'No reply.');
    published.push(recipient);
  };
  const connection = { transport: { administration: { setBucketRecipient } }, retryPolicy };
  const settings = { identities: [], passphrases: [], store, issuer };
  const keys = new BucketKeys(connection as unknown as Connection, settings);
  await expect(keys.sealingOf(bucketIn(1))).rejects.toMatchObject({ code: 'Timeout' });
  isFailing = false;
  const sealings = await Promise.all([1, 2, 3].map(() => keys.sealingOf(bucketIn(1))));
  sealings.push(await keys.sealingOf(bucketIn(1)));
  expect(published).toHaveLength(1);
  for (const sealing of sealings) expect(sealing).toEqual({ recipients: published });
  await keys.sealingOf(bucketIn(2));
  expect(new Set(published).size).toBe(2);
});
