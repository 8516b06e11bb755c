// State that survives a reload, in IndexedDB: the device's key and interrupted uploads. All calls
// reject in browsers that lack or forbid IndexedDB.

import { onDemand } from '../../packages/client/src/connection/on-demand.ts';

const databaseName = 'efs-console';
const stores = ['keys', 'uploads'] as const;
type StoreName = (typeof stores)[number];

function settled<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

const open = onDemand(async () => {
  const request = indexedDB.open(databaseName, 1);
  request.onupgradeneeded = () => {
    for (const store of stores) request.result.createObjectStore(store);
  };
  return settled<IDBDatabase>(request);
});

async function storeOf(name: StoreName, mode: IDBTransactionMode): Promise<IDBObjectStore> {
  return (await open()).transaction(name, mode).objectStore(name);
}

export async function keptValue<T>(store: StoreName, key: string): Promise<T | undefined> {
  return settled<T | undefined>((await storeOf(store, 'readonly')).get(key));
}

export async function keptValues<T>(store: StoreName): Promise<T[]> {
  return settled<T[]>((await storeOf(store, 'readonly')).getAll());
}

/** Stores the value unless one is stored, and returns the stored one. */
export async function firstValue<T>(store: StoreName, key: string, value: T): Promise<T> {
  const target = await storeOf(store, 'readwrite');
  const kept = await settled<T | undefined>(target.get(key));
  if (kept === undefined) await settled(target.put(value, key));
  return kept ?? value;
}

export async function keepValues<T>(
  store: StoreName,
  entries: readonly (readonly [key: string, value: T])[],
): Promise<void> {
  const target = await storeOf(store, 'readwrite');
  await Promise.all(entries.map(([key, value]) => settled(target.put(value, key))));
}

export async function forgetValues(store: StoreName, keys: readonly string[]): Promise<void> {
  const target = await storeOf(store, 'readwrite');
  await Promise.all(keys.map((key) => settled(target.delete(key))));
}
