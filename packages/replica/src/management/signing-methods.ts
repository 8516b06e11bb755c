// Management methods that sign for canisters: ECDSA and Schnorr. IC spec, "IC method
// sign_with_ecdsa", "IC method sign_with_schnorr" and those of their public keys.

import type { Principal } from '@dfinity/principal';
import type { ManagementCall, Reject } from '../core.ts';
import { thresholdKeyCycles } from '../execution/prices.ts';
import type { Arguments } from './candid-types.ts';
import {
  type Done,
  type Handlers,
  keyFeeFor,
  type ManagementOptions,
  type Parts,
} from './handlers.ts';
import type { Opt } from './opt.ts';
import { malformedArgument, refused, unknownKey } from './rejects.ts';
import type { SigningKeyPath, SigningScheme } from './signing-keys.ts';

type SigningMethod =
  | 'ecdsa_public_key'
  | 'sign_with_ecdsa'
  | 'schnorr_public_key'
  | 'sign_with_schnorr';

/** Maximum number of byte strings in a derivation path; the canister's id precedes them. */
const pathMax = 255;
const hashBytes = 32;

export function signingMethods({ options }: Parts): Handlers<SigningMethod> {
  return {
    ecdsa_public_key: (argument, call) =>
      publicKey(options, call, { ...argument, scheme: 'ecdsa:Secp256k1' }),
    schnorr_public_key: (argument, call) =>
      publicKey(options, call, { ...argument, scheme: schemeOf(argument.key_id) }),
    sign_with_ecdsa: (argument, call) => {
      const { length } = argument.message_hash;
      if (length !== hashBytes) {
        const reason = `message_hash must have ${hashBytes} bytes, not ${length}`;
        return malformedArgument(call.method, reason);
      }
      const message = argument.message_hash;
      return sign(options, call, { ...argument, scheme: 'ecdsa:Secp256k1', message });
    },
    sign_with_schnorr: (argument, call) => {
      const scheme = schemeOf(argument.key_id);
      const taprootRoot = argument.aux[0]?.bip341.merkle_root_hash;
      return (
        refuseTaproot(scheme, taprootRoot) ??
        sign(options, call, { ...argument, scheme, taprootRoot })
      );
    },
  };
}

function schemeOf({ algorithm }: Arguments['schnorr_public_key']['key_id']): SigningScheme {
  return 'ed25519' in algorithm ? 'schnorr:Ed25519' : 'schnorr:Bip340Secp256k1';
}

function refuseTaproot(scheme: SigningScheme, root: Uint8Array | undefined): Reject | undefined {
  if (root === undefined) return undefined;
  if (scheme !== 'schnorr:Bip340Secp256k1') {
    return refused('sign_with_schnorr: aux bip341 is only for algorithm bip340secp256k1');
  }
  if (root.length === 0 || root.length === hashBytes) return undefined;
  const wanted = `must have 0 or ${hashBytes} bytes, not ${root.length}`;
  return refused(`sign_with_schnorr: merkle_root_hash ${wanted}`);
}

interface KeyArgument {
  readonly scheme: SigningScheme;
  readonly derivation_path: readonly Uint8Array[];
  readonly key_id: { readonly name: string };
}

/** Returns the key of the caller, or of another canister if its public key is requested. */
function keyPath(
  { signingKeys }: ManagementOptions,
  { caller, method }: ManagementCall,
  argument: KeyArgument & { readonly canister_id?: Opt<Principal> },
): SigningKeyPath | Reject {
  const { scheme, derivation_path: path, key_id: keyId } = argument;
  if (path.length > pathMax) {
    const reason = `derivation_path has at most ${pathMax} byte strings, not ${path.length}`;
    return malformedArgument(method, reason);
  }
  const { keyNames } = signingKeys;
  if (!keyNames.includes(keyId.name)) return unknownKey(scheme, keyId.name, keyNames);
  const canisterId = (argument.canister_id?.[0] ?? caller).toUint8Array();
  return { scheme, keyName: keyId.name, canisterId, path };
}

function publicKey(
  options: ManagementOptions,
  call: ManagementCall,
  argument: KeyArgument & { readonly canister_id: Opt<Principal> },
): Done | Reject {
  const path = keyPath(options, call, argument);
  if ('status' in path) return path;
  const key = options.signingKeys.publicKey(path);
  return { value: { public_key: key.publicKey, chain_code: key.chainCode } };
}

function sign(
  options: ManagementOptions,
  call: ManagementCall,
  argument: KeyArgument & {
    readonly message: Uint8Array;
    readonly taprootRoot?: Uint8Array | undefined;
  },
): Done | Reject {
  const { cycles, method } = call;
  const path = keyPath(options, call, argument);
  if ('status' in path) return path;
  // Every known key has a price, and `keyPath` has refused unknown ones.
  const fee = keyFeeFor(options, thresholdKeyCycles(path.keyName) ?? 0n);
  if (cycles < fee) {
    const amounts = `${cycles} cycles, but ${fee} cycles are required`;
    return refused(`${method} request sent with ${amounts}.`);
  }
  const { message, taprootRoot } = argument;
  const request = { ...path, message, taprootRoot, random: options.random() };
  return { value: { signature: options.signingKeys.sign(request) }, keptCycles: fee };
}
