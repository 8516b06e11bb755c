// A service on a subnet with little room: the network keeps cycles of a volume that grows, so the
// front creates no more buckets there.

import { IDL } from '@dfinity/candid';
import type { Principal } from '@dfinity/principal';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ServiceOfVolumes } from '../support/service-of-volumes.ts';

const service = new ServiceOfVolumes();
const daySeconds = 86_400;
const MiB = 2n ** 20n;

beforeAll(() =>
  service.start(2, {
    limits: { subnetStorageThreshold: 96n * MiB, subnetStorageMax: 1024n * MiB },
  }),
);
afterAll(() => service.stop());

async function states(): Promise<string[]> {
  return (await service.listed()).map(({ state }) => state);
}

async function upload(volume: Principal, bucketId: string, path: string): Promise<void> {
  const Text = IDL.Text;
  const Name = { bucketId: Text, path: Text, contentType: Text };
  const Upload = IDL.Record({ ...Name, bytes: IDL.Vec(IDL.Nat8) });
  const bytes = new Uint8Array(1_900_000);
  await service
    .asked(volume)
    .call('uploadFile', [Upload], [{ bucketId, path, contentType: 'a/b', bytes }]);
}

async function reservedCycles(id: Principal): Promise<bigint> {
  const Status = IDL.Record({ reserved_cycles: IDL.Nat });
  const argument = IDL.encode([IDL.Record({ canister_id: IDL.Principal })], [{ canister_id: id }]);
  const sender = { sender: service.controller };
  const reply = await service.replica.call('aaaaa-aa', 'canister_status', argument, sender);
  return (IDL.decode([Status], reply)[0] as { reserved_cycles: bigint }).reserved_cycles;
}

test('createBucket uses no volume for whose growth the network keeps cycles', async () => {
  const [first, second] = service.volumes as [Principal, Principal];
  expect(await states()).toEqual(['open', 'open']);
  await service.createAt(first, 'films');
  await service.wait(6);
  for (let part = 0; part < 20; part++) await upload(first, 'films', `part-${part}`);
  expect(await reservedCycles(first)).toBeGreaterThan(0n);
  expect(await reservedCycles(second)).toBe(0n);
  for (let turn = 0; turn < 3; turn++) await service.wait(daySeconds / 2);
  await service.wait(6);
  expect(await states()).toEqual(['full', 'open']);
  for (const id of ['one', 'two', 'three']) {
    expect(await service.create(id)).toHaveProperty('ok');
    expect(await service.placesOf(id)).toEqual([1]);
  }
  // Its buckets stay usable
  await upload(first, 'films', 'more');
});
