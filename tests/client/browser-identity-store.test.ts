// The store of a browser's identities around a sign-out, with IndexedDB replaced by a map.

import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { browserIdentityStore } from '../../packages/client/src/age/browser-identity-store.ts';

const secret = new Uint8Array(48).fill(7);
let rows: Map<string, unknown>;

/** Returns a request that succeeds in a later task, or fails if `run` throws. */
function request(run: () => unknown): object {
  const made: Record<string, unknown> = {};
  setImmediate(() => {
    try {
      made.result = run();
      (made.onsuccess as () => void)();
    } catch (error) {
      made.error = error;
      (made.onerror as () => void)();
    }
  });
  return made;
}

const objectStore = () => ({
  get: (name: string) => request(() => rows.get(name)),
  put: (value: unknown, name: string) => request(() => rows.set(name, value)),
  add: (value: unknown, name: string) =>
    request(() => {
      if (rows.has(name)) throw new Error('ConstraintError');
      rows.set(name, value);
    }),
  clear: () => request(() => rows.clear()),
});

beforeEach(() => {
  rows = new Map();
  const database = { transaction: () => ({ objectStore }) };
  vi.stubGlobal('indexedDB', { open: () => request(() => database) });
});
afterEach(() => vi.unstubAllGlobals());

test('browserIdentityStore() returns what another page has stored', async () => {
  const store = browserIdentityStore();
  expect(await store.get('a')).toBe(undefined);
  await store.set('a', secret);
  expect(await browserIdentityStore().get('a')).toEqual(secret);
  expect(await store.get('b')).toBe(undefined);
});

test('browserIdentityStore() stores no secret whose request began before the sign-out', async () => {
  const store = browserIdentityStore();
  await store.get('a');
  await browserIdentityStore().clear();
  await store.set('a', secret);
  expect([...rows.keys()].filter((name) => name.startsWith('of '))).toEqual([]);
  await store.get('a');
  await store.set('a', secret);
  expect(await store.get('a')).toEqual(secret);
});

test('browserIdentityStore() has no entry that fails if a sign-out meets a store', async () => {
  const [store, other] = [browserIdentityStore(), browserIdentityStore()];
  for (let tasks = 0; tasks < 12; tasks += 1) {
    await store.get('a');
    const setting = store.set('a', secret);
    for (let task = 0; task < tasks; task += 1) await new Promise(setImmediate);
    await other.clear();
    await setting;
    expect(await store.get('a')).toBe(undefined);
    await store.set('a', secret);
    expect(await store.get('a')).toEqual(secret);
    await other.clear();
  }
});

test('browserIdentityStore() replaces an entry whose key is gone', async () => {
  const store = browserIdentityStore();
  await store.set('a', secret);
  rows.delete('wrap');
  expect(await store.get('a')).toBe(undefined);
  await store.set('a', secret);
  expect(await store.get('a')).toEqual(secret);
});
