// Calls to the network: random bytes and vetKD keys. IC spec, "The IC management canister".

import { IDL } from '@dfinity/candid';
import type { Principal } from '@dfinity/principal';
import { call, canisterSelf } from 'azle';
import { derivationCycles } from '../../storage/stable-space.ts';

const managementCanister = 'aaaaa-aa';
const Blob = IDL.Vec(IDL.Nat8);
const KeyId = IDL.Record({ curve: IDL.Variant({ bls12_381_g2: IDL.Null }), name: IDL.Text });
const DeriveKey = IDL.Record({
  input: Blob,
  context: Blob,
  transport_public_key: Blob,
  key_id: KeyId,
});
const PublicKey = IDL.Record({ canister_id: IDL.Opt(IDL.Principal), context: Blob, key_id: KeyId });

const destinationInvalid = 3;

export interface VetKeyPath {
  readonly keyName: string;
  readonly context: Uint8Array;
}

export interface VetKeyRequest extends VetKeyPath {
  readonly input: Uint8Array;
  readonly transportPublicKey: Uint8Array;
}

/** Returns 32 bytes. */
export function fetchRandom(): Promise<Uint8Array> {
  return call<[], Uint8Array>(managementCanister, 'raw_rand', { returnIdlType: Blob });
}

/** Returns 192 bytes, see decryptVetKey(). */
export async function fetchEncryptedKey(request: VetKeyRequest): Promise<Uint8Array> {
  const { input, context, transportPublicKey, keyName } = request;
  const argument = { input, context, transport_public_key: transportPublicKey };
  const reply = await call<[object], { encrypted_key: Uint8Array }>(
    managementCanister,
    'vetkd_derive_key',
    {
      paramIdlTypes: [DeriveKey],
      returnIdlType: IDL.Record({ encrypted_key: Blob }),
      args: [{ ...argument, key_id: keyId(keyName) }],
      cycles: BigInt(derivationCycles(keyName)),
    },
  );
  return reply.encrypted_key;
}

/** Returns this canister's public key for the context, 96 bytes. */
export async function fetchDerivedPublicKey({ keyName, context }: VetKeyPath): Promise<Uint8Array> {
  const reply = await call<[object], { public_key: Uint8Array }>(
    managementCanister,
    'vetkd_public_key',
    {
      paramIdlTypes: [PublicKey],
      returnIdlType: IDL.Record({ public_key: Blob }),
      args: [{ canister_id: [], context, key_id: keyId(keyName) }],
    },
  );
  return reply.public_key;
}

function keyId(name: string) {
  return { curve: { bls12_381_g2: null }, name };
}

/** Sends cycles of this canister to another one; all come back if that does not exist. */
export function depositCycles(canister: Principal, cycles: bigint): Promise<void> {
  return call<[object], void>(managementCanister, 'deposit_cycles', {
    paramIdlTypes: [IDL.Record({ canister_id: IDL.Principal })],
    args: [{ canister_id: canister }],
    cycles,
  });
}

/**
 * Returns the cycles of this canister that the network keeps for the price of its growth, because
 * its subnet has more than 750 GiB of state.
 */
export async function fetchReservedCycles(): Promise<bigint> {
  const status = await call<[object], { reserved_cycles: bigint }>(
    managementCanister,
    'canister_status',
    {
      paramIdlTypes: [IDL.Record({ canister_id: IDL.Principal })],
      returnIdlType: IDL.Record({ reserved_cycles: IDL.Nat }),
      args: [{ canister_id: canisterSelf() }],
    },
  );
  return status.reserved_cycles;
}

/** Whether the network has no key of that name for canisters; no other failure has this text. */
export function isUnknownKey(error: unknown): boolean {
  const { rejectCode, rejectMessage } = error as { rejectCode?: number; rejectMessage?: string };
  return (
    rejectCode === destinationInvalid &&
    /unknown or disabled threshold key/.test(rejectMessage ?? '')
  );
}

/**
 * Whether a call was certainly not executed, or its effects were undone: it could not be sent, or
 * the system or a trap rejected it. Only for methods that await nothing after their first write.
 * IC spec, "Reject codes".
 */
export function isWithoutEffect(error: unknown): boolean {
  const { type, rejectCode } = error as { type?: string; rejectCode?: number };
  const isUnsent = type === 'CallPerformFailed' || type === 'InsufficientLiquidCycleBalance';
  return isUnsent || [1, 2, 3, 5].includes(rejectCode ?? 0);
}

/** Whether the error is that of a cleanup: the callback trapped, and the message is over. */
export function isCleanup(error: unknown): boolean {
  return (error as { type?: string }).type === 'CleanupCallback';
}

export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : 'unknown';
}
