// The record of a bucket as the network signs it: who gets it, and that no single node changes it.

import { IDL } from '@dfinity/candid';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { identityFromPem } from '../../packages/client/src/node/identity.ts';
import { createStorage, type Storage } from '../../packages/client/src/storage.ts';
import { newIdentity, principalOf } from '../../scripts/local-service.ts';
import { forgedRecords, swapNames } from '../support/forged-records.ts';
import { openService, type Service } from '../support/service.ts';

const bucket = 'team';
const pems = { writer: newIdentity(), reader: newIdentity(), stranger: newIdentity() };
let service: Service;
let owner: Storage;

beforeAll(async () => {
  service = await openService({ faults: {} });
  owner = storageOf(service.identityPem);
  await owner.buckets.create(bucket);
  const addMembers = (['writer', 'reader'] as const).map((role) => {
    return { principal: principalOf(pems[role]).toText(), role, name: `the ${role}` };
  });
  await owner.buckets.update(bucket, { addMembers });
});
afterEach(() => service.replica?.setFaults({}));
afterAll(() => service?.stop());

function storageOf(pem: string): Storage {
  const { host, canisterId } = service;
  const retry = { attemptsMax: 2, delayMsMin: 1, delayMsMax: 5 };
  return createStorage({ host, canisterId, identity: identityFromPem(pem), retry });
}

test('buckets.get() with certified returns what the network signs if a node lies', async () => {
  const honest = await owner.buckets.get(bucket);
  const forge = forgedRecords(bucket, (record) => {
    swapNames(record);
    record.isPublic = true;
  });
  service.replica?.setFaults({ forge });
  const lied = await owner.buckets.get(bucket);
  expect([lied.isPublic, lied.members[1]?.name]).toEqual([true, honest.members[0]?.name]);
  expect(await owner.buckets.get(bucket, { certified: true })).toEqual(honest);
});

test('buckets.get() with certified serves a writer, without the members', async () => {
  const record = await storageOf(pems.writer).buckets.get(bucket, { certified: true });
  expect(record).toMatchObject({ id: bucket, callerRole: 'writer', members: [] });
});

test('getBucket as an update is refused to all others, before an update runs', async () => {
  const { replica, canisterId, host, apiKey } = service;
  const reports = replica?.reports ?? expect.fail('this needs the local replica');
  const first = reports.length;
  for (const [pem, code] of [
    [pems.reader, 'AccessDenied'],
    [pems.stranger, 'NoSuchBucket'],
  ] as const) {
    const got = storageOf(pem).buckets.get(bucket, { certified: true });
    await expect(got).rejects.toMatchObject({ code });
  }
  const anonymous = createStorage({ host, canisterId, apiKey });
  await expect(anonymous.buckets.get('demo', { certified: true })).rejects.toMatchObject({
    code: 'AccessDenied',
  });
  const argument = IDL.encode([IDL.Text, IDL.Opt(IDL.Text)], ['demo', [apiKey]]);
  const sender = principalOf(service.identityPem);
  const withKey = replica?.call(canisterId, 'getBucket', new Uint8Array(argument), { sender });
  await expect(withKey).rejects.toThrow("with message: 'AccessDenied: Only owners and writers");
  const kinds = new Set(reports.slice(first).map(({ kind }) => kind));
  expect([...kinds]).toEqual(['inspect']);
});

test('buckets.get() with certified is not supported over HTTP', async () => {
  const storage = createStorage({ url: service.base, apiKey: service.apiKey, transport: 'http' });
  const got = storage.buckets.get('demo', { certified: true });
  await expect(got).rejects.toMatchObject({ code: 'Unsupported' });
});
