// The live keys of a bucket are counted, listed and revoked without reading the keys of other
// buckets.

import { beforeEach, describe, expect, test } from 'vitest';
import {
  createKey,
  listKeys,
  revokeKey,
} from '../../src/domain/administration/api-key-administration.ts';
import { bucketKeys } from '../../src/domain/buckets/bucket-directory.ts';
import { findKey } from '../../src/domain/rights/api-keys.ts';
import {
  callOf,
  createScene,
  expectRefusal,
  hourNs,
  makeKey,
  startNs,
} from '../support/domain-fixture.ts';
import type { MemoryStores } from '../support/memory-stores.ts';

let stores: MemoryStores;
const alice = callOf('alice');

beforeEach(async () => {
  ({ stores } = await createScene());
});

function fill(count: number, expiresAtNs?: bigint): void {
  const key = { buckets: ['other'], ...(expiresAtNs === undefined ? {} : { expiresAtNs }) };
  for (let index = 0; index < count; index++) makeKey(stores, key);
}

function oneMore(nowNs = startNs, buckets = ['other']) {
  const request = { name: '', buckets, permissions: ['read'], expiresAtNs: undefined };
  return createKey(stores, callOf('alice', nowNs), request);
}

describe('listKeys(): a bucket', () => {
  test('has at most 100 live keys', () => {
    fill(100);
    expectRefusal(stores, 'QuotaExceeded', () => oneMore());
    expectRefusal(stores, 'QuotaExceeded', () => oneMore(startNs, ['box', 'other']));
    revokeKey(stores, alice, listKeys(stores, alice, 'other')[0]?.id ?? '');
    expect(oneMore().key.buckets).toEqual(['other']);
  });

  test('does not count expired keys, and deletes them', () => {
    fill(100, startNs + hourNs);
    expectRefusal(stores, 'QuotaExceeded', () => oneMore(startNs + hourNs - 1n));
    const { key } = oneMore(startNs + hourNs);
    expect(bucketKeys(stores.directory, 'other').map(({ hash }) => hash)).toEqual([key.hash]);
  });
});

describe('listKeys()', () => {
  test('lists the live keys of a bucket to its owners', () => {
    makeKey(stores, { buckets: ['other'], expiresAtNs: startNs + 1n });
    makeKey(stores, { buckets: ['box', 'other'] });
    expect(listKeys(stores, alice, 'other').map(({ buckets }) => buckets.join())).toHaveLength(2);
    const later = callOf('alice', startNs + 1n);
    expect(listKeys(stores, later, 'other').map(({ buckets }) => buckets)).toEqual([
      ['box', 'other'],
    ]);
    expectRefusal(stores, 'AccessDenied', () => listKeys(stores, callOf('bob'), 'other'));
    expectRefusal(stores, 'NoSuchBucket', () => listKeys(stores, alice, 'none'));
  });
});

describe('revokeKey()', () => {
  test('revokes the key for all its buckets at once, and may be repeated', () => {
    const secret = makeKey(stores, { buckets: ['box', 'other'] });
    const { id } = findKey(stores, secret, startNs);
    revokeKey(stores, alice, id);
    expectRefusal(stores, 'InvalidApiKey', () => findKey(stores, secret, startNs));
    expect(listKeys(stores, alice, 'other')).toEqual([]);
    const before = stores.writeCount();
    revokeKey(stores, alice, id);
    expect(stores.writeCount()).toBe(before);
  });

  test('refuses strangers and unknown ids with the same error', () => {
    const { id } = findKey(stores, makeKey(stores), startNs);
    const words = (person: 'bob' | 'alice', key: string) =>
      expectRefusal(stores, 'AccessDenied', () => revokeKey(stores, callOf(person), key)).message;
    const unknown = id.replace(/./g, (digit) => (digit === '0' ? '1' : '0'));
    expect(words('bob', id).replace(id, '')).toBe(words('alice', unknown).replace(unknown, ''));
    for (const odd of ['', '00', 'zz'.repeat(8), `${id}00`]) words('alice', odd);
  });
});
