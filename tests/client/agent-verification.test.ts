// Certificates as the agents verify them, and with the shortcut of most tests: signatures that a
// replica in the same process has made are accepted by comparison.

import * as former from '@dfinity/agent';
import * as current from '@icp-sdk/core/agent';
import { Principal } from '@icp-sdk/core/principal';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createStorage } from '../../packages/client/src/storage.ts';
import { acceptAgain, acceptNone } from '../support/known-signatures.ts';
import { openService, type Service } from '../support/service.ts';

let service: Service;

beforeAll(async () => {
  service = await openService();
});
afterEach(acceptAgain);
afterAll(() => service?.stop());

async function timeCertificate(agent: current.HttpAgent): Promise<Uint8Array> {
  const paths = [[new TextEncoder().encode('time')]];
  const target = { canisterId: Principal.fromText(service.canisterId) };
  const { certificate } = await agent.readState(target, { paths });
  return certificate;
}

/** Flips a bit of the last byte, which belongs to the signature at the end of a certificate. */
function withOtherEnd(certificate: Uint8Array): Uint8Array {
  const changed = certificate.slice();
  changed[changed.length - 1] = (changed.at(-1) ?? 0) ^ 1;
  return changed;
}

const agents = [
  ['@icp-sdk/core', current.Certificate],
  ['@dfinity/agent', former.Certificate as unknown as typeof current.Certificate],
] as const;

describe.each(agents)('Certificate.create() of %s', (_, { create }) => {
  test.each(['known', 'unknown'])('checks a certificate whose signature is %s', async (which) => {
    if (which === 'unknown') acceptNone();
    const agent = await current.HttpAgent.create({ host: service.host, shouldFetchRootKey: true });
    const certificate = await timeCertificate(agent);
    const { rootKey } = agent;
    if (rootKey === null) throw new Error('The agent has no root key');
    const principal = { canisterId: Principal.fromText(service.canisterId) };
    const verify = (bytes: Uint8Array, key = rootKey) =>
      create({ certificate: bytes, rootKey: key, principal });
    await expect(verify(certificate)).resolves.toBeDefined();
    await expect(verify(withOtherEnd(certificate))).rejects.toThrow(/Signature|signature/);
    const otherKey = rootKey.slice();
    otherKey[otherKey.length - 1] = (otherKey.at(-1) ?? 0) ^ 1;
    await expect(verify(certificate, otherKey)).rejects.toThrow(/Signature|signature/);
  });
});

test('createStorage() works with an agent that verifies every certificate itself', async () => {
  acceptNone();
  const { host, canisterId, apiKey, bucket } = service;
  const storage = createStorage({ host, canisterId, apiKey });
  const bytes = new TextEncoder().encode('verified');
  await storage.upload(bytes, { bucket, path: 'verified' });
  const download = await storage.download({ bucket, path: 'verified' });
  expect(await download.bytes()).toEqual(bytes);
});
