// The system's keyring, where the package @napi-rs/keyring is installed and finds one: the keychain
// of macOS, the credentials of Windows, the secret service of a Linux desktop.

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
/** The kernel's keyring, which else stands in for it, forgets all when the machine is restarted. */
const options = { linux: { store: 'secret-service' } };

/** Undefined where the package is not installed, or has nothing for this system. */
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

/** True when the keyring has taken the secret and gives it back. */
export function keepSecret(keyring: Keyring | undefined, account: string, secret: string): boolean {
  try {
    keyring?.set(account, secret);
    return keyring?.get(account) === secret;
  } catch {
    return false;
  }
}

/** Undefined where it is not, or cannot be had. */
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
    // It is not there any more, or the keyring is locked: nothing refers to it.
  }
}
