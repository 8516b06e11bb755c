// Stores identities of buckets in IndexedDB, encrypted by a key that the browser never exports.
// Scripts of the same origin can use the key, and a browser may store it unencrypted on disk.

import { StorageError } from '../storage-error.ts';
import type { IdentityStore } from '../types/end-to-end.ts';

const tableName = 'identities';
const wrapName = 'key';
const nonceBytes = 12;

/**
 * Returns a store that all pages of the origin share under `databaseName`. On sign-out, `clear()`
 * deletes the identities and their key.
 *
 * @example
 * ```ts
 * import { browserIdentityStore, endToEnd } from '@encrypted-file-storage/client';
 *
 * const store = browserIdentityStore();
 * const layer = endToEnd({ store });
 * // When the user signs out:
 * await store.clear();
 * ```
 */
export function browserIdentityStore(
  databaseName = 'encrypted-file-storage',
): IdentityStore & { clear(): Promise<void> } {
  let opened: Promise<IDBDatabase> | undefined;
  const table = async (mode: IDBTransactionMode) => {
    opened ??= openDatabase(databaseName);
    return (await opened).transaction(tableName, mode).objectStore(tableName);
  };
  const read = async <T>(name: string): Promise<T | undefined> =>
    (await done((await table('readonly')).get(name))) as T | undefined;

  async function wrapKey(): Promise<CryptoKey> {
    const kept = await read<CryptoKey>(wrapName);
    if (kept !== undefined) return kept;
    const algorithm = { name: 'AES-GCM', length: 256 };
    const made = await crypto.subtle.generateKey(algorithm, false, ['encrypt', 'decrypt']);
    // If two pages create a key at the same time, the first one wins.
    await done((await table('readwrite')).add(made, wrapName)).catch(() => {});
    return (await read<CryptoKey>(wrapName)) ?? made;
  }

  return {
    async get(name) {
      const sealed = await read<Uint8Array<ArrayBuffer>>(`of ${name}`);
      if (sealed === undefined) return undefined;
      const algorithm = { name: 'AES-GCM', iv: sealed.subarray(0, nonceBytes) };
      const bytes = sealed.subarray(nonceBytes);
      return new Uint8Array(await crypto.subtle.decrypt(algorithm, await wrapKey(), bytes));
    },
    async set(name, secret) {
      const iv = crypto.getRandomValues(new Uint8Array(nonceBytes));
      const bytes = secret as Uint8Array<ArrayBuffer>;
      const algorithm = { name: 'AES-GCM', iv };
      const sealed = await crypto.subtle.encrypt(algorithm, await wrapKey(), bytes);
      const whole = new Uint8Array([...iv, ...new Uint8Array(sealed)]);
      await done((await table('readwrite')).put(whole, `of ${name}`));
    },
    async clear() {
      await done((await table('readwrite')).clear());
    },
  };
}

function openDatabase(name: string): Promise<IDBDatabase> {
  if (globalThis.indexedDB === undefined) {
    throw new StorageError('Unsupported', 'IndexedDB is missing here; use another store.');
  }
  const opening = indexedDB.open(name, 1);
  opening.onupgradeneeded = () => opening.result.createObjectStore(tableName);
  return done(opening);
}

function done<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}
