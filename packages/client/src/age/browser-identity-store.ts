// Stores identities of buckets in IndexedDB, encrypted by a key that the browser never exports.
// Scripts of the same origin can use the key, and a browser may store it unencrypted on disk.

import { StorageError } from '../storage-error.ts';
import type { IdentityStore } from '../types/end-to-end.ts';

const tableName = 'identities';
const wrapName = 'wrap';
const nonceBytes = 12;

/** The key that encrypts the identities. Its random id shows whether it is still stored. */
interface Wrap {
  readonly key: CryptoKey;
  readonly id: string;
}

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
  let database: Promise<IDBDatabase> | undefined;
  const table = async (mode: IDBTransactionMode) => {
    database ??= openDatabase(databaseName);
    return (await database).transaction(tableName, mode).objectStore(tableName);
  };
  const read = async <T>(name: string): Promise<T | undefined> =>
    (await done((await table('readonly')).get(name))) as T | undefined;

  /** The key at the time of a miss: the secret that follows belongs to the session of that time. */
  const missed = new Map<string, Wrap>();

  async function currentWrap(): Promise<Wrap> {
    const kept = await read<Wrap>(wrapName);
    if (kept !== undefined) return kept;
    const algorithm = { name: 'AES-GCM', length: 256 };
    const key = await crypto.subtle.generateKey(algorithm, false, ['encrypt', 'decrypt']);
    const made = { key, id: crypto.randomUUID() };
    // If two pages create a key at the same time, the first one wins.
    await done((await table('readwrite')).add(made, wrapName)).catch(() => {});
    return (await read<Wrap>(wrapName)) ?? made;
  }

  return {
    async get(name) {
      const wrap = await currentWrap();
      const sealed = await read<Uint8Array<ArrayBuffer>>(`of ${name}`);
      const secret = sealed && (await opened(wrap, sealed));
      if (secret === undefined) missed.set(name, wrap);
      return secret;
    },
    /** Stores nothing if `clear()` was called since `get()` found nothing. */
    async set(name, secret) {
      const wrap = missed.get(name) ?? (await currentWrap());
      const iv = crypto.getRandomValues(new Uint8Array(nonceBytes));
      const bytes = secret as Uint8Array<ArrayBuffer>;
      const sealed = await crypto.subtle.encrypt({ name: 'AES-GCM', iv }, wrap.key, bytes);
      const whole = new Uint8Array([...iv, ...new Uint8Array(sealed)]);
      const identities = await table('readwrite');
      const kept = (await done(identities.get(wrapName))) as Wrap | undefined;
      if (kept?.id === wrap.id) await done(identities.put(whole, `of ${name}`));
    },
    async clear() {
      await done((await table('readwrite')).clear());
    },
  };
}

/** Returns undefined for an entry of another key, which a page stored after a sign-out. */
async function opened({ key }: Wrap, sealed: Uint8Array<ArrayBuffer>) {
  const algorithm = { name: 'AES-GCM', iv: sealed.subarray(0, nonceBytes) };
  return crypto.subtle.decrypt(algorithm, key, sealed.subarray(nonceBytes)).then(
    (secret) => new Uint8Array(secret),
    () => undefined,
  );
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
