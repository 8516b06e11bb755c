// One attempt to get the missing root keys: derived by the network's vetKD, or random for a network
// without it. Key material is wiped after use where the language allows it.

import type { RandomSource } from '../../crypto/random.ts';
import {
  acceptRootKey,
  missingRootKeys,
  rootKeyBytes,
  storeFirstRootKey,
} from '../../domain/keys/root-keys.ts';
import type { RootKeyEntry } from '../../domain/shared/root-key-entry.ts';
import type { Stores } from '../../domain/shared/stores.ts';
import { assert } from '../../lib/assert.ts';
import { encodeUtf8 } from '../../lib/text.ts';
import { reseed } from './random-refresh.ts';
import {
  fetchDerivedPublicKey,
  fetchEncryptedKey,
  isBeyondEngine,
  isUnknownKey,
} from './vet-keys.ts';

// Changing this text changes the keys, which would make the files of existing canisters unreadable.
const contextText = 'encrypted-file-storage/root/v1';
const separator = 'encrypted-file-storage/root-key/v1';
const inputText = (version: number) => `root key ${version}`;
/** Unless the install argument names a key, the first of these that the network knows is used. */
const keyNames = ['key_1', 'test_key_1', 'dfx_test_key'];

export interface Parts {
  readonly stores: Stores;
  /** The source behind `stores.secrets.random`. */
  readonly random: RandomSource;
}

/**
 * Fetches the missing root keys; new ones need fresh random bytes. Throws the error of a call.
 * Another message may change the versions during a call.
 */
export async function fetchMissing(parts: Parts): Promise<void> {
  await reseed(parts.random);
  for (;;) {
    const [entry] = missingRootKeys(parts.stores);
    if (entry === undefined) return;
    const isTaken = await obtain(parts, entry);
    const isStillMissing = missingRootKeys(parts.stores).some(
      ({ version }) => version === entry.version,
    );
    assert(isTaken || !isStillMissing, `root key ${entry.version} matches its check`);
  }
}

/** Returns false if the version is unknown by then, or its key was another one before. */
async function obtain(parts: Parts, entry: RootKeyEntry): Promise<boolean> {
  if (entry.kind === 'stored') return acceptRandom(parts, entry);
  const names = entry.keyName === '' ? keyNames : [entry.keyName];
  for (const [index, keyName] of names.entries()) {
    try {
      return await derive(parts, entry, keyName);
    } catch (error) {
      if (isBeyondEngine(error) && storeFirstRootKey(parts.stores)) {
        console.log(storedInstead);
        return acceptRandom(parts, entry);
      }
      if (index === names.length - 1 || !isUnknownKey(error)) throw error;
    }
  }
  return false;
}

/** Said once, because a stored key protects less. */
const storedInstead =
  'This canister is on a cloud engine, where vetKD needs a proxy canister, and it has none: the ' +
  'root key is stored in the canister. With a proxy, call rotateRootKey.';

function acceptRandom(parts: Parts, entry: RootKeyEntry): boolean {
  return accept(parts, entry, { key: parts.stores.secrets.random(rootKeyBytes), keyName: '' });
}

function accept(
  { stores }: Parts,
  { version }: RootKeyEntry,
  found: { readonly key: Uint8Array; readonly keyName: string },
): boolean {
  try {
    return acceptRootKey(stores, version, found);
  } finally {
    found.key.fill(0);
  }
}

async function derive(parts: Parts, entry: RootKeyEntry, keyName: string): Promise<boolean> {
  const vetkd = await import('../../crypto/vetkd.ts');
  const secret = parts.stores.secrets.random(vetkd.transportSecretBytes);
  const path = { keyName, proxy: entry.proxy, context: encodeUtf8(contextText) };
  const input = encodeUtf8(inputText(entry.version));
  let vetKey: Uint8Array | undefined;
  try {
    const transportPublicKey = vetkd.transportPublicKey(secret);
    const encrypted = await fetchEncryptedKey({ ...path, input, transportPublicKey });
    vetKey = vetkd.decryptVetKey(encrypted, secret);
    assert(vetKey !== undefined, 'the reply of vetKD is an encrypted key');
    // Once the entry has a check value, that detects a wrong key.
    if (entry.check.length === 0) {
      const derivedPublicKey = await fetchDerivedPublicKey(path);
      const { isVetKey } = await import('../../crypto/vetkd-verification.ts');
      assert(isVetKey({ vetKey, derivedPublicKey, input }), 'the vetKey is that of the input');
    }
    return accept(parts, entry, { key: vetkd.deriveSymmetricKey(vetKey, separator), keyName });
  } finally {
    secret.fill(0);
    vetKey?.fill(0);
  }
}
