// The right to call each method, the results of unknown and malformed calls, and the effective
// canister id.

import { IDL } from '@dfinity/candid';
import { Principal } from '@dfinity/principal';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { effectiveCanisterId } from '../../../packages/replica/src/management/access.ts';
import { methodTypes } from '../../../packages/replica/src/management/candid-types.ts';
import { about, createFixture, encode, owner, rejected, stranger } from './management-fixture.ts';

const controllersOnly = [
  'update_settings',
  'install_code',
  'start_canister',
  'stop_canister',
  'delete_canister',
  'uninstall_code',
];
const controllersOrSelf = ['canister_status', 'upload_chunk', 'stored_chunks', 'clear_chunk_store'];
const canistersOnly = [
  'create_canister',
  'raw_rand',
  'deposit_cycles',
  'vetkd_public_key',
  'vetkd_derive_key',
  'ecdsa_public_key',
  'sign_with_ecdsa',
  'schnorr_public_key',
  'sign_with_schnorr',
];
const garbage = new TextEncoder().encode('DIDL garbage');

describe('ingress', () => {
  test.each(canistersOnly)('%s is for canisters only', async (method) => {
    const { management, call, newCanister } = createFixture();
    const arg = about(newCanister());
    const reject = management.checkIngress({ caller: owner, method, arg });
    expect(reject).toMatchObject({
      code: 4,
      errorCode: 'IC0406',
      message: `ic00 method ${method} can not be called via ingress messages`,
    });
    expect(rejected(await call(method, arg))).toEqual(reject);
  });

  test.each([...controllersOnly, ...controllersOrSelf])('%s is for controllers', (method) => {
    const { management, newCanister } = createFixture();
    const id = newCanister();
    expect(management.checkIngress({ caller: owner, method, arg: about(id) })).toBeUndefined();
    const foreign = [stranger, Principal.anonymous()];
    for (const caller of foreign) {
      expect(management.checkIngress({ caller, method, arg: about(id) })).toMatchObject({
        code: 5,
        errorCode: 'IC0512',
        message: `Only controllers of canister ${id.toText()} can call ic00 method ${method}`,
      });
    }
  });

  test('install_chunked_code is for controllers of the target', () => {
    const { management, newCanister } = createFixture();
    const arg = encode(IDL.Record({ target_canister: IDL.Principal }), {
      target_canister: newCanister(),
    });
    const method = 'install_chunked_code';
    expect(management.checkIngress({ caller: owner, method, arg })).toBeUndefined();
    expect(management.checkIngress({ caller: stranger, method, arg })?.errorCode).toBe('IC0512');
  });

  test('anyone may create a canister provisionally and top one up', () => {
    const { management, newCanister } = createFixture();
    const caller = Principal.anonymous();
    const create = { caller, method: 'provisional_create_canister_with_cycles', arg: garbage };
    expect(management.checkIngress(create)).toBeUndefined();
    const topUp = { caller, method: 'provisional_top_up_canister', arg: about(newCanister()) };
    expect(management.checkIngress(topUp)).toBeUndefined();
  });
});

describe('calls from canisters', () => {
  test.each(controllersOrSelf)('%s is open to the canister itself', async (method) => {
    const { call, newCanister } = createFixture();
    const id = newCanister();
    const result = await call(method, about(id), { caller: id, fromCanister: true });
    // upload_chunk lacks its chunk here: access was allowed, and the argument was invalid.
    if (result.outcome.status === 'rejected') expect(result.outcome.errorCode).toBe('IC0408');
    else expect(method).not.toBe('upload_chunk');
  });

  test.each(controllersOnly)('%s is closed to the canister itself', async (method) => {
    const { call, newCanister } = createFixture();
    const id = newCanister();
    const result = await call(method, about(id), { caller: id, fromCanister: true, cycles: 8n });
    expect(rejected(result).errorCode).toBe('IC0512');
    expect(result.refundedCycles).toBe(8n);
  });
});

describe('invalid calls', () => {
  test('an unknown method is reported by name, and an unsupported one as such', async () => {
    const { call, management } = createFixture();
    const unknown = rejected(await call('toString', garbage));
    expect(unknown.message).toBe("Management canister has no method 'toString'");
    const absent = { caller: owner, method: 'bitcoin_get_utxos', arg: garbage };
    expect(management.checkIngress(absent)?.message).toMatch(/local replica does not offer/);
  });

  test('a missing canister is named in the reject', async () => {
    const { call } = createFixture();
    const reject = rejected(await call('start_canister', about(stranger)));
    expect(reject).toMatchObject({ code: 3, errorCode: 'IC0301' });
    expect(reject.message).toBe(`Canister ${stranger.toText()} not found`);
  });

  test('malformed arguments are rejected with the reason, and all cycles are returned', async () => {
    const { call } = createFixture();
    for (const method of Object.keys(methodTypes)) {
      const isQuery = method === 'fetch_canister_logs';
      const options = { caller: owner, fromCanister: true, cycles: 10n ** 13n, isQuery };
      const result = await call(method, garbage, options);
      expect(rejected(result)).toMatchObject({ code: 4, errorCode: 'IC0408' });
      expect(rejected(result).message).toContain(`payload for ic00 method ${method}`);
      expect(result.refundedCycles).toBe(10n ** 13n);
    }
  });

  test('random bytes never throw', async () => {
    const { call, management, newCanister } = createFixture();
    const prefix = about(newCanister());
    const method = fc.constantFrom(...Object.keys(methodTypes), 'nothing');
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 60 }),
      fc.uint8Array({ maxLength: 8 }).map((tail) => Uint8Array.of(68, 73, 68, 76, ...tail)),
      fc.nat(prefix.length).map((length) => prefix.subarray(0, length)),
    );
    await fc.assert(
      fc.asyncProperty(method, bytes, fc.boolean(), async (name, arg, fromCanister) => {
        management.checkIngress({ caller: owner, method: name, arg });
        effectiveCanisterId(name, arg);
        await call(name, arg, { caller: owner, fromCanister });
      }),
      { numRuns: 500 },
    );
  });
});

describe('effectiveCanisterId()', () => {
  test('is the canister that the call concerns', () => {
    for (const method of [...controllersOnly, ...controllersOrSelf]) {
      expect(effectiveCanisterId(method, about(stranger))?.toText()).toBe(stranger.toText());
    }
    const target = encode(IDL.Record({ target_canister: IDL.Principal }), {
      target_canister: owner,
    });
    expect(effectiveCanisterId('install_chunked_code', target)?.toText()).toBe(owner.toText());
  });

  test('is absent for creation, unknown methods and malformed arguments', () => {
    const arg = about(stranger);
    expect(effectiveCanisterId('provisional_create_canister_with_cycles', arg)).toBeUndefined();
    expect(effectiveCanisterId('nothing', arg)).toBeUndefined();
    expect(effectiveCanisterId('start_canister', garbage)).toBeUndefined();
  });
});
