// The budget that pays for the update of an HTTP request, the key's own or a shared one, and how
// much it pays.

import { beforeEach, describe, expect, test } from 'vitest';
import { createKey } from '../../src/domain/administration/api-key-administration.ts';
import { type BudgetName, budgetLeft } from '../../src/domain/rights/budgets.ts';
import type { Refusal } from '../../src/domain/shared/refusal.ts';
import { maySayInUpdate, updateRefusal } from '../../src/http/budgets.ts';
import type { HttpResponse } from '../../src/http/message.ts';
import { handleRequest, upgrade } from '../../src/http/router.ts';
import { routes } from '../../src/http/routes.ts';
import { callOf, createScene, putTestFile, startNs } from '../support/domain-fixture.ts';
import type { MemoryStores } from '../support/memory-stores.ts';

let stores: MemoryStores;

beforeEach(async () => {
  ({ stores } = await createScene());
  putTestFile(stores, { path: '/a' });
});

const system = () => ({
  canisterId: 'aaaaa-aa',
  stableBytes: 65_536,
  heapBytes: 131_072,
  cycles: 10n ** 13n,
  spendableCycles: 10 ** 13,
  chargesCycles: true,
});

interface Sent {
  readonly method?: string;
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly bytes?: number;
}

function requestOf({ method = 'GET', url, headers = {}, bytes = 0 }: Sent) {
  return { method, url, headers: Object.entries(headers), body: new Uint8Array(bytes) };
}

function update(sent: Sent): HttpResponse {
  const request = requestOf(sent);
  const charge = { bytes: request.body.length, isInspected: false };
  const call = { ...callOf('anonymous'), charge };
  const answer = handleRequest(routes, { stores, call, request, phase: 'update', system });
  return answer === upgrade ? expect.fail('an update answers') : answer;
}

/** Returns what the inspection would refuse, and whether the update may say it. */
function inspected(sent: Sent): {
  readonly refusal: Refusal | undefined;
  readonly maySay: boolean;
} {
  const environment = { stores, call: callOf('anonymous'), request: requestOf(sent) };
  return { refusal: updateRefusal(environment, upgrade), maySay: maySayInUpdate(environment) };
}

const left = (name: BudgetName) => budgetLeft(stores, name, startNs);

function keyWith(updatesPerHour: bigint): Record<string, string> {
  const named = { name: 'weak', buckets: ['box'], permissions: ['write'], expiresAtNs: undefined };
  const budget = { updatesPerHour, bytesPerHour: 0n };
  const { secret } = createKey(stores, callOf('alice'), { ...named, budget });
  return { Authorization: `Bearer ${secret}` };
}

describe('withinBudget(): a key for the bucket', () => {
  test.each([
    ['a range', { url: '/cloud/box/a', headers: { Range: 'bytes=1-2' } }, 206],
    ['a false condition', { url: '/cloud/box/a', headers: { 'If-Match': '"x"' } }, 412],
    ['a wrong method', { method: 'POST', url: '/cloud/box/a' }, 405],
    ['an upload', { method: 'PUT', url: '/api/v1/bucket/box/files/b', bytes: 10 }, 201],
  ])('pays once for %s', (_, sent: Sent, status) => {
    const anonymous = left('anonymousUpdates');
    const headers = { ...sent.headers, ...keyWith(1n), 'Content-Type': 'a/b' };
    expect(update({ ...sent, headers }).status).toBe(status);
    expect(update({ ...sent, headers }).status).toBe(429);
    expect(left('anonymousUpdates')).toBe(anonymous);
  });

  test('is refused at the cost of the budget of refusals once its own is used up', () => {
    const headers = { ...keyWith(1n), 'Content-Type': 'a/b' };
    const put = { method: 'PUT', url: '/api/v1/bucket/box/files/b', headers };
    expect(update({ ...put, bytes: 10 }).status).toBe(201);
    const before = left('refusals');
    expect(update({ ...put, bytes: 40_000 }).status).toBe(429);
    expect(before - left('refusals')).toBe(3);
  });

  test('whose budget is used up may send small requests only', () => {
    const headers = { ...keyWith(1n), 'Content-Type': 'a/b' };
    const put = { method: 'PUT', url: '/api/v1/bucket/box/files/b', headers };
    expect(inspected({ ...put, bytes: 1_900_000 }).refusal).toBeUndefined();
    update({ ...put, bytes: 10 });
    expect(inspected({ ...put, bytes: 4_096 })).toMatchObject({
      refusal: { code: 'SlowDown' },
      maySay: true,
    });
    expect(inspected({ ...put, bytes: 4_097 })).toMatchObject({
      refusal: { code: 'SlowDown' },
      maySay: false,
    });
  });
});

describe('updateRefusal(): a request without a key', () => {
  test('has at most 4,096 bytes, also where only an update can answer', () => {
    const navigation = {
      url: '/s/AAAAAAAAAAAAAAAA/a?k=A',
      headers: { 'Sec-Fetch-Dest': 'document' },
    };
    for (const sent of [navigation, { url: '/cloud/box/a' }]) {
      expect(inspected({ ...sent, bytes: 4_096 }).refusal).toBeUndefined();
      expect(inspected({ ...sent, bytes: 4_097 })).toMatchObject({
        refusal: { code: 'EntityTooLarge' },
        maySay: false,
      });
    }
  });

  test('takes one token more for each 4,096 bytes', () => {
    const range = { url: '/cloud/box/a', headers: { Range: 'bytes=1-2' } };
    const before = left('anonymousUpdates');
    expect(update(range).status).toBe(206);
    expect(before - left('anonymousUpdates')).toBe(1);
    expect(
      update({ ...range, headers: { ...range.headers, 'X-Long': 'x'.repeat(8_192) } }),
    ).toMatchObject({
      status: 206,
    });
    expect(before - left('anonymousUpdates')).toBe(4);
  });
});
