// Buckets of a service of several volumes are created at its front: no two have the same name, and
// none is lost or doubled when a volume or an answer fails.

import { IDL } from '@dfinity/candid';
import type { Principal } from '@dfinity/principal';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { MessageReport } from '../../packages/replica/src/core.ts';
import { newIdentity, principalOf } from '../../scripts/local-service.ts';
import { VolumeChange } from '../../src/actor/candid/service.ts';
import { alice } from '../replica/conformance/management-client.ts';
import { installForwarder } from '../support/forwarder/forwarder.ts';
import { ServiceOfVolumes } from '../support/service-of-volumes.ts';

const messages: MessageReport[] = [];
const service = new ServiceOfVolumes();
const [ada, ben] = [principalOf(newIdentity()), principalOf(newIdentity())];
const Access = IDL.Record({ allow: IDL.Opt(IDL.Vec(IDL.Principal)) });
/** A name is settled this long after its creation began. */
const settledSeconds = 190;

beforeAll(async () => {
  await service.start(3, { onReport: (message) => messages.push(message) });
  await service.front.call('updateAccess', [Access], [{ allow: [[ada, ben]] }]);
});
afterAll(() => service.stop());

async function change(volume: Principal, fields: object): Promise<void> {
  const whole = { volume, isClosed: [], limitBytes: [], ...fields };
  await service.front.call('updateVolume', [VolumeChange], [whole]);
}

const manageVolume = (method: 'stop_canister' | 'start_canister', id: Principal) =>
  service.replica.call(
    'aaaaa-aa',
    method,
    IDL.encode([IDL.Record({ canister_id: IDL.Principal })], [{ canister_id: id }]),
    { sender: service.controller },
  );

describe('createBucket at a front', () => {
  test('spreads buckets over all volumes, for at most 40 M instructions each', async () => {
    messages.length = 0;
    for (const id of ['one', 'two', 'three']) {
      const { ok } = await service.create(id, { sender: ada });
      expect(ok).toMatchObject({ id, owner: ada });
    }
    const work = messages.filter(({ method }) => /^createBucket/.test(method ?? ''));
    const total = work.reduce((sum, { instructions }) => sum + Number(instructions), 0);
    console.log(`creation of a bucket: ${(total / 3e6).toFixed(1)} M instructions`);
    expect(total / 3).toBeLessThan(40_000_000);
    const places = await Promise.all(
      ['one', 'two', 'three'].map((id) => service.placesOf(id, ada)),
    );
    expect(places.flat().sort()).toEqual([0, 1, 2]);
    expect((await service.listed()).map(({ state, buckets }) => [state, buckets])).toEqual(
      Array.from({ length: 3 }, () => ['open', 1n]),
    );
  });

  test('passes on options, and the refusal of a volume', async () => {
    const options = { isPublic: [true], quotaFiles: [5n] };
    const { ok } = await service.create('shown', { options });
    expect(ok).toMatchObject({ isPublic: true, quotaFiles: [5n] });
    const { err } = await service.create('wrong', { options: { isSite: [true] } });
    expect(err).toMatch(/^InvalidArgument: Bucket wrong is private/);
    expect((await service.create('wrong', { sender: ben })).ok).toMatchObject({ owner: ben });
  });

  test('returns the same bucket if its owner repeats the request', async () => {
    const first = await service.create('again', { sender: ada });
    await service.wait(60);
    expect(await service.create('again', { sender: ada })).toEqual(first);
    expect(await service.placesOf('again', ada)).toHaveLength(1);
  });

  test('refuses a name of any volume, and strangers', async () => {
    const taken = await service.create('one', { sender: ben });
    expect(taken.err).toMatch(/^BucketExists/);
    await service.createAt(service.volumes[2] ?? expect.fail(), 'older');
    await service.wait(6);
    expect((await service.create('older', { sender: ben })).err).toMatch(/^BucketExists/);
    expect((await service.create('new', { sender: alice })).err).toMatch(/^AccessDenied/);
    expect((await service.create('a/b', { sender: ada })).err).toMatch(/^InvalidBucketId/);
  });

  test('is refused by a volume, which names its front, to the owner and to strangers', async () => {
    const [at = expect.fail()] = service.volumes;
    const named = new RegExp(`The front ${service.frontId} creates the buckets of this volume`);
    const { err } = await service.create('direct', { at });
    expect(err).toMatch(named);
    const asked = service.asked(at).call('updateAccess', [Access], [{ allow: [[ada]] }]);
    await expect(asked).rejects.toThrow(/The front \S+ decides who may create buckets/);
    expect((await service.create('direct', { sender: ada })).ok).toMatchObject({ owner: ada });
  });

  test('gives a deleted name to another volume and owner', async () => {
    await service.create('gone', { sender: ada });
    const [place = 0] = await service.placesOf('gone', ada);
    await service.remove('gone', service.volumes[place] ?? expect.fail(), ada);
    await service.wait(6);
    expect((await service.create('gone', { sender: ben })).ok).toMatchObject({ owner: ben });
  });

  test('uses no closed and no full volume, and says so if none is left', async () => {
    const [first, second, third] = service.volumes as [Principal, Principal, Principal];
    await change(first, { isClosed: [true] });
    await change(second, { limitBytes: [1_000n] });
    expect((await service.listed()).map(({ state }) => state)).toEqual(['closed', 'full', 'open']);
    for (const id of ['a1', 'a2', 'a3']) {
      await service.create(id);
      expect(await service.placesOf(id)).toEqual([2]);
    }
    await change(third, { isClosed: [true] });
    expect((await service.create('a4')).err).toMatch(/^QuotaExceeded: Each of the 3 volumes/);
    for (const id of service.volumes) {
      await change(id, { isClosed: [false], limitBytes: [429_496_729_600n] });
    }
    expect((await service.create('a4')).err).toBeUndefined();
  });

  test('waits until a new volume has reported its buckets', async () => {
    const { replica, controller, wasm, front } = service;
    const id = await replica.createCanister({ controllers: [controller] });
    await replica.install(id, wasm);
    await service.create('before', { at: id });
    await front.call('addVolume', [IDL.Principal], [id]);
    expect((await service.create('before')).err).toMatch(/^ServiceUnavailable: The volume/);
    await service.setFront(id);
    await service.wait(6);
    expect((await service.create('before', { sender: ada })).err).toMatch(/^BucketExists/);
    await front.call('removeVolume', [IDL.Principal], [id]);
  });
});

describe('a volume that rejects calls', () => {
  test('gets no bucket: another volume does', async () => {
    const [first, second] = service.volumes as [Principal, Principal];
    for (const id of [first, second]) await manageVolume('stop_canister', id);
    for (const id of ['r1', 'r2', 'r3']) {
      expect((await service.create(id, { sender: ada })).ok).toMatchObject({ owner: ada });
    }
    for (const id of [first, second]) await manageVolume('start_canister', id);
    for (const id of ['r1', 'r2', 'r3']) expect(await service.placesOf(id, ada)).toEqual([2]);
  });

  test('leaves the name free, and the error names each volume', async () => {
    for (const id of service.volumes) await manageVolume('stop_canister', id);
    const { err } = await service.create('late', { sender: ada });
    expect(err).toMatch(/^ServiceUnavailable: Bucket late was not created, .* try again/);
    for (const id of service.volumes) expect(err).toContain(String(id));
    for (const id of service.volumes) await manageVolume('start_canister', id);
    expect((await service.create('late', { sender: ben })).ok).toMatchObject({ owner: ben });
    expect(await service.placesOf('late', ben)).toHaveLength(1);
  });

  test('keeps a name that it may have from an earlier request', async () => {
    const asked = service.create('away', { sender: ada }).catch((error) => String(error));
    await service.upgrade(service.frontId);
    await asked;
    const before = await service.placesOf('away', ada);
    for (const id of service.volumes) await manageVolume('stop_canister', id);
    const { err } = await service.create('away', { sender: ada });
    for (let turn = 0; turn < 3; turn++) await service.wait(700);
    const other = await service.create('away', { sender: ben });
    for (const id of service.volumes) await manageVolume('start_canister', id);
    await service.wait(settledSeconds);
    if (before.length > 0) {
      // Its order was executed, and its answer was lost
      expect(err).toMatch(/^ServiceUnavailable: The volume \S+ did not answer .* Send the request/);
      expect(other.err).toMatch(/^BucketExists/);
    }
    expect((await service.create('away', { sender: ada })).ok).toMatchObject({ owner: ada });
    expect(await service.placesOf('away', ada)).toHaveLength(1);
  });
});

describe('an upgrade of the front', () => {
  test('settles a creation whose answer it lost', async () => {
    const asked = service.create('upgraded', { sender: ada }).catch((error) => String(error));
    await service.upgrade(service.frontId);
    await asked;
    await service.wait(settledSeconds);
    await service.wait(1);
    const places = await service.placesOf('upgraded', ada);
    const { ok, err } = await service.create('upgraded', { sender: ben });
    if (places.length === 0) expect(ok).toMatchObject({ owner: ben });
    else expect(err).toMatch(/^BucketExists/);
    const owners = await Promise.all([ada, ben].map((id) => service.placesOf('upgraded', id)));
    expect(owners.flat()).toHaveLength(1);
  });
});

describe('methods between canisters', () => {
  test.each(['createBucketFor', 'getCreationTimes', 'reportToFront'])(
    '%s is refused to everybody but the front',
    async (method) => {
      const [volume] = service.volumes;
      const Order = IDL.Record({
        ...{ owner: IDL.Principal, bucketId: IDL.Text, until: IDL.Int },
        options: IDL.Opt(IDL.Null),
      });
      const order = { owner: alice, bucketId: 'stolen', until: 1n << 62n, options: [] };
      const argument = {
        createBucketFor: IDL.encode([Order], [order]),
        getCreationTimes: IDL.encode([IDL.Vec(IDL.Text)], [['one']]),
        reportToFront: IDL.encode([], []),
      }[method];
      const bytes = new Uint8Array(argument ?? expect.fail());
      const forwarder = await installForwarder(service.replica);
      const reply = await forwarder.call(String(volume), method, bytes);
      const [outcome] = IDL.decode([IDL.Variant({ ok: IDL.Reserved, err: IDL.Text })], reply);
      expect(outcome).toEqual({ err: expect.stringMatching(/^AccessDenied: Only the front/) });
    },
  );
});
