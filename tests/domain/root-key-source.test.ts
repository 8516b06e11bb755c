// The source of the root key at an upgrade, while a rotation awaits the next key.

import { beforeEach, expect, test } from 'vitest';
import {
  configureRootKey,
  currentRootKey,
  type RootKeySource,
  rootKeyEntries,
  startRootRotation,
} from '../../src/domain/keys/root-keys.ts';
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
