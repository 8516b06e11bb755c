// Subscriptions in a service of several volumes: the client finds the volume of the bucket by the
// front, and the volume delivers its entries itself.

import type { Principal } from '@dfinity/principal';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { identityFromPem } from '../../packages/client/src/node/identity.ts';
import {
  createServiceStorage,
  type ServiceStorage,
} from '../../packages/client/src/service-storage.ts';
import { newIdentity } from '../../scripts/local-service.ts';
import { sampleBytes } from '../support/service.ts';
import { ServiceOfVolumes } from '../support/service-of-volumes.ts';
import { type ReceivedEvents, receivedIn, subscriberModule } from '../support/subscriber.ts';

const service = new ServiceOfVolumes();
const buckets = ['one', 'two', 'three', 'four'];
const timeout = 60_000;
let storage: ServiceStorage;
let subscriber: Principal;

function open(pem = service.controllerPem): ServiceStorage {
  const { url: host } = service.replica;
  return createServiceStorage({
    ...{ host, front: service.frontId.toText(), identity: identityFromPem(pem) },
    retry: { attemptsMax: 2, delayMsMin: 1, delayMsMax: 2 },
  });
}

function received(): ReceivedEvents[] {
  return receivedIn((length) => service.replica.stableMemory(subscriber).read(0, length));
}

/** Returns each entry of the bucket at its first arrival. */
function entriesOf(bucket: string): ReceivedEvents['entries'][number][] {
  const seen = new Set<bigint>();
  const own = received().filter(({ bucketId }) => bucketId === bucket);
  return own.flatMap(({ entries }) => entries.filter(({ seq }) => !seen.has(seq) && seen.add(seq)));
}

beforeAll(async () => {
  await service.start(2, { isOnline: true });
  storage = open();
  await vi.waitFor(
    async () => {
      const states = (await storage.volumes.list()).map(({ state }) => state);
      expect(states).toEqual(['open', 'open']);
    },
    { timeout },
  );
  for (const bucket of buckets) await storage.buckets.create(bucket);
  subscriber = await service.replica.createCanister({ controllers: [service.controller] });
  await service.replica.install(subscriber, subscriberModule());
});
afterAll(() => service.stop());

describe('ServiceStorage.subscriptions', () => {
  test('delivers entries of buckets of both volumes to one canister, in order', async () => {
    const places = await Promise.all(buckets.map((bucket) => storage.volumeOf(bucket)));
    expect(new Set(places).size).toBe(2);
    const canisterId = subscriber.toText();
    for (const bucket of buckets) {
      const request = { canisterId, method: 'efs_events', after: 0 };
      const added = await storage.subscriptions.add(bucket, request);
      expect(added).toMatchObject({ canisterId, method: 'efs_events' });
    }
    for (let file = 0; file < 12; file++) {
      const stored = buckets.map((bucket) =>
        storage.upload(sampleBytes(`${file}`, 10), { bucket, path: `${file}` }),
      );
      await Promise.all(stored);
    }
    const paths = Array.from({ length: 12 }, (_, file) => `${file}`);
    for (const bucket of buckets) {
      await vi.waitFor(
        () => {
          const entries = entriesOf(bucket);
          const numbers = entries.map(({ seq }) => seq);
          expect(numbers).toEqual(numbers.toSorted((one, other) => Number(one - other)));
          expect(entries[0]).toMatchObject({ kind: 'bucket.created', subject: bucket });
          const files = entries.filter(({ kind }) => kind === 'file.stored');
          expect(files.map(({ subject }) => subject)).toEqual(paths);
        },
        { timeout, interval: 200 },
      );
      const [found] = await storage.subscriptions.list(bucket);
      expect(found?.failingSince).toBeUndefined();
    }
  }, 180_000);

  test('changes and removes a subscription, and goes on after the volume is upgraded', async () => {
    const [bucket = ''] = buckets;
    const [{ id } = { id: 0 }] = await storage.subscriptions.list(bucket);
    const changed = await storage.subscriptions.update(bucket, id, { prefix: 'wanted/' });
    expect(changed).toMatchObject({ id, prefix: 'wanted/' });
    const place = await storage.volumeOf(bucket);
    const own = service.volumes.find((one) => one.toText() === place);
    if (own === undefined) expect.fail('no volume');
    await service.upgrade(own);
    await storage.upload(sampleBytes('no', 10), { bucket, path: 'other' });
    await storage.upload(sampleBytes('yes', 10), { bucket, path: 'wanted/a' });
    await vi.waitFor(
      () => expect(entriesOf(bucket).at(-1)).toMatchObject({ subject: 'wanted/a' }),
      { timeout, interval: 200 },
    );
    expect(entriesOf(bucket).some(({ subject }) => subject === 'other')).toBe(false);
    await storage.subscriptions.remove(bucket, id);
    expect(await storage.subscriptions.list(bucket)).toEqual([]);
  }, 180_000);

  test('refuses callers who do not own the bucket, and buckets that do not exist', async () => {
    const request = { canisterId: subscriber.toText(), method: 'efs_events' };
    const stranger = open(newIdentity());
    await expect(stranger.subscriptions.add('one', request)).rejects.toThrow('one');
    await expect(storage.subscriptions.add('none', request)).rejects.toMatchObject({
      code: 'NoSuchBucket',
    });
  });
});
