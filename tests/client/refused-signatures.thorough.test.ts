// Calls that the network refuses because of the time in their signature: each fails at its first
// attempt and states the remedy.

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DelegationChain, DelegationIdentity, Ed25519KeyIdentity } from '@icp-sdk/core/identity';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { RetryNotice } from '../../packages/client/src/connection/retry.ts';
import { identityFromPem } from '../../packages/client/src/node/identity.ts';
import { createStorage } from '../../packages/client/src/storage.ts';
import { openService, type Service } from '../support/service.ts';
import { runCommand } from './command-runs.ts';

const minuteMs = 60_000;
let service: Service;
let folder: string;

beforeAll(async () => {
  service = await openService();
  folder = await mkdtemp(join(tmpdir(), 'signatures-'));
  await writeFile(join(folder, 'owner.pem'), service.identityPem);
});
afterAll(async () => {
  await service?.stop();
  await rm(folder, { recursive: true, force: true });
});

async function failureOf(identity: DelegationIdentity): Promise<unknown> {
  const { host, canisterId } = service;
  const retries: RetryNotice[] = [];
  const onRetry = (notice: RetryNotice) => retries.push(notice);
  const storage = createStorage({ host, canisterId, identity, onRetry });
  const answer = await storage.buckets.create(`late${Date.now()}`).catch((error) => error);
  expect(retries).toEqual([]);
  return answer;
}

test('buckets.create() with an expired delegation asks to sign in again', async () => {
  const owner = identityFromPem(service.identityPem);
  const session = Ed25519KeyIdentity.generate();
  const chain = async (ms: number) =>
    DelegationIdentity.fromDelegation(
      session,
      await DelegationChain.create(owner, session.getPublicKey(), new Date(Date.now() + ms)),
    );
  expect(await failureOf(await chain(minuteMs))).toHaveProperty('id');
  expect(await failureOf(await chain(-minuteMs))).toMatchObject({
    code: 'ExpiredIdentity',
    message: 'The sign-in of this identity has expired. Sign in again.',
    isRetryable: false,
  });
});

/** Module that makes the clock of the command wrong by that many minutes. */
const clockModule = (minutes: number) =>
  `data:text/javascript,const%20now=Date.now;Date.now=()=>now()+${minutes * minuteMs}`;

test.each([-20, 20])('efs with a clock wrong by %i minutes reports it at once', async (minutes) => {
  const { host, canisterId } = service;
  const environment = {
    EFS_HOST: host,
    EFS_CANISTER_ID: canisterId,
    EFS_IDENTITY: 'owner.pem',
    NODE_OPTIONS: `--import=${clockModule(minutes)}`,
  };
  for (const words of ['ls', 'create late']) {
    expect(await runCommand(['bucket', ...words.split(' ')], { folder, environment })).toEqual({
      code: 7,
      output: '',
      errors:
        `efs: This machine's clock is wrong by minutes, so ${host} refuses its calls. Set the ` +
        'clock, preferably by NTP. [WrongClock]\n',
    });
  }
});
