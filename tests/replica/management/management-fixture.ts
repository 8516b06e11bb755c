// The management canister on the fake engine, and calls to it with the types of the interface
// specification.

import { IDL } from '@dfinity/candid';
import { Principal } from '@dfinity/principal';
import type { ManagementResult, Reject } from '../../../packages/replica/src/core.ts';
import { createManagement } from '../../../packages/replica/src/management/management.ts';
import { createSigningKeys } from '../../../packages/replica/src/management/signing-keys.ts';
import { createVetKeys } from '../../../packages/replica/src/management/vetkd.ts';
import { createFakeLifecycle } from './fake-lifecycle.ts';

export const owner = Principal.fromText('rwlgt-iiaaa-aaaaa-aaaaa-cai');
export const stranger = Principal.fromText('rrkah-fqaaa-aaaaa-aaaaq-cai');
export const blob = IDL.Vec(IDL.Nat8);
export const canisterRecord = IDL.Record({ canister_id: IDL.Principal });
export const installMode = IDL.Variant({
  install: IDL.Null,
  reinstall: IDL.Null,
  upgrade: IDL.Opt(
    IDL.Record({
      skip_pre_upgrade: IDL.Opt(IDL.Bool),
      wasm_memory_persistence: IDL.Opt(IDL.Variant({ keep: IDL.Null, replace: IDL.Null })),
    }),
  ),
});
export const installRecord = IDL.Record({
  mode: installMode,
  canister_id: IDL.Principal,
  wasm_module: blob,
  arg: blob,
});
export const vetKeyId = IDL.Record({
  curve: IDL.Variant({ bls12_381_g2: IDL.Null }),
  name: IDL.Text,
});

export interface CallOptions {
  readonly caller?: Principal;
  readonly fromCanister?: boolean;
  readonly cycles?: bigint;
  readonly isQuery?: boolean;
}

export function createFixture() {
  const lifecycle = createFakeLifecycle();
  const vetKeys = createVetKeys(new Uint8Array(32).fill(1));
  const signingKeys = createSigningKeys(new Uint8Array(32).fill(2));
  let count = 0;
  const random = () => {
    count += 1;
    return new Uint8Array(32).fill(count);
  };
  const management = createManagement(lifecycle, { random, vetKeys, signingKeys });

  function call(method: string, arg: Uint8Array, options: CallOptions = {}) {
    const { caller = owner, fromCanister = false, cycles = 0n, isQuery = false } = options;
    return management.execute({ caller, fromCanister, method, arg, cycles, isQuery });
  }

  /** Creates a canister of `owner`. */
  function newCanister(): Principal {
    const made = lifecycle.create({ controllers: [owner], cycles: 5n });
    if (!(made instanceof Principal)) throw new Error('the fake engine refused');
    return made;
  }

  return { lifecycle, vetKeys, signingKeys, management, call, newCanister };
}

export function encode(type: IDL.Type, value: unknown): Uint8Array {
  return new Uint8Array(IDL.encode([type], [value]));
}

export function about(canisterId: Principal): Uint8Array {
  return encode(canisterRecord, { canister_id: canisterId });
}

/** Returns the reply's value; fails on a reject. */
export function replied(type: IDL.Type, result: ManagementResult): unknown {
  if (result.outcome.status === 'rejected') throw new Error(result.outcome.message);
  return IDL.decode([type], result.outcome.arg)[0];
}

export function rejected(result: ManagementResult): Reject {
  if (result.outcome.status !== 'rejected') throw new Error('the call was not rejected');
  return result.outcome;
}
