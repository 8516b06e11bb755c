// Identities that sign calls: a key of this device, or Internet Identity. The page imports this
// file at first use, because it imports the agent's library.

import { AuthClient } from '@icp-sdk/auth/client';
import { ECDSAKeyIdentity, Ed25519KeyIdentity } from '@icp-sdk/core/identity';
import { browserIdentityStore } from '../../packages/client/src/age/browser-identity-store.ts';
import { decodeBase64Url } from '../../packages/client/src/bytes/base64-url.ts';
import { StorageError } from '../../packages/client/src/storage-error.ts';
import type { StorageIdentity } from '../../packages/client/src/types/storage-identity.ts';
import { firstValue, keptValue } from './database.ts';
import { loadedTexts, texts } from './language.ts';
import { thisService } from './service.ts';

/** The stored form of a session with an identity. */
export type IdentitySession =
  | { readonly kind: 'device' | 'internet-identity' }
  /** The owner of a service on a local replica; only in the tab that opened the owner's address. */
  | {
      readonly kind: 'local-owner';
      /** Ed25519 seed of 32 bytes in base64url. */
      readonly ownerKey: string;
    };

const deviceKeyName = 'device';

/** Caches identities of end-to-end buckets, because deriving one costs cycles. */
export const identityStore = browserIdentityStore();

/**
 * Returns the device's identity: a P-256 key of Web Crypto, generated at first use and stored in
 * IndexedDB. Scripts cannot export it, and clearing the page's data deletes it.
 */
async function deviceIdentity(): Promise<StorageIdentity> {
  const kept = await keptValue<CryptoKeyPair>('keys', deviceKeyName);
  if (kept !== undefined) return ECDSAKeyIdentity.fromKeyPair(kept);
  const identity = await ECDSAKeyIdentity.generate({ extractable: false });
  // Another page may have stored a key meanwhile.
  const pair = await firstValue('keys', deviceKeyName, identity.getKeyPair());
  return ECDSAKeyIdentity.fromKeyPair(pair);
}

interface AlternativeOrigins {
  readonly alternativeOrigins?: readonly string[];
}

/** A failure must not lead to another origin, which would make the person another principal. */
async function textOfFront(name: string): Promise<string> {
  const response = await fetch(`/.well-known/${name}`);
  if (response.ok) return response.text();
  throw new StorageError('HttpError', `The front answered ${response.status}: try again.`);
}

/**
 * Returns the origin for which Internet Identity makes principals, as the front states it for other
 * programs too: by default its address at the default gateway, so that a person is the same member
 * at each of its addresses. Undefined if the front does not list this page's address, where
 * Internet Identity would refuse such a sign-in.
 */
export async function derivationOrigin(): Promise<string | undefined> {
  const { frontId } = await thisService();
  if (frontId === undefined) return undefined;
  const [stated, listed] = await Promise.all(
    ['ii-derivation-origin', 'ii-alternative-origins'].map(textOfFront),
  );
  const origin = stated?.trim();
  if (location.origin === origin) return origin;
  const { alternativeOrigins }: AlternativeOrigins = JSON.parse(listed ?? '{}');
  return alternativeOrigins?.includes(location.origin) ? origin : undefined;
}

let auth: AuthClient | undefined;

/** Disables the reload after ten idle minutes, because it would interrupt uploads. */
const options = { idleOptions: { disableIdle: true } };

function authClient(): AuthClient {
  auth ??= new AuthClient(options);
  return auth;
}

/**
 * Must be called in a click handler: otherwise browsers block the sign-in window.
 * `origin`: from derivationOrigin().
 */
export async function askInternetIdentity(origin: string | undefined): Promise<void> {
  auth = new AuthClient({ ...options, ...(origin && { derivationOrigin: origin }) });
  await auth.signIn().catch((cause: unknown) => {
    throw new Error(texts().failures.signInUncompleted, { cause });
  });
}

async function knownIdentity(): Promise<StorageIdentity | undefined> {
  const client = authClient();
  return client.isAuthenticated() ? client.getIdentity() : undefined;
}

/** Returns undefined if the sign-in with Internet Identity has expired. */
export async function identityOf(kept: IdentitySession): Promise<StorageIdentity | undefined> {
  if (kept.kind !== 'local-owner') {
    return kept.kind === 'device' ? deviceIdentity() : knownIdentity();
  }
  const seed = decodeBase64Url(kept.ownerKey);
  if (seed?.length !== 32) throw new Error((await loadedTexts()).failures.keyIncomplete);
  return Ed25519KeyIdentity.generate(seed);
}

export async function forgetIdentity(): Promise<void> {
  await auth?.signOut();
  await identityStore.clear();
}
