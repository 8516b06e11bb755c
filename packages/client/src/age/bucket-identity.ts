// The age identity of a bucket's epoch. The network derives the same vetKey for every member for
// whom the canister requests it, and each member's client derives the identity from the vetKey.
//
//   vetKey      of the canister, context "encrypted-file-storage/bucket-identity/v1",
//               input = the bucket's serial (8 bytes) | the epoch (4 bytes), both big-endian.
//               If a proxy asks the network for the canister: of the proxy, context = the length of
//               the canister's id (1 byte) | the id | the same context
//   X25519 secret = HKDF-SHA-256(secret: the vetKey, 48 bytes; salt: the context; info:
//               "age-identity"; 32 bytes), written as AGE-SECRET-KEY-1…
//   key of names  HKDF-SHA-256(secret: the vetKey of epoch 1; salt: the context; info:
//               "sealed-names"; 64 bytes), the same in every epoch

import type { DerivedPublicKey, MasterPublicKey } from '@dfinity/vetkeys';
import { bech32 } from '@scure/base';
import { identityToRecipient } from 'age-encryption';
import type { SealedIdentity } from '../operations/administration.ts';
import { StorageError } from '../storage-error.ts';
import { deriveBytes } from './payload.ts';

const identityContext = new TextEncoder().encode('encrypted-file-storage/bucket-identity/v1');

export interface EpochName {
  readonly serial: string;
  readonly epoch: number;
}

export interface BucketIdentity {
  /** `AGE-SECRET-KEY-1…`. */
  readonly identity: string;
  /** `age1…`. */
  readonly recipient: string;
}

function derivationInput({ serial, epoch }: EpochName): Uint8Array {
  const input = new DataView(new ArrayBuffer(12));
  input.setBigUint64(0, BigInt(serial));
  input.setUint32(8, epoch);
  return new Uint8Array(input.buffer);
}

export async function identityOf(vetKey: Uint8Array): Promise<BucketIdentity> {
  const how = { salt: identityContext, info: 'age-identity', length: 32 };
  const secret = await deriveBytes(vetKey, how);
  const identity = bech32.encodeFromBytes('AGE-SECRET-KEY-', secret).toUpperCase();
  return { identity, recipient: await identityToRecipient(identity) };
}

/** Derives the 64 bytes of the names key from the 48 bytes of epoch 1's vetKey. */
export function namesKeyOf(vetKey: Uint8Array): Promise<Uint8Array> {
  return deriveBytes(vetKey, { salt: identityContext, info: 'sealed-names', length: 64 });
}

export interface Derivation extends EpochName {
  /** The bytes of the canister's principal. */
  readonly canister: Uint8Array;
  /** True on the network, whose known key is used instead of the key in the canister's response. */
  readonly isOnNetwork: boolean;
  ask(transportPublicKey: Uint8Array): Promise<SealedIdentity>;
}

/**
 * Requests the vetKey of an epoch, and returns its 48 bytes. Throws Untrusted if the network did
 * not derive it for this canister, context and input.
 */
export async function deriveVetKey(derivation: Derivation): Promise<Uint8Array> {
  const vetKeys = await import('./vet-keys.ts');
  const transportKey = vetKeys.TransportSecretKey.random();
  const sealed = await derivation.ask(transportKey.publicKeyBytes());
  try {
    const publicKey = derivation.isOnNetwork
      ? networkKey(vetKeys, derivation.canister, sealed)
      : vetKeys.DerivedPublicKey.deserialize(sealed.publicKey);
    const encrypted = vetKeys.EncryptedVetKey.deserialize(sealed.encryptedKey);
    const input = derivationInput(derivation);
    return encrypted.decryptAndVerify(transportKey, publicKey, input).signatureBytes();
  } catch (cause) {
    const words = "The bucket's identity is not the one that the network derives for it.";
    throw new StorageError('Untrusted', words, { cause });
  }
}

/** Derives the public key from the network's master key, which the library contains. */
function networkKey(
  { MasterPublicKey, MasterPublicKeyId }: typeof import('./vet-keys.ts'),
  canister: Uint8Array,
  { keyName, proxy }: Pick<SealedIdentity, 'keyName' | 'proxy'>,
) {
  const id = Object.values(MasterPublicKeyId).find((known) => known === keyName);
  if (id === undefined) throw new Error(`The key name ${keyName} does not exist on the network.`);
  return derivedKey(MasterPublicKey.productionKey(id), canister, proxy);
}

/** Derives the public key of a canister's identities, by way of the proxy if there is one. */
export function derivedKey(
  master: MasterPublicKey,
  canister: Uint8Array,
  proxy: Uint8Array | undefined,
): DerivedPublicKey {
  const context =
    proxy === undefined
      ? identityContext
      : Uint8Array.of(canister.length, ...canister, ...identityContext);
  return master.deriveCanisterKey(proxy ?? canister).deriveSubKey(context);
}
