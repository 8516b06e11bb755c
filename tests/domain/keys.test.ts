import { createHash } from 'node:crypto';
import { beforeEach, describe, expect, test } from 'vitest';
import {
  checkKeyRequest,
  createKey,
  type KeyRequest,
} from '../../src/domain/administration/api-key-administration.ts';
import { looksLikeKey } from '../../src/domain/rights/api-key-secrets.ts';
import { findKey, findKeyByHash } from '../../src/domain/rights/api-keys.ts';
import {
  callOf,
  createScene,
  expectRefusal,
  makeKey,
  revokeKeyRecord,
  startNs,
  testBytes,
} from '../support/domain-fixture.ts';
import type { MemoryStores } from '../support/memory-stores.ts';

let stores: MemoryStores;

beforeEach(async () => {
  ({ stores } = await createScene());
});

const request: KeyRequest = {
  name: 'backup',
  buckets: ['box'],
  permissions: ['write', 'read'],
  expiresAtNs: undefined,
};

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

describe('createKey()', () => {
  const random = testBytes(32, 77);

  beforeEach(() => {
    stores.secrets.random = () => random;
  });

  test('creates efs_ followed by base64url of random bytes and a checksum of six characters', () => {
    const { key, secret } = createKey(stores, callOf('alice'), request);
    const body = `efs_${Buffer.from(random).toString('base64url')}`;
    expect(secret).toBe(body + digest(body).subarray(0, 4).toString('base64url'));
    expect(secret).toHaveLength(53);
    expect(looksLikeKey(secret)).toBe(true);
    expect(key.hint).toBe(secret.slice(0, 8));
    expect(key.permissions).toEqual(['read', 'write']);
  });

  test('stores the hash of the secret and only its hint', () => {
    const { secret } = createKey(stores, callOf('alice'), request);
    expect(stores.apiKeys.has(digest(secret))).toBe(true);
    const stored = [...stores.values(), ...stores.apiKeys.entries().map(([key]) => key)];
    for (const bytes of stored) {
      const text = Buffer.from(bytes).toString('latin1');
      expect(text).not.toContain(secret.slice(0, 9));
      expect(text).not.toContain(secret.slice(8, 14));
      expect(text).not.toContain(Buffer.from(random.subarray(0, 6)).toString('latin1'));
    }
  });

  test('writes the documented layout', () => {
    const expiresAtNs = startNs + 1n;
    const buckets = ['box', 'other', 'box'];
    const budget = { updatesPerHour: 7n, bytesPerHour: 0x300000n };
    const all = { ...request, buckets, prefix: '/in/', expiresAtNs, budget };
    const { key, secret } = createKey(stores, callOf('alice'), all);
    expect(Buffer.from(stores.apiKeys.get(key.hash) ?? []).toString('hex')).toBe(
      `0503030000000000${'f2670d45f2ca8618'}${'f3670d45f2ca8618'}${'00'.repeat(8)}` +
        `${'0000000000001c40'}${'0000000000004841'}020202` +
        Buffer.from(`${secret.slice(0, 8)}\0backup\0in/\0box\0other`).toString('hex'),
    );
    expect(findKeyByHash(stores, key.hash)).toEqual(key);
  });

  test('writes monitor as the bit 32; findKeyByHash() still reads the bits of version 0.2.0', () => {
    const permissions = ['read', 'monitor'];
    const { key } = createKey(stores, callOf('alice'), { ...request, permissions });
    const record = stores.apiKeys.get(key.hash) ?? new Uint8Array(0);
    expect(record[1]).toBe(33);
    expect(findKeyByHash(stores, key.hash)?.permissions).toEqual(permissions);
    stores.apiKeys.set(key.hash, new Uint8Array(record).fill(7, 1, 2));
    expect(findKeyByHash(stores, key.hash)?.permissions).toEqual(['read', 'write', 'delete']);
  });

  test('writes a new record version; findKeyByHash() still reads version 1', () => {
    const { key } = createKey(stores, callOf('alice'), request);
    const record = Buffer.from(stores.apiKeys.get(key.hash) ?? []);
    const texts = Buffer.from(`${key.hint}\0backup\0box`);
    const head = Uint8Array.of(1, record[1] ?? 0);
    const former = Buffer.concat([head, record.subarray(8, 32), texts]);
    stores.apiKeys.set(key.hash, new Uint8Array(former));
    expect(findKeyByHash(stores, key.hash)).toEqual({ ...key, creator: new Uint8Array(0) });
    stores.apiKeys.set(key.hash, new Uint8Array(former).fill(9, 0, 1));
    expect(() => findKeyByHash(stores, key.hash)).toThrow('known version');
  });

  test.each<[string, Partial<KeyRequest>]>([
    ['no bucket', { buckets: [] }],
    ['101 buckets', { buckets: Array.from({ length: 101 }, () => 'box') }],
    ['a long name', { name: 'x'.repeat(65) }],
    ['a name with a control character', { name: 'a\nb' }],
    ['no permission', { permissions: [] }],
    ['an unknown permission', { permissions: ['read', 'admin'] }],
    ['an expiry that is now', { expiresAtNs: startNs }],
    ['a negative expiry', { expiresAtNs: -1n }],
    ['an expiry that no record can hold', { expiresAtNs: 2n ** 64n }],
  ])('refuses %s', (_, change) => {
    const bad = { ...request, ...change };
    expectRefusal(stores, 'InvalidArgument', () => createKey(stores, callOf('alice'), bad));
    expectRefusal(stores, 'InvalidArgument', () => checkKeyRequest(stores, callOf('alice'), bad));
  });

  test.each(['a//', '//a', './', 'a/../', '\ud83d', 'a\n', 'a\u202e', 'x'.repeat(1024)])(
    'refuses the prefix %j, which no path can continue',
    (prefix) => {
      const create = () => createKey(stores, callOf('alice'), { ...request, prefix });
      const { message } = expectRefusal(stores, 'InvalidPath', create);
      expect(message).toMatch(/^Invalid key prefix ".*": a path that begins with it [a-z]/);
    },
  );

  test.each<[string | undefined, string]>([
    [undefined, ''],
    ['', ''],
    ['/', ''],
    ['inbox/', 'inbox/'],
    ['/inbox', 'inbox'],
    ['a/.', 'a/.'],
    ['ü/1 ', 'ü/1 '],
  ])('stores the prefix %j as %j', (prefix, kept) => {
    const { key } = createKey(stores, callOf('alice'), { ...request, prefix });
    expect(key.prefix).toBe(kept);
    expect(findKeyByHash(stores, key.hash)?.prefix).toBe(kept);
  });

  test('refuses callers who do not own every bucket, an unknown bucket and an invalid id', () => {
    const create = (person: 'bob' | 'alice' | 'anonymous', buckets: string[]) => () =>
      createKey(stores, callOf(person), { ...request, buckets });
    expectRefusal(stores, 'AccessDenied', create('bob', ['box']));
    expectRefusal(stores, 'AccessDenied', create('anonymous', ['box']));
    expectRefusal(stores, 'NoSuchBucket', create('alice', ['box', 'none']));
    expectRefusal(stores, 'InvalidBucketId', create('alice', ['b_x']));
  });

  test('lets a controller create keys for any bucket', () => {
    const { secret } = createKey(stores, callOf('controller'), request);
    expect(findKey(stores, secret, startNs).name).toBe('backup');
  });
});

describe('findKey()', () => {
  test('finds the key by its secret', () => {
    const secret = makeKey(stores, { permissions: ['delete'], buckets: ['other'] });
    const { buckets, permissions } = findKey(stores, secret, startNs);
    expect({ buckets, permissions }).toEqual({ buckets: ['other'], permissions: ['delete'] });
  });

  test('refuses a typo at any position, and other texts without a look-up', () => {
    const secret = makeKey(stores);
    const apiKeys = new Proxy(stores.apiKeys, { get: () => expect.fail('looked up') });
    const blind = { ...stores, apiKeys };
    for (let place = 0; place < secret.length; place++) {
      const wrong = secret[place] === 'A' ? 'B' : 'A';
      const typo = secret.slice(0, place) + wrong + secret.slice(place + 1);
      expectRefusal(stores, 'InvalidApiKey', () => findKey(stores, typo, startNs));
    }
    for (const text of ['', 'efs_', secret.slice(0, -1), `${secret}A`, ` ${secret}`]) {
      expectRefusal(stores, 'InvalidApiKey', () => findKey(blind, text, startNs));
    }
  });

  test('refuses well-formed but unknown, expired and revoked keys with the same error', () => {
    const body = `efs_${Buffer.from(testBytes(32, 9)).toString('base64url')}`;
    const unknown = body + digest(body).subarray(0, 4).toString('base64url');
    const expired = makeKey(stores, { expiresAtNs: startNs + 1n });
    const revoked = makeKey(stores);
    revokeKeyRecord(stores, digest(revoked));
    const messages = [unknown, expired, revoked].map(
      (secret) =>
        expectRefusal(stores, 'InvalidApiKey', () => findKey(stores, secret, startNs + 1n)).message,
    );
    const words =
      'The API key is unknown, revoked or expired: send one that createApiKey returned.';
    expect(messages).toEqual([words, words, words]);
  });

  test('refuses a key from the nanosecond of its expiry', () => {
    const secret = makeKey(stores, { expiresAtNs: startNs + 10n });
    expect(findKey(stores, secret, startNs + 9n).expiresAtNs).toBe(startNs + 10n);
    expectRefusal(stores, 'InvalidApiKey', () => findKey(stores, secret, startNs + 10n));
  });
});
