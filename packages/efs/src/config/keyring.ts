// The system's keyring: the keychain of macOS, the credentials of Windows or the secret service of
// a Linux desktop. It is used if the package @napi-rs/keyring is installed and finds a keyring.

import { createRequire as loaderFrom } from 'node:module';

export interface Keyring {
  get(account: string): string | undefined;
  set(account: string, secret: string): void;
  remove(account: string): void;
}

interface Entry {
  getPassword(): string | null;
  setPassword(secret: string): void;
  deletePassword(): boolean;
}

type EntryClass = new (service: string, account: string, options: object) => Entry;

const service = 'efs';
/** Excludes the kernel's keyring, which a restart clears, as a substitute for a secret service. */
const options = { linux: { store: 'secret-service' } };

/** Returns undefined if the package is not installed or does not support this system. */
export function systemKeyring(): Keyring | undefined {
  const Entry = loadEntry();
  if (Entry === undefined) return undefined;
  const open = (account: string) => new Entry(service, account, options);
  return {
    get: (account) => open(account).getPassword() ?? undefined,
    set: (account, secret) => open(account).setPassword(secret),
    remove: (account) => void open(account).deletePassword(),
  };
}

function loadEntry(): EntryClass | undefined {
  try {
    return loaderFrom(import.meta.url)('@napi-rs/keyring').Entry;
  } catch {
    return undefined;
  }
}

/** Returns true if the keyring has stored the secret and can return it. */
export function keepSecret(keyring: Keyring | undefined, account: string, secret: string): boolean {
  try {
    keyring?.set(account, secret);
    return keyring?.get(account) === secret;
  } catch {
    return false;
  }
}

/** Returns undefined if the secret does not exist or cannot be read. */
export function recallSecret(keyring: Keyring | undefined, account: string): string | undefined {
  try {
    return keyring?.get(account);
  } catch {
    return undefined;
  }
}

export function forgetSecret(keyring: Keyring | undefined, account: string): void {
  try {
    keyring?.remove(account);
  } catch {
    // The secret no longer exists, or the keyring is locked; nothing refers to it.
  }
}
