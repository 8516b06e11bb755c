// A service whose front and volumes are on different subnets, as on the network: every certificate
// has a delegation.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Principal } from '@dfinity/principal';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { identityFromPem } from '../../packages/client/src/node/identity.ts';
import {
  createServiceStorage,
  type ServiceStorage,
} from '../../packages/client/src/service-storage.ts';
import { startReplica } from '../../packages/replica/src/replica.ts';
import { decodeSelfDescribed } from '../../packages/replica/src/state/self-described-cbor.ts';
import { deployLocally } from '../../scripts/local-service.ts';
import { verdictOn } from '../support/certification/verdict.ts';
import { expectSameBytes } from '../support/expect-same.ts';
import { exchangeWith } from '../support/raw-exchange.ts';
import { sampleBytes } from '../support/service.ts';
import { ServiceOfVolumes } from '../support/service-of-volumes.ts';

const service = new ServiceOfVolumes();
let storage: ServiceStorage;

beforeAll(async () => {
  await service.start(2, { isOnline: true, subnets: 2 });
  storage = createServiceStorage({
    host: service.replica.url,
    front: service.frontId.toText(),
    identity: identityFromPem(service.controllerPem),
  });
  await vi.waitFor(
    async () => {
      const states = (await storage.volumes.list()).map(({ state }) => state);
      expect(states).toEqual(['open', 'open']);
    },
    { timeout: 60_000 },
  );
});
afterAll(() => service.stop());

/** Returns the number of the subnet that has the canister. */
function subnetOf(id: Principal): number {
  return Number.parseInt(id.toHex().slice(0, -9), 16);
}

test('createBucket at a front creates buckets on the volumes of other subnets', async () => {
  expect([service.frontId, ...service.volumes].map(subnetOf)).toEqual([1, 1, 2]);
  for (const name of ['one', 'two']) await storage.buckets.create(name, { isPublic: true });
  const places = await Promise.all(['one', 'two'].map((name) => storage.volumeOf(name)));
  expect([...places].sort()).toEqual(service.volumes.map(String).sort());
});

test.each(['one', 'two'])(
  'GET /cloud/%s at its own subnet serves what was uploaded',
  async (bucket) => {
    const bytes = sampleBytes(bucket, 300_000);
    const file = { bucket, path: 'a.bin' };
    await storage.upload(bytes, file);
    expectSameBytes(await (await storage.download(file)).bytes(), bytes);
    const host = `${await storage.volumeOf(bucket)}.localhost`;
    const path = `/cloud/${bucket}/a.bin`;
    const answer = await exchangeWith(service.replica.url, host, { method: 'GET', path });
    expect(answer.status).toBe(200);
    expectSameBytes(answer.body, bytes);
  },
);

test('GET /.well-known/efs-service of a front passes the official verifier by its delegation', async () => {
  const request = { url: '/.well-known/efs-service' };
  const answer = await service.front.accepted(request);
  const [, header = ''] = answer.headers.find(([name]) => /^ic-certificate$/i.test(name)) ?? [];
  const [, certificate = ''] = /certificate=:([^:]*):/.exec(header) ?? [];
  const fields = decodeSelfDescribed(Buffer.from(certificate, 'base64'));
  const [subnet] = service.replica.subnets;
  const delegation = (fields as Map<string, Map<string, Uint8Array>>).get('delegation');
  expect(delegation?.get('subnet_id')).toEqual(subnet?.toUint8Array());
  const refusalOf = (canisterId?: Principal) =>
    canisterId && verdictOn(request, answer, { ...service.front.context(), canisterId }).refusal;
  const [neighbor, remote] = service.volumes;
  expect(refusalOf(remote)).toContain('Certificate verification failed');
  // The delegation covers the neighbor, but the certificate does not have its data.
  expect(refusalOf(neighbor)).toContain('CertificateMissingCertifiedData');
});

test('npm start creates each volume on the next subnet, and the front on the first', async () => {
  const stateDir = await mkdtemp(join(tmpdir(), 'subnets-'));
  const replica = await startReplica({ server: false, subnets: 2 });
  try {
    const { wasm } = service;
    const deployed = await deployLocally({
      replica,
      stateDir,
      wasm,
      hasFront: true,
      volumeCount: 2,
    });
    const { canisterId = '', volumes = [] } = deployed.front ?? {};
    const places = [canisterId, ...volumes].map((id) => subnetOf(Principal.fromText(id)));
    expect(places).toEqual([1, 1, 2]);
  } finally {
    await replica.stop();
    await rm(stateDir, { recursive: true, force: true });
  }
});
