// Management methods that provide secrets to canisters: randomness and vetKeys.

import type { ManagementCall, Reject } from '../core.ts';
import type { Arguments } from './candid-types.ts';
import {
  type Done,
  type Handlers,
  keyFeeFor,
  type ManagementOptions,
  type Parts,
} from './handlers.ts';
import { refused, unknownKey } from './rejects.ts';

const scheme = 'vetkd:Bls12_381_G2';

export function secretMethods({
  options,
}: Parts): Handlers<'raw_rand' | 'vetkd_public_key' | 'vetkd_derive_key'> {
  return {
    raw_rand: () => ({ value: options.random() }),
    vetkd_public_key: (argument, call) => publicKey(options, { argument, call }),
    vetkd_derive_key: (argument, call) => deriveKey(options, { argument, call }),
  };
}

function publicKey(
  { vetKeys }: ManagementOptions,
  request: { readonly argument: Arguments['vetkd_public_key']; readonly call: ManagementCall },
): Done | Reject {
  const { canister_id: id, context } = request.argument;
  const keyName = request.argument.key_id.name;
  if (vetKeys.fee(keyName) === undefined) return unknownKey(scheme, keyName, vetKeys.keyNames);
  const canisterId = (id[0] ?? request.call.caller).toUint8Array();
  return { value: { public_key: vetKeys.publicKey({ keyName, canisterId, context }) } };
}

function deriveKey(
  options: ManagementOptions,
  request: { readonly argument: Arguments['vetkd_derive_key']; readonly call: ManagementCall },
): Done | Reject {
  const { vetKeys, random } = options;
  const { input, context, transport_public_key: transportPublicKey } = request.argument;
  const { caller, cycles } = request.call;
  const keyName = request.argument.key_id.name;
  const price = vetKeys.fee(keyName);
  if (price === undefined) return unknownKey(scheme, keyName, vetKeys.keyNames);
  const fee = keyFeeFor(options, price);
  if (cycles < fee) {
    const amounts = `${cycles} cycles, but ${fee} cycles are required`;
    return refused(`vetkd_derive_key request sent with ${amounts}.`);
  }
  const canisterId = caller.toUint8Array();
  const path = { keyName, canisterId, context, input };
  const encrypted = vetKeys.encryptedKey({ ...path, transportPublicKey, random: random() });
  if (encrypted === undefined) return refused('vetkd_derive_key: invalid transport public key');
  return { value: { encrypted_key: encrypted }, keptCycles: fee };
}
