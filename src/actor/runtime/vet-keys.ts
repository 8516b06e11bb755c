// Keys that the network derives (vetKD). A canister asks the management canister. On a cloud
// engine, which has no vetKD, it asks a proxy canister of another subnet, which pays. The proxy
// puts one byte with the length of this canister's id, and the id, before the context, so that each
// caller gets keys of its own; and the network derives from the proxy's id. IC spec, "IC method
// vetkd_derive_key"; `dfinity/icskills` skills/cloud-engine-canisters.

import { IDL } from '@dfinity/candid';
import { Principal } from '@dfinity/principal';
import { call } from 'azle';
import { derivationCycles } from '../../storage/stable-space.ts';
import { managementCanister } from './management.ts';

const Blob = IDL.Vec(IDL.Nat8);
const KeyId = IDL.Record({ curve: IDL.Variant({ bls12_381_g2: IDL.Null }), name: IDL.Text });
const DeriveKey = IDL.Record({
  input: Blob,
  context: Blob,
  transport_public_key: Blob,
  key_id: KeyId,
});
const DerivedKey = IDL.Record({ encrypted_key: Blob });
const KeyPath = IDL.Record({ canister_id: IDL.Opt(IDL.Principal), context: Blob, key_id: KeyId });
const PublicKey = IDL.Record({ public_key: Blob });
const ProxyCall = IDL.Record({
  canister_id: IDL.Principal,
  method: IDL.Text,
  args: Blob,
  cycles: IDL.Nat,
});
const ProxyFault = IDL.Variant({
  InsufficientCycles: IDL.Record({ available: IDL.Nat, required: IDL.Nat }),
  CallFailed: IDL.Record({ reason: IDL.Text }),
  UnauthorizedUser: IDL.Null,
});
const ProxyResult = IDL.Variant({ Ok: IDL.Record({ result: Blob }), Err: ProxyFault });

type ProxyAnswer =
  | { readonly Ok: { readonly result: Uint8Array } }
  | {
      readonly Err:
        | { readonly InsufficientCycles: { readonly available: bigint; readonly required: bigint } }
        | { readonly CallFailed: { readonly reason: string } }
        | { readonly UnauthorizedUser: null };
    };

/**
 * Cycles that a proxy attaches to a derivation: more than the most expensive key costs, because the
 * network reports a cost of 0 to a canister that is charged nothing. The rest returns to the proxy.
 */
const proxiedCycles = 30_000_000_000n;
const systemFatal = 1;
const destinationInvalid = 3;

export interface VetKeyPath {
  readonly keyName: string;
  /** The canister that asks the network; '' for this one. */
  readonly proxy: string;
  readonly context: Uint8Array;
}

export interface VetKeyRequest extends VetKeyPath {
  readonly input: Uint8Array;
  readonly transportPublicKey: Uint8Array;
}

/** Returns 192 bytes, see decryptVetKey(). */
export async function fetchEncryptedKey(request: VetKeyRequest): Promise<Uint8Array> {
  const { input, context, transportPublicKey, keyName, proxy } = request;
  const reply = await ask<{ encrypted_key: Uint8Array }>(proxy, {
    method: 'vetkd_derive_key',
    type: DeriveKey,
    value: { input, context, transport_public_key: transportPublicKey, key_id: keyId(keyName) },
    result: DerivedKey,
    cycles: proxy === '' ? BigInt(derivationCycles(keyName)) : proxiedCycles,
  });
  return reply.encrypted_key;
}

/** Returns the public key of the same path, 96 bytes. */
export async function fetchDerivedPublicKey(path: VetKeyPath): Promise<Uint8Array> {
  const { keyName, context, proxy } = path;
  const reply = await ask<{ public_key: Uint8Array }>(proxy, {
    method: 'vetkd_public_key',
    type: KeyPath,
    value: { canister_id: [], context, key_id: keyId(keyName) },
    result: PublicKey,
    cycles: 0n,
  });
  return reply.public_key;
}

function keyId(name: string) {
  return { curve: { bls12_381_g2: null }, name };
}

interface Question {
  readonly method: string;
  readonly type: IDL.Type;
  readonly value: object;
  readonly result: IDL.Type;
  readonly cycles: bigint;
}

async function ask<T>(proxy: string, question: Question): Promise<T> {
  const { method, type, value, result, cycles } = question;
  if (proxy === '') {
    return call<[object], T>(managementCanister, method, {
      paramIdlTypes: [type],
      returnIdlType: result,
      args: [value],
      cycles,
    });
  }
  const args = new Uint8Array(IDL.encode([type], [value]));
  const canister_id = Principal.managementCanister();
  const answer = await call<[object], ProxyAnswer>(proxy, 'proxy', {
    paramIdlTypes: [ProxyCall],
    returnIdlType: ProxyResult,
    args: [{ canister_id, method, args, cycles }],
  });
  if ('Err' in answer) throw new ProxyFailure(proxy, wordsOf(answer.Err));
  return IDL.decode([result], answer.Ok.result)[0] as T;
}

/** The proxy has not passed the call on, or the network has rejected it. */
class ProxyFailure extends Error {
  readonly rejectMessage: string;

  constructor(proxy: string, words: string) {
    super(`the proxy canister ${proxy} ${words}`);
    this.rejectMessage = this.message;
  }
}

function wordsOf(fault: Extract<ProxyAnswer, { readonly Err: unknown }>['Err']): string {
  if ('CallFailed' in fault) return `reports that the call has failed: ${fault.CallFailed.reason}`;
  if ('UnauthorizedUser' in fault) {
    return 'refuses this canister: use the proxy of this cloud engine, or make the canister its controller';
  }
  const { available, required } = fault.InsufficientCycles;
  return `has ${available} cycles, but the call takes ${required}: top it up`;
}

/** Whether the network has no key of that name for canisters; no other failure has this text. */
export function isUnknownKey(error: unknown): boolean {
  const { rejectCode, rejectMessage = '' } = error as Rejection;
  const isRejected = rejectCode === destinationInvalid || error instanceof ProxyFailure;
  return isRejected && /unknown or disabled threshold key/.test(rejectMessage);
}

/** Whether this canister is on a cloud engine, whose boundary the call may not cross. */
export function isBeyondEngine(error: unknown): boolean {
  const { rejectCode, rejectMessage = '' } = error as Rejection;
  return rejectCode === systemFatal && /not allowed to CloudEngine subnets/.test(rejectMessage);
}

interface Rejection {
  readonly rejectCode?: number;
  readonly rejectMessage?: string;
}
