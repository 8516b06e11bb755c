// Identities that sign calls: a key of this device, or Internet Identity. Loaded at first use,
// because it loads the agent's library.

import { AuthClient } from '@icp-sdk/auth/client';
import { ECDSAKeyIdentity } from '@icp-sdk/core/identity';
import { browserIdentityStore } from '../../packages/client/src/age/browser-identity-store.ts';
import type { StorageIdentity } from '../../packages/client/src/types/storage-identity.ts';
import { keepValues, keptValue } from './database.ts';

const deviceKeyName = 'device';

/** Identities of end-to-end buckets that the network derived for members; deriving costs cycles. */
export const identityStore = browserIdentityStore();

/**
 * Made with its first use: P-256 of Web Crypto, which no script can read out, kept in IndexedDB.
 * Whoever clears the data of this page clears it too.
 */
export async function deviceIdentity(): Promise<StorageIdentity> {
  const kept = await keptValue<CryptoKeyPair>('keys', deviceKeyName);
  if (kept !== undefined) return ECDSAKeyIdentity.fromKeyPair(kept);
  const identity = await ECDSAKeyIdentity.generate({ extractable: false });
  await keepValues('keys', [[deviceKeyName, identity.getKeyPair()]]);
  // Two pages that begin at one time: the one kept is the device's.
  const pair = await keptValue<CryptoKeyPair>('keys', deviceKeyName);
  return pair === undefined ? identity : ECDSAKeyIdentity.fromKeyPair(pair);
}

let auth: AuthClient | undefined;

/** By itself it would reload a page that nobody has touched for ten minutes: uploads last. */
function authClient(): AuthClient {
  auth ??= new AuthClient({ idleOptions: { disableIdle: true } });
  return auth;
}

/** In a click: browsers open the window of the sign-in only then. */
export async function askInternetIdentity(): Promise<void> {
  const reason = 'The sign-in was not finished. Let its window open, and try again.';
  await authClient()
    .signIn()
    .catch((cause: unknown) => {
      throw new Error(reason, { cause });
    });
}

/** Undefined when the sign-in is over. */
export async function knownIdentity(): Promise<StorageIdentity | undefined> {
  const client = authClient();
  return client.isAuthenticated() ? client.getIdentity() : undefined;
}

export async function forgetIdentity(): Promise<void> {
  await auth?.signOut();
  await identityStore.clear();
}
