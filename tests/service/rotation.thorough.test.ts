// Key rotation on the built canister: the service keeps working, an upgrade during the rotation
// does no harm, and no trace of the former key remains.

import { expect, test } from 'vitest';
import { KeyNetwork, networkWithKey, settings } from '../support/key-network.ts';

const bytes = new Uint8Array(70_000).map((_, index) => index * 7);

/** Creates a network with a stored root key. */
async function networkWithStoredKey(): Promise<KeyNetwork> {
  const network = new KeyNetwork();
  await network.install(settings({ stored: null }));
  expect(await network.call('createBucket', 'photos')).toHaveProperty('ok');
  return network;
}

async function withFiles(count: number, made: Promise<KeyNetwork>): Promise<KeyNetwork> {
  const network = await made;
  for (let number = 0; number < count; number++) await store(network, `f${number}`);
  return network;
}

async function store(network: KeyNetwork, path: string): Promise<void> {
  const upload = { bucketId: 'photos', path, contentType: 'image/png', bytes };
  const none = { tags: [], sha256: [], ifMatch: [], ifNoneMatch: [], apiKey: [] };
  expect(await network.call('uploadFile', { ...upload, ...none })).toHaveProperty('ok');
}

async function expectFiles(network: KeyNetwork, paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    const read = await network.call('readFile', 'photos', path, 0n, BigInt(bytes.length), []);
    expect(Buffer.compare(Buffer.from(read.ok as Uint8Array), bytes)).toBe(0);
  }
}

/** Runs timers that other timers set, for a few turns. */
async function settle(network: KeyNetwork): Promise<void> {
  for (let turn = 0; turn < 6; turn++) await network.wait(0);
}

test('rotateBucketKey() proceeds by timers while files are read and stored', async () => {
  const network = await withFiles(5, networkWithStoredKey());
  expect(await network.call('rotateBucketKey', 'photos')).toEqual({ ok: null });
  expect(await network.status()).toMatchObject({ isRotating: true });
  expect((await network.call('rotateBucketKey', 'photos')).err).toMatch(/^SlowDown: /);
  await store(network, 'new');
  await expectFiles(network, ['f0', 'f4', 'new']);
  await network.upgrade();
  await settle(network);
  expect(await network.status()).toMatchObject({ isRotating: false, isKeyPresent: true });
  await expectFiles(network, ['f0', 'f1', 'f2', 'f3', 'f4', 'new']);
  expect(await network.call('rotateBucketKey', 'photos')).toEqual({ ok: null });
  expect((await network.call('rotateBucketKey', 'none')).err).toMatch(/^NoSuchBucket: /);
});

test('rotateRootKey() derives another key, even with an upgrade in the middle', async () => {
  const network = await withFiles(2, networkWithKey());
  expect(await network.call('rotateRootKey', [])).toEqual({ ok: null });
  expect(await network.status()).toMatchObject({ isRotating: true, isKeyPresent: true });
  await network.upgrade();
  await settle(network);
  expect(await network.status()).toMatchObject({ isRotating: false, keyName: 'key_1' });
  await network.upgrade();
  network.reports.length = 0;
  await network.wait(0);
  expect(network.answersTo('vetkd_derive_key'), 'one key is left to derive').toHaveLength(1);
  await expectFiles(network, ['f0', 'f1']);
});

test('a stored root key that is rotated to vetKD leaves no trace', async () => {
  const network = await withFiles(1, networkWithStoredKey());
  const before = network.stableMemory();
  expect(await network.call('rotateRootKey', [{ vetkd: 'test_key_1' }])).toEqual({ ok: null });
  await settle(network);
  const status = { rootKey: 'vetkd', keyName: 'test_key_1', isRotating: false };
  expect(await network.status()).toMatchObject(status);
  await expectFiles(network, ['f0']);
  const after = network.stableMemory();
  // The slot starts with the greatest exact integer and ends with the key.
  const mark = Buffer.from(Float64Array.of(Number.MAX_SAFE_INTEGER).buffer);
  const slot = before.indexOf(mark);
  const key = before.subarray(slot + 48, slot + 80);
  expect(key.some((byte) => byte !== 0)).toBe(true);
  expect([after.includes(mark), after.includes(key)]).toEqual([false, false]);
});

test('a root key that the network does not know changes nothing, and can be replaced by another', async () => {
  const network = await withFiles(1, networkWithKey());
  expect(await network.call('rotateRootKey', [{ vetkd: 'none' }])).toEqual({ ok: null });
  await network.wait(0);
  await store(network, 'more');
  expect(await network.status()).toMatchObject({ keyName: 'key_1', isRotating: true });
  expect(await network.call('rotateRootKey', [{ vetkd: 'test_key_1' }])).toEqual({ ok: null });
  await settle(network);
  expect(await network.status()).toMatchObject({ keyName: 'test_key_1', isRotating: false });
  await expectFiles(network, ['f0', 'more']);
});
