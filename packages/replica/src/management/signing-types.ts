// Candid types of the methods that sign. IC spec, from "IC method ecdsa_public_key" on.

import { IDL } from '@dfinity/candid';
import type { Principal } from '@dfinity/principal';
import type { Opt } from './opt.ts';

const blob = IDL.Vec(IDL.Nat8);
const ecdsaKeyId = IDL.Record({ curve: IDL.Variant({ secp256k1: IDL.Null }), name: IDL.Text });
const schnorrKeyId = IDL.Record({
  algorithm: IDL.Variant({ bip340secp256k1: IDL.Null, ed25519: IDL.Null }),
  name: IDL.Text,
});
const publicKeyOf = { canister_id: IDL.Opt(IDL.Principal), derivation_path: IDL.Vec(blob) };
const extendedPublicKey = IDL.Record({ public_key: blob, chain_code: blob });
const taproot = IDL.Variant({ bip341: IDL.Record({ merkle_root_hash: blob }) });

export const signingTypes = {
  ecdsa_public_key: {
    argument: [IDL.Record({ ...publicKeyOf, key_id: ecdsaKeyId })],
    result: [extendedPublicKey],
  },
  sign_with_ecdsa: {
    argument: [
      IDL.Record({ message_hash: blob, derivation_path: IDL.Vec(blob), key_id: ecdsaKeyId }),
    ],
    result: [IDL.Record({ signature: blob })],
  },
  schnorr_public_key: {
    argument: [IDL.Record({ ...publicKeyOf, key_id: schnorrKeyId })],
    result: [extendedPublicKey],
  },
  sign_with_schnorr: {
    argument: [
      IDL.Record({
        message: blob,
        derivation_path: IDL.Vec(blob),
        key_id: schnorrKeyId,
        aux: IDL.Opt(taproot),
      }),
    ],
    result: [IDL.Record({ signature: blob })],
  },
};

interface KeyArgument {
  readonly derivation_path: readonly Uint8Array[];
  readonly key_id: { readonly name: string };
}

interface SchnorrKeyArgument {
  readonly key_id: {
    readonly algorithm: { readonly bip340secp256k1: null } | { readonly ed25519: null };
  };
}

export interface SigningArguments {
  readonly ecdsa_public_key: KeyArgument & { readonly canister_id: Opt<Principal> };
  readonly sign_with_ecdsa: KeyArgument & { readonly message_hash: Uint8Array };
  readonly schnorr_public_key: KeyArgument &
    SchnorrKeyArgument & { readonly canister_id: Opt<Principal> };
  readonly sign_with_schnorr: KeyArgument &
    SchnorrKeyArgument & {
      readonly message: Uint8Array;
      readonly aux: Opt<{ readonly bip341: { readonly merkle_root_hash: Uint8Array } }>;
    };
}
