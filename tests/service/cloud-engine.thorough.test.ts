// The service on a cloud engine: everything with 0 cycles, and keys by way of a proxy canister.

import { IDL } from '@dfinity/candid';
import { Principal } from '@dfinity/principal';
import { MasterPublicKey, TransportSecretKey } from '@dfinity/vetkeys';
import { afterEach, describe, expect, test } from 'vitest';
import { derivedKey } from '../../packages/client/src/age/bucket-identity.ts';
import { createVetKeys } from '../../packages/replica/src/management/vetkd.ts';
import { RootKeySource } from '../../src/actor/candid/service.ts';
import { argumentOf, resultOf } from '../replica/conformance/management-client.ts';
import { relayCanister, relayed } from '../replica/subnets/relay-canister.ts';
import { EngineService } from '../support/engine-service.ts';
import { installProxy } from '../support/proxy-canister/install-proxy.ts';
import { sampleBytes } from '../support/service.ts';
import { ServiceOfVolumes } from '../support/service-of-volumes.ts';

const bytes = sampleBytes('engine', 200_000);
const identityContext = new TextEncoder().encode('encrypted-file-storage/bucket-identity/v1');
const running: { readonly replica: { stop(): Promise<void> } }[] = [];

afterEach(async () => {
  for (const { replica } of running.splice(0)) await replica.stop();
});

async function start(wish: Parameters<EngineService['start']>[0] = {}): Promise<EngineService> {
  const service = await new EngineService().start(wish);
  running.push(service);
  return service;
}

/** Starts a service with the bucket `photos` and one file. */
async function startWithFile(): Promise<EngineService> {
  const service = await start();
  await service.owner.get('createBucket', 'photos', []);
  await service.store('a.bin', bytes);
  return service;
}

async function expectFile(service: EngineService): Promise<void> {
  const read = await service.read('a.bin', bytes.length);
  expect(Buffer.compare(Buffer.from(read), Buffer.from(bytes))).toBe(0);
}

function withRootKey(source: object): Uint8Array {
  const Settings = IDL.Record({ rootKey: IDL.Opt(RootKeySource) });
  return new Uint8Array(IDL.encode([IDL.Opt(Settings)], [[{ rootKey: [source] }]]));
}

interface SealedIdentity {
  readonly encryptedKey: Uint8Array;
  readonly publicKey: Uint8Array;
  readonly proxy: readonly [] | readonly [Principal];
}

describe('getStatus on a cloud engine', () => {
  test('reports the proxy that asked for the root key, and that nothing is charged', async () => {
    const service = await startWithFile();
    const proxy = service.proxy ?? expect.fail();
    expect(await service.owner.get('getStatus')).toMatchObject({
      cycles: [0n],
      chargesCycles: [false],
      encryption: { rootKey: 'vetkd', keyName: 'key_1', isKeyPresent: true, proxy: [proxy] },
    });
    expect(service.cycles()).toBe(0n);
    await expectFile(service);
  });

  test('without a proxy reports a stored root key, and the log says why', async () => {
    const service = await start({ proxyCycles: 0n });
    await service.wait(30);
    expect(await service.encryption()).toMatchObject({
      rootKey: 'stored',
      isKeyPresent: true,
      proxy: [],
    });
    expect(service.prints.join()).toContain('vetKD needs a proxy canister, and it has none');
    await service.owner.get('createBucket', 'photos', []);
    await service.store('a.bin', bytes);
    await service.upgrade();
    await expectFile(service);
    const { err } = await service.owner.ask('createBucket', 'safe', [
      { isPublic: [], endToEnd: [{ usesVetKeys: [], sealsNames: [], recipients: [] }] },
    ]);
    expect(err).toMatch(/^InvalidArgument: The root key of this canister is stored/);
  });

  test('without a proxy and with a named key keeps no key, and the log has the reason', async () => {
    const service = await start({ proxyCycles: 0n, argument: withRootKey({ vetkd: 'key_1' }) });
    await service.wait(30);
    expect(await service.encryption()).toMatchObject({ rootKey: 'vetkd', isKeyPresent: false });
    expect(service.prints.join()).toMatch(/Cannot fetch the root key: .*CloudEngine subnets/);
  });

  test('recovers when a proxy without cycles is topped up', async () => {
    // A running message prepays 40 G cycles, and the installation 20 G.
    const limits = { installInstructions: 20_000_000_000n };
    const service = await start({ proxyCycles: 88_000_000_000n, limits });
    expect(await service.encryption()).toMatchObject({ rootKey: 'vetkd', isKeyPresent: false });
    expect(service.prints.join()).toMatch(
      /the proxy canister \S+ has \d+ cycles, but the call takes 30000000000: top it up/,
    );
    const arg = argumentOf('provisional_top_up_canister', {
      canister_id: service.proxy,
      amount: 10n ** 15n,
    });
    await service.replica.call('aaaaa-aa', 'provisional_top_up_canister', arg);
    await service.wait(700);
    expect(await service.encryption()).toMatchObject({ rootKey: 'vetkd', isKeyPresent: true });
  });
});

describe('vetkdBy', () => {
  test('of the installation names the proxy, and the earlier form is still understood', async () => {
    const service = await start({
      proxyCycles: 0n,
      argument: withRootKey({ vetkd: 'test_key_1' }),
    });
    const proxy = await installProxy(service.replica);
    const source = { vetkdBy: { keyName: 'test_key_1', proxy: [proxy] } };
    await service.upgrade(withRootKey(source));
    const status = { keyName: 'test_key_1', isKeyPresent: true, proxy: [proxy] };
    expect(await service.encryption()).toMatchObject(status);
    await service.upgrade(withRootKey({ vetkd: 'test_key_1' }));
    expect(await service.encryption()).toMatchObject(status);
    const direct = withRootKey({ vetkdBy: { keyName: 'test_key_1', proxy: [] } });
    await expect(service.upgrade(direct)).rejects.toThrow('has another source');
  });

  test('that the proxy does not admit is refused with the reason', async () => {
    const service = await start();
    const stranger = await installProxy(service.replica, { isForEngine: false });
    const source = { vetkdBy: { keyName: 'key_1', proxy: [stranger] } };
    await service.owner.get('rotateRootKey', [source]);
    await service.wait(5);
    expect(service.prints.join()).toContain(`the proxy canister ${stranger} refuses this canister`);
    expect(await service.encryption()).toMatchObject({ isKeyPresent: true, isRotating: true });
  });
});

describe('rotateRootKey on a cloud engine', () => {
  test('gets another key by the same proxy, by another one, and back from a stored key', async () => {
    const service = await startWithFile();
    const first = service.proxy ?? expect.fail();
    await service.owner.get('rotateRootKey', []);
    await service.settle();
    expect(await service.encryption()).toMatchObject({ isRotating: false, proxy: [first] });
    await expectFile(service);
    const second = await installProxy(service.replica);
    const source = { vetkdBy: { keyName: 'test_key_1', proxy: [second] } };
    await service.owner.get('rotateRootKey', [source]);
    await service.settle();
    const moved = { keyName: 'test_key_1', isRotating: false, proxy: [second] };
    expect(await service.encryption()).toMatchObject(moved);
    await service.upgrade();
    await expectFile(service);
    await service.owner.get('rotateRootKey', [{ stored: null }]);
    await service.settle();
    expect(await service.encryption()).toMatchObject({ rootKey: 'stored', proxy: [] });
    await service.owner.get('rotateRootKey', [{ vetkd: 'key_1' }]);
    await service.settle();
    const back = { rootKey: 'vetkd', keyName: 'key_1', isRotating: false, proxy: [first] };
    expect(await service.encryption()).toMatchObject(back);
    await expectFile(service);
    expect(service.cycles()).toBe(0n);
  });
});

describe('timers on a cloud engine', () => {
  test('expire an upload, and a year without charges changes nothing else', async () => {
    const service = await startWithFile();
    await service.owner.get('beginFileUpload', 'photos', 'b.bin', 'a/b', 1_000n, []);
    expect(await service.owner.get('listUploads', 'photos', [])).toHaveLength(1);
    for (let day = 0; day < 9; day++) await service.wait(86_400);
    expect(await service.owner.get('listUploads', 'photos', [])).toHaveLength(0);
    await service.wait(31_536_000);
    await service.upgrade();
    await expectFile(service);
    expect(service.cycles()).toBe(0n);
  });
});

describe('getBucketIdentity by way of a proxy', () => {
  const transport = () => TransportSecretKey.random().publicKeyBytes();
  const mode = { usesVetKeys: [], sealsNames: [], recipients: [] };

  test('is of the prefixed context, as clients derive it, also after an upgrade', async () => {
    const service = await start();
    const proxy = service.proxy ?? expect.fail();
    await service.owner.get('createBucket', 'safe', [{ isPublic: [], endToEnd: [mode] }]);
    const identity = () =>
      service.owner.get<SealedIdentity>('getBucketIdentity', 'safe', [], transport());
    const { publicKey, proxy: way } = await identity();
    expect(way).toEqual([proxy]);
    // The key of the proxy for that context, asked by another canister of the network
    const { replica, canisterId } = service;
    const relay = await replica.createCanister({ subnet: replica.rootSubnet });
    await replica.install(relay, relayCanister());
    const id = canisterId.toUint8Array();
    const arg = argumentOf('vetkd_public_key', {
      canister_id: proxy,
      context: Uint8Array.of(id.length, ...id, ...identityContext),
      key_id: { curve: { bls12_381_g2: null }, name: 'key_1' },
    });
    const sent = relayed(Principal.managementCanister(), 'vetkd_public_key', { arg });
    const expected = resultOf('vetkd_public_key', await replica.call(relay, 'relay', sent));
    expect(Buffer.from(publicKey)).toEqual(Buffer.from(expected.public_key));
    await service.upgrade();
    expect(Buffer.from((await identity()).publicKey)).toEqual(Buffer.from(publicKey));
  });

  test('derivedKey() of a master key is the network’s, with and without a proxy', () => {
    const vetKeys = createVetKeys(new Uint8Array(32).fill(9));
    const master = MasterPublicKey.deserialize(vetKeys.masterPublicKey('key_1'));
    const canister = Principal.fromText('5v3p4-iyaaa-aaaaa-qaaaa-cai').toUint8Array();
    const proxy = Principal.fromText('rwlgt-iiaaa-aaaaa-aaaaa-cai').toUint8Array();
    const direct = { keyName: 'key_1', canisterId: canister, context: identityContext };
    const prefixed = Uint8Array.of(canister.length, ...canister, ...identityContext);
    const proxied = { keyName: 'key_1', canisterId: proxy, context: prefixed };
    for (const [path, way] of [
      [direct, undefined],
      [proxied, proxy],
    ] as const) {
      const derived = derivedKey(master, canister, way).publicKeyBytes();
      expect(Buffer.from(derived)).toEqual(Buffer.from(vetKeys.publicKey(path)));
    }
  });
});

describe('createBucket at a front beyond the engine', () => {
  test('creates the bucket on the engine, and reports reach the front', async () => {
    const service = await startSplit();
    expect((await service.create('one')).ok).toMatchObject({ id: 'one' });
    expect(await service.placesOf('one')).toEqual([0]);
    await service.wait(6);
    expect((await service.listed())[0]).toMatchObject({ state: 'open', buckets: 1n });
  });

  test('settles a bucket whose answer the network has lost', async () => {
    const service = await startSplit({ profile: 'mainnet' });
    const asked = service.create('lost');
    // The call is on its way, which takes more than a second.
    await new Promise((resolve) => setTimeout(resolve, 300));
    await service.wait(61);
    expect((await asked).err).toMatch(
      /^ServiceUnavailable: The volume \S+ did not answer \(.*deadline.*\), so bucket lost may or/,
    );
    expect((await service.create('lost', { sender: Principal.fromHex('01') })).err).toMatch(
      /^(AccessDenied|BucketExists)/,
    );
    await service.wait(200);
    await service.wait(1);
    expect(await service.placesOf('lost')).toEqual([0]);
    expect((await service.create('lost')).ok).toMatchObject({ id: 'lost' });
  });
});

/** Starts a front on the rest of the network, with a volume on the engine. */
async function startSplit(options: { readonly profile?: string } = {}): Promise<ServiceOfVolumes> {
  const service = new ServiceOfVolumes();
  await service.start(0, { subnetType: 'cloud-engine', ...options });
  running.push(service);
  const { rootSubnet: subnet, subnets } = service.replica;
  service.frontId = await service.install({ front: null }, { subnet });
  service.front = service.asked(service.frontId);
  await service.addVolume({ subnet: subnets[0] });
  await service.wait(20);
  return service;
}
