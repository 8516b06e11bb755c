// Refused updates and the budget of refusals. Every refusal that a caller without a right can cause
// must be charged: else the inspection accepts such calls for ever, and the canister pays.

import { expect, test, vi } from 'vitest';
import { methodTable } from '../../src/actor/dispatch/method-table.ts';
import { countRefusal, isRefusalAffordable } from '../../src/actor/dispatch/refused-calls.ts';
import type { ApiKeyArgument } from '../../src/actor/messages/api-key-arguments.ts';
import { saveBudget } from '../../src/domain/rights/budgets.ts';
import type { Call } from '../../src/domain/shared/caller.ts';
import { Refusal, type RefusalCode } from '../../src/domain/shared/refusal.ts';
import type { Stores } from '../../src/domain/shared/stores.ts';
import { callOf, createScene } from '../support/domain-fixture.ts';

const runtime = vi.hoisted(() => ({ stores: {} }));
vi.mock('../../src/actor/runtime/runtime.ts', () => runtime);
vi.mock('../../src/actor/runtime/system.ts', () => ({ time: () => 0n }));

/** Whether an update that is refused with the code uses up a budget of one refusal. */
async function isCharged(method: string, code: RefusalCode, isPaid = false): Promise<boolean> {
  const { stores } = await createScene();
  Object.assign(runtime.stores, stores);
  saveBudget(stores, 'refusals', { burst: 1, perMinute: 0 });
  const refused = { method, charge: { bytes: 100_000, isInspected: false, isPaid } };
  countRefusal(refused, { err: `${code}: some reason.` });
  return !isRefusalAffordable(refused, code);
}

test.each<[string, RefusalCode]>([
  ['deleteFile', 'NoSuchBucket'],
  ['uploadFileChunkIndexed', 'UploadCancelled'],
  ['createApiKey', 'InvalidArgument'],
])('countRefusal charges the budget for %s refused with %s', async (method, code) => {
  expect(await isCharged(method, code)).toBe(true);
  expect(await isCharged(method, code, true), 'a key has paid').toBe(false);
});

test('countRefusal charges the budget for a key that is not valid, although it has paid', async () => {
  expect(await isCharged('uploadFile', 'InvalidApiKey', true)).toBe(true);
});

test.each<RefusalCode>(['QuotaExceeded', 'ServiceUnavailable'])(
  'countRefusal charges nothing for an upload refused with %s after its right',
  async (code) => {
    expect(await isCharged('uploadFile', code)).toBe(false);
  },
);

test.each([
  ['no bucket', { buckets: [] }],
  ['a long name', { name: 'a'.repeat(65) }],
])('createApiKey refuses a stranger who names %s, and charges the budget', async (_, change) => {
  const { stores } = await createScene();
  const none = {
    prefix: [],
    expiresAt: [],
    updatesPerHour: [],
    bytesPerHour: [],
    maxFileBytes: [],
    maxFiles: [],
  };
  const argument = { ...none, name: '', buckets: ['box'], permissions: ['read'], ...change };
  const admit = methodTable.createApiKey?.admit as (
    caller: { readonly stores: Stores; readonly call: Call },
    argument: ApiKeyArgument,
  ) => void;
  const refusal = refusalOf(() => {
    admit({ stores, call: callOf('bob') }, argument as ApiKeyArgument);
  });
  expect(await isCharged('createApiKey', refusal.code)).toBe(true);
});

function refusalOf(work: () => void): Refusal {
  try {
    work();
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
  return expect.fail('the call was accepted');
}
