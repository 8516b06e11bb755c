// The price of ingress messages to the management canister, which the canister that they concern
// pays. Interface specification, "Request: Call"; rs/cycles_account_manager,
// ingress_induction_cost.

import type { Principal } from '@dfinity/principal';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startReplica } from '../../../packages/replica/src/index.ts';
import type { MethodName } from '../../../packages/replica/src/management/candid-types.ts';
import type { Replica } from '../../../packages/replica/src/replica.ts';
import { canister } from '../../support/wasm-canisters/text-module.ts';
import { alice, argumentOf, manage } from './management-client.ts';

const million = 1_000_000n;
const module = canister([], '(func (export "canister_init"))');
let replica: Replica;
beforeAll(async () => {
  replica = await startReplica({ server: false, now: () => 1_800_000_000_000_000_000n });
});
afterAll(() => replica.stop());

const create = (cycles: bigint) => replica.createCanister({ controllers: [alice], cycles });

function balanceOf(id: Principal): bigint {
  const found = replica.canisters().find((one) => one.id.compareTo(id) === 'eq');
  return found?.cycles ?? 0n;
}

function priceOf(method: MethodName, value: unknown): bigint {
  return 1_200_000n + 2_000n * BigInt(method.length + argumentOf(method, value).length);
}

describe('ingress to the management canister', () => {
  it.each(['start_canister', 'canister_status'] as const)(
    '%s is paid by its canister',
    async (method) => {
      const id = await create(10n ** 12n);
      await manage(replica, method, { canister_id: id });
      expect(10n ** 12n - balanceOf(id)).toBe(priceOf(method, { canister_id: id }));
    },
  );

  it('install_code costs 2,000 cycles for each byte of the module', async () => {
    const id = await create(10n ** 12n);
    const fields = { mode: { install: null }, canister_id: id, arg: new Uint8Array() };
    const padded = new Uint8Array(100_000);
    padded.set(module);
    await expect(
      manage(replica, 'install_code', { ...fields, wasm_module: padded }),
    ).rejects.toThrow(/not valid/);
    const price = priceOf('install_code', { ...fields, wasm_module: padded });
    expect(price).toBeGreaterThan(200n * million);
    const left = 10n ** 12n - balanceOf(id) - price;
    // Besides the ingress, only the message of the refused installation is charged.
    expect(left).toBeLessThan(10n * million);
    expect(left).toBeGreaterThanOrEqual(0n);
  });

  it('install_code is refused at submission if the balance does not cover it', async () => {
    const id = await create(0n);
    const value = { mode: { install: null }, canister_id: id, wasm_module: module, arg: [] };
    await expect(manage(replica, 'install_code', value)).rejects.toMatchObject({
      errorCode: 'IC0207',
      message: `Canister ${id.toText()} is out of cycles: please top up the canister with at least ${priceOf(
        'install_code',
        value,
      )} additional cycles`,
    });
  });

  it('update_settings is paid afterwards if it is small, so that it can unfreeze', async () => {
    const id = await create(10n ** 12n);
    const frozen = { canister_id: id, settings: { freezing_threshold: 10n ** 12n } };
    await replica.install(id, module, undefined, { sender: alice });
    const before = balanceOf(id);
    await manage(replica, 'update_settings', frozen);
    expect(before - balanceOf(id)).toBe(priceOf('update_settings', frozen));
    await expect(manage(replica, 'start_canister', { canister_id: id })).rejects.toMatchObject({
      errorCode: 'IC0207',
    });
    const thawed = { canister_id: id, settings: { freezing_threshold: 0n } };
    await manage(replica, 'update_settings', thawed);
    await manage(replica, 'start_canister', { canister_id: id });
  });

  it('provisional_top_up_canister is free', async () => {
    const id = await create(0n);
    await manage(replica, 'provisional_top_up_canister', { canister_id: id, amount: 7n });
    expect(balanceOf(id)).toBe(7n);
  });
});
