// The built canister near its freezing threshold: uploads are refused with a reason long before it
// freezes.

import { IDL } from '@dfinity/candid';
import { Principal } from '@dfinity/principal';
import { expect, test } from 'vitest';
import {
  decodeAnswer,
  encodeUpdateRequest,
} from '../../packages/replica/src/gateway/candid-messages.ts';
import { createInProcessCalls } from '../../packages/replica/src/in-process-calls.ts';
import { KeyNetwork, networkWithKey, settings } from '../support/key-network.ts';

const low = /^ServiceUnavailable: The canister is low on cycles and accepts no uploads/;
const bytes = new Uint8Array(1_000).fill(7);
const file = { bucketId: 'photos', path: 'a.bin', contentType: 'image/png', bytes };
const none = { tags: [], sha256: [], ifMatch: [], ifNoneMatch: [], apiKey: [] };

/** Sets the freezing threshold so that `cycles` of the balance are above the reserve. */
function leaveLiquid(network: KeyNetwork, cycles: bigint): void {
  const { engine } = network;
  const id = network.canisterId();
  const { cycles: balance = 0n, idleCyclesPerDay = 1n } = engine.balance(id) ?? {};
  const freezingThreshold = ((balance - cycles) * 86_400n) / idleCyclesPerDay;
  engine.updateSettings(id, { freezingThreshold });
}

async function put(network: KeyNetwork, secret: string, path: string): Promise<number> {
  const headers: [string, string][] = [
    ['authorization', `Bearer ${secret}`],
    ['content-type', 'a/b'],
  ];
  const url = `/api/v1/bucket/photos/files/${path}`;
  const argument = encodeUpdateRequest({ method: 'PUT', url, headers, body: bytes });
  const calls = createInProcessCalls(network.engine);
  const id = network.canisterId();
  return decodeAnswer(await calls.call(id, 'http_request_update', argument)).status;
}

test('every operation that stores bytes is refused with a reason, and those that free space work', async () => {
  const network = await networkWithKey();
  const session = { ...none, headers: [], chunkSize: [], contentType: [] };
  const begin = { ...session, bucketId: 'photos', path: 'b.bin', size: 1_000n };
  const { ok: id } = await network.call('beginFileUploadWith', begin);
  expect(await network.call('uploadFile', { ...file, ...none })).toHaveProperty('ok');
  const request = { name: 'k', buckets: ['photos'], permissions: ['write'], expiresAt: [] };
  const { ok: key } = await network.call('createApiKey', request);
  const { secret } = key as { secret: string };
  expect(await put(network, secret, 'c.bin')).toBe(201);

  leaveLiquid(network, 90_000_000_000n);
  expect((await network.call('uploadFile', { ...file, ...none })).err).toMatch(low);
  expect((await network.call('beginFileUploadWith', begin)).err).toMatch(low);
  expect((await network.call('beginFileUpload', 'photos', 'd', 'a/b', 9n, [])).err).toMatch(low);
  expect((await network.call('uploadFileChunkIndexed', id, 0n, bytes)).err).toMatch(low);
  // Callers without a right get the refusal that they always get
  const stranger = { ...none, apiKey: ['efs_none'] };
  expect((await network.call('uploadFile', { ...file, ...stranger })).err).toMatch(
    /^InvalidApiKey/,
  );
  expect((await network.call('beginFileUploadWith', { ...begin, ...stranger })).err).toMatch(
    /^InvalidApiKey/,
  );
  const unknown = network.call('uploadFileChunkIndexed', 'ab'.repeat(16), 0n, bytes);
  expect((await unknown).err).toMatch(/^NoSuchUpload/);
  // The query accepts it, and the update refuses: 40 G cycles are held for its execution.
  expect(await put(network, secret, 'd.bin')).toBe(503);
  expect(await network.call('deleteFile', 'photos', 'c.bin', [])).toEqual({ ok: null });
  expect(await network.call('getFile', 'photos', 'a.bin', [])).toHaveProperty('ok');

  leaveLiquid(network, 110_000_000_000n);
  expect(await network.call('uploadFileChunkIndexed', id, 0n, bytes)).toHaveProperty('ok');
  expect(await put(network, secret, 'd.bin')).toBe(201);
});

test('reports of public buckets to the front wait until cycles suffice', async () => {
  const network = await networkWithKey();
  leaveLiquid(network, 90_000_000_000n);
  const Front = IDL.Record({ front: IDL.Principal, url: IDL.Opt(IDL.Text) });
  // A front that does not exist, to which each report is rejected
  const front = Principal.fromText('ryjl3-tyaaa-aaaaa-aaaba-cai');
  await network.send('setFront', [IDL.Opt(Front)], [[{ front, url: [] }]]);
  const waitForContact = async () => {
    for (let turn = 0; turn < 7; turn++) await network.wait(600);
  };
  await waitForContact();
  expect(network.answersTo('reportPublicBuckets')).toHaveLength(0);
  // 40 G cycles are held for the execution of each timer.
  leaveLiquid(network, 400_000_000_000n);
  await waitForContact();
  expect(network.answersTo('reportPublicBuckets').length).toBeGreaterThan(0);
});

test('uploads and status where the subnet charges nothing work with 0 cycles', async () => {
  const network = new KeyNetwork({ subnetType: 'cloud-engine' });
  await network.install(settings({ stored: null }));
  await network.wait(0);
  expect(network.engine.balance(network.canisterId())?.cycles).toBe(0n);
  expect(await network.call('createBucket', 'photos')).toHaveProperty('ok');
  expect(await network.call('uploadFile', { ...file, ...none })).toHaveProperty('ok');
  const request = { name: 'k', buckets: ['photos'], permissions: ['write'], expiresAt: [] };
  const { ok: key } = await network.call('createApiKey', request);
  expect(await put(network, (key as { secret: string }).secret, 'c.bin')).toBe(201);
  expect(await chargesCycles(network)).toEqual([false]);
  expect(await chargesCycles(await networkWithKey())).toEqual([true]);
});

async function chargesCycles(network: KeyNetwork): Promise<unknown> {
  const Status = IDL.Record({ chargesCycles: IDL.Opt(IDL.Bool) });
  const reply = await createInProcessCalls(network.engine).query(network.canisterId(), 'getStatus');
  const [result] = IDL.decode([IDL.Variant({ ok: Status, err: IDL.Text })], reply);
  return (result as { ok?: { chargesCycles: unknown } }).ok?.chargesCycles;
}
