// Limits on the instructions that certification takes, measured by the replica's meter; the costs
// do not depend on the number of files.

import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import {
  decodeAnswer,
  encodeUpdateRequest,
} from '../../packages/replica/src/gateway/candid-messages.ts';
import {
  type CertifiedCanister,
  openCertifiedCanister,
} from '../support/certification/certified-canister.ts';
import { onlyOnOurReplica } from '../support/network/elsewhere.ts';
import { ownReplica } from '../support/network/test-network.ts';

let canister: CertifiedCanister;
const million = 1_000_000;
const kilobyte = new Uint8Array(1_000).fill(65);

beforeAll(async () => {
  canister = await openCertifiedCanister();
});

afterAll(() => canister?.stop());
beforeEach(onlyOnOurReplica('its meter'));

/** Returns the instructions of the last message to that method; timers may have run after it. */
function lastCost(kind: string, method?: string): number {
  const report = ownReplica(canister).reports.findLast((each) => {
    return each.kind === kind && (method ?? each.method) === each.method;
  });
  return Number(report?.instructions ?? Number.NaN);
}

test('http_request: an upload of 1 kB takes at most 11 M instructions, and a download 7 M', async () => {
  await canister.put('a', kilobyte);
  expect(lastCost('update', 'http_request_update')).toBeLessThan(11 * million);
  await canister.put('a', kilobyte);
  expect(lastCost('update', 'http_request_update')).toBeLessThan(12 * million);
  const { headers } = await canister.accepted({ url: '/cloud/demo/a' });
  expect(lastCost('query', 'http_request')).toBeLessThan(7 * million);
  const tag = headers.find(([name]) => name === 'ETag')?.[1] ?? expect.fail('no tag');
  await canister.accepted({ url: '/cloud/demo/a', headers: [['if-none-match', tag]] });
  expect(lastCost('query', 'http_request')).toBeLessThan(7 * million);
  await canister.accepted({ url: '/cloud/demo/none' });
  expect(lastCost('query', 'http_request')).toBeLessThan(4 * million);
});

test('http_request: a canister with a key, a bucket and a few files takes at most 26 MB of stable memory', () => {
  const { bytes } = ownReplica(canister).stableMemory(canister.canisterId);
  expect(bytes).toBeLessThan(26 * million);
});

test('http_request: a range without a key costs at most 12 M cycles, ingress included', async () => {
  await canister.put('two-megabytes', new Uint8Array(2 * million).fill(66));
  const headers = [
    ['host', 'aaaaa-aa.icp0.io'],
    ['accept', '*/*'],
    ['accept-encoding', 'gzip, deflate'],
    ['accept-language', '*'],
    ['connection', 'keep-alive'],
    ['range', 'bytes=1-'],
    ['user-agent', 'Mozilla/5.0 (X11; Linux x86_64)'],
  ] as const;
  const asked = { url: '/cloud/demo/two-megabytes', headers };
  expect(await canister.ask(asked)).toMatchObject({ isUpgrade: true });
  // The first request after an upgrade derives the key of tokens.
  const argument = encodeUpdateRequest({ method: 'GET', body: new Uint8Array(0), ...asked });
  for (let turn = 0; turn < 2; turn++) {
    const { network, canisterId } = canister;
    const reply = await network.call(canisterId, 'http_request_update', argument);
    expect(decodeAnswer(reply)).toMatchObject({ status: 206 });
  }
  const report = ownReplica(canister).reports.findLast(
    ({ method }) => method === 'http_request_update',
  );
  const cycles = Number(report?.cycles ?? Number.NaN);
  expect(cycles).toBeGreaterThan(6 * million);
  expect(cycles).toBeLessThanOrEqual(12 * million);
});

test('http_request: the cost of an upgrade and of making a bucket public does not grow with the files', async () => {
  const costs = async () => {
    await canister.showBucket('demo', false);
    const hide = lastCost('update', 'updateBucket');
    await canister.showBucket('demo', true);
    const show = lastCost('update', 'updateBucket');
    await canister.upgrade();
    const upgrade = lastCost('postUpgrade');
    // The first update after an upgrade waits for the keys.
    await canister.change({ url: '/cloud/demo/a', headers: [['Range', 'bytes=0-0']] });
    return [hide, show, upgrade] as const;
  };
  const few = await costs();
  for (let index = 0; index < 100; index++) await canister.put(`dir/${index}`, kilobyte);
  const many = await costs();
  for (const [index, cost] of many.entries()) {
    // Grows only with the logarithm of the number of files, here by less than 10 %
    expect(cost).toBeLessThan((few[index] ?? 0) * 1.1);
  }
});
