// Memory of a volume's maps: the network charges for each MiB of stable memory, also of volumes that
// nobody uses.

import { IDL } from '@dfinity/candid';
import type { Principal } from '@dfinity/principal';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ServiceOfVolumes } from '../support/service-of-volumes.ts';

const service = new ServiceOfVolumes();
const MiB = 2 ** 20;
let volume: Principal;

beforeAll(async () => {
  await service.start(1);
  [volume] = service.volumes as [Principal];
});
afterAll(() => service.stop());

const stableBytes = () => service.replica.stableMemory(volume).bytes;

function createKey(name: string): Promise<void> {
  const Texts = IDL.Vec(IDL.Text);
  const Key = IDL.Record({ name: IDL.Text, buckets: Texts, permissions: Texts });
  const key = { name, buckets: ['films'], permissions: ['read'] };
  return service.asked(volume).call('createApiKey', [Key], [key]);
}

async function keyNames(): Promise<string[]> {
  const { replica, controller } = service;
  const argument = new Uint8Array(IDL.encode([IDL.Text], ['films']));
  const reply = await replica.query(volume, 'listApiKeys', argument, { sender: controller });
  const Keys = IDL.Vec(IDL.Record({ name: IDL.Text }));
  const [answer] = IDL.decode([IDL.Variant({ ok: Keys, err: IDL.Text })], reply);
  return (answer as { ok: { name: string }[] }).ok.map(({ name }) => name);
}

test('stableMap takes a MiB at its first record, and keeps it over upgrades', async () => {
  expect(await service.create('films')).toHaveProperty('ok');
  const before = stableBytes();
  expect(await keyNames()).toEqual([]);
  await service.upgrade(volume);
  expect(stableBytes()).toBe(before);
  await createKey('reader');
  expect(stableBytes()).toBe(before + MiB);
  await service.upgrade(volume);
  expect(await keyNames()).toEqual(['reader']);
  await createKey('visitor');
  expect(await keyNames()).toHaveLength(2);
  expect(stableBytes()).toBe(before + MiB);
});
