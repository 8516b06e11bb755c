// The source of the root key at an upgrade, while a rotation awaits the next key.

import { beforeEach, expect, test } from 'vitest';
import { findEndToEnd, saveEndToEnd } from '../../src/domain/buckets/end-to-end.ts';
import {
  configureRootKey,
  currentRootKey,
  type RootKeySource,
  rootKeyEntries,
  startRootRotation,
  storeFirstRootKey,
} from '../../src/domain/keys/root-keys.ts';
import { createHeapState } from '../../src/domain/shared/heap-state.ts';
import { encodeUtf8 } from '../../src/lib/text.ts';
import { createScene, expectRefusal } from '../support/domain-fixture.ts';
import type { MemoryStores } from '../support/memory-stores.ts';

let stores: MemoryStores;

beforeEach(async () => {
  ({ stores } = await createScene());
});

const present: RootKeySource = { kind: 'vetkd', keyName: undefined };
const next: RootKeySource = { kind: 'stored' };
const other: RootKeySource = { kind: 'vetkd', keyName: 'other' };

test.each([
  ['no source', undefined],
  ['the present source', present],
  ['the next source', next],
])('configureRootKey() with %s keeps the key in use during a rotation', (_, source) => {
  const { version } = currentRootKey(stores);
  startRootRotation(stores, next);
  const entries = rootKeyEntries(stores);
  expect(entries).toHaveLength(2);
  configureRootKey(stores, source);
  expect(rootKeyEntries(stores)).toEqual(entries);
  expect(currentRootKey(stores).version).toBe(version);
});

test('configureRootKey() refuses a third source during a rotation', () => {
  startRootRotation(stores, next);
  const entries = rootKeyEntries(stores);
  expectRefusal(stores, 'InvalidArgument', () => configureRootKey(stores, other));
  expect(rootKeyEntries(stores)).toEqual(entries);
});

const proxy = 'rrkah-fqaaa-aaaaa-aaaaq-cai';
const otherProxy = 'ryjl3-tyaaa-aaaaa-aaaba-cai';

/** Removes the root keys, as before the first installation. */
function forgetKeys(): void {
  stores.meta.delete(encodeUtf8('rootKeys'));
  stores.heap.rootKeyEntries = undefined;
  stores.secrets.rootKeys.clear();
}

test('configureRootKey() takes the proxy of the environment until the first key exists', () => {
  forgetKeys();
  configureRootKey(stores, undefined);
  expect(rootKeyEntries(stores)).toMatchObject([{ kind: 'vetkd', proxy: '' }]);
  configureRootKey(stores, undefined, proxy);
  expect(rootKeyEntries(stores)).toMatchObject([{ kind: 'vetkd', proxy }]);
  configureRootKey(stores, { kind: 'vetkd', keyName: 'key_1', proxy: otherProxy }, proxy);
  expect(rootKeyEntries(stores)).toMatchObject([{ keyName: 'key_1', proxy: otherProxy }]);
});

test('configureRootKey() refuses another proxy than that of the key in use', () => {
  configureRootKey(stores, present, proxy);
  expect(rootKeyEntries(stores)).toMatchObject([{ proxy: '' }]);
  const moved: RootKeySource = { kind: 'vetkd', keyName: 'key_1', proxy };
  expectRefusal(stores, 'InvalidArgument', () => configureRootKey(stores, moved));
  startRootRotation(stores, moved);
  configureRootKey(stores, moved);
  expect(rootKeyEntries(stores)).toMatchObject([{ proxy: '' }, { keyName: 'key_1', proxy }]);
});

test('startRootRotation() keeps the proxy unless the source names another', () => {
  startRootRotation(stores, { kind: 'vetkd', keyName: 'key_1' }, proxy);
  expect(rootKeyEntries(stores)).toMatchObject([{ proxy: '' }, { proxy: '' }]);
  startRootRotation(stores, { kind: 'vetkd', keyName: 'key_1', proxy }, otherProxy);
  expect(rootKeyEntries(stores)).toMatchObject([{ proxy: '' }, { proxy }]);
});

test('storeFirstRootKey() changes nothing if a key is named or in use', () => {
  expect(storeFirstRootKey(stores)).toBe(false);
  forgetKeys();
  configureRootKey(stores, { kind: 'vetkd', keyName: 'key_1' });
  expect(storeFirstRootKey(stores)).toBe(false);
  configureRootKey(stores, present);
  expect(storeFirstRootKey(stores)).toBe(true);
  expect(rootKeyEntries(stores)).toMatchObject([{ kind: 'stored', version: 1 }]);
});

test('rootKeyEntries() and findEndToEnd() read records of version 0.2.0 as without a proxy', () => {
  const key = encodeUtf8('rootKeys');
  const mode = encodeUtf8('endToEnd/old');
  const epoch = { epoch: 1, recipient: 'age1', openedAtNs: 5n, keyName: 'key_1', proxy: '' };
  const epochs = [epoch, { ...epoch, epoch: 2, openedAtNs: 6n }];
  const plan = { usesVetKeys: true, sealsNames: false, recipients: [], epochs, serial: 7n };
  saveEndToEnd(stores, 'old', plan);
  const [entry] = rootKeyEntries(stores);
  // In version 1 the last text of each group did not exist.
  stores.meta.set(key, formerRecord(stores.meta.get(key), 'key_1\0', 'key_1'));
  const text = 'age1\0' + '5\0key_1\0\0age1\0' + '6\0key_1\0';
  const former = 'age1\0' + '5\0key_1\0age1\0' + '6\0key_1';
  stores.meta.set(mode, formerRecord(stores.meta.get(mode), text, former));
  expect(rootKeyEntries({ ...stores, heap: createHeapState() })).toEqual([entry]);
  expect(findEndToEnd(stores, 'old')).toEqual(plan);
});

/** Returns the record with version byte 1 and other texts at its end. */
function formerRecord(record: Uint8Array | undefined, text: string, former: string): Uint8Array {
  const bytes = Buffer.from(record ?? new Uint8Array(0));
  const head = bytes.subarray(0, bytes.length - text.length);
  expect(bytes.subarray(head.length).toString()).toBe(text);
  const changed = Buffer.concat([head, Buffer.from(former)]);
  changed[0] = 1;
  return new Uint8Array(changed);
}
