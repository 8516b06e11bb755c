import { beforeEach, describe, expect, test } from 'vitest';
import { createBucket } from '../../src/domain/administration/bucket-creation.ts';
import { findBucket } from '../../src/domain/buckets/buckets.ts';
import { authorize } from '../../src/domain/rights/rights.ts';
import { callOf, createScene, expectRefusal, makeKey, startNs } from '../support/domain-fixture.ts';
import type { MemoryStores } from '../support/memory-stores.ts';

let stores: MemoryStores;

beforeEach(async () => {
  ({ stores } = await createScene());
});

describe('authorize()', () => {
  const claim = { bucket: 'box', permission: 'write', apiKey: undefined, path: 'a' } as const;

  test('grants owners and controllers everything', () => {
    for (const person of ['alice', 'controller'] as const) {
      for (const permission of ['read', 'write', 'delete'] as const) {
        const grant = authorize(stores, callOf(person), { ...claim, permission });
        expect(grant.key).toBeUndefined();
        expect(grant.bucket.id).toBe('box');
      }
    }
  });

  test('refuses strangers and the anonymous caller', () => {
    for (const person of ['bob', 'anonymous'] as const) {
      expectRefusal(stores, 'AccessDenied', () => authorize(stores, callOf(person), claim));
    }
  });

  test('refuses the anonymous caller, even in a bucket that the anonymous principal owns', () => {
    const anonymous = callOf('anonymous');
    const controller = { ...anonymous, caller: { ...anonymous.caller, isController: true } };
    createBucket(stores, controller, { bucket: 'nobody', isPublic: true });
    expectRefusal(stores, 'AccessDenied', () =>
      authorize(stores, anonymous, { ...claim, bucket: 'nobody' }),
    );
  });

  test('grants anybody with a key its permissions, and nothing else', () => {
    const apiKey = makeKey(stores, { permissions: ['read'], buckets: ['box'] });
    const stranger = callOf('anonymous');
    const grant = authorize(stores, stranger, { ...claim, permission: 'read', apiKey });
    expect(grant.key?.buckets).toEqual(['box']);
    for (const change of [
      { permission: 'delete' },
      { bucket: 'other' },
      { bucket: 'BOX' },
    ] as const) {
      const narrowed = { ...claim, permission: 'read', apiKey, ...change } as const;
      expectRefusal(stores, 'AccessDenied', () => authorize(stores, stranger, narrowed));
    }
  });

  test('refuses an invalid bucket id, and does not repeat a key in its place', () => {
    const apiKey = makeKey(stores);
    for (const bucket of [apiKey, `x${apiKey}`, '%00', 'a b', '']) {
      const wrong = { ...claim, apiKey, bucket };
      const { message } = expectRefusal(stores, 'InvalidBucketId', () =>
        authorize(stores, callOf('anonymous'), wrong),
      );
      expect(message).not.toContain(apiKey.slice(4, 20));
    }
  });

  test('does not fall back to the caller if the sent key is invalid', () => {
    const apiKey = makeKey(stores, { permissions: ['read'], expiresAtNs: startNs + 5n });
    expectRefusal(stores, 'AccessDenied', () =>
      authorize(stores, callOf('alice'), { ...claim, apiKey }),
    );
    expectRefusal(stores, 'InvalidApiKey', () =>
      authorize(stores, callOf('alice', startNs + 5n), { ...claim, apiKey }),
    );
  });

  test('distinguishes an unknown bucket from a forbidden one', () => {
    expectRefusal(stores, 'NoSuchBucket', () =>
      authorize(stores, callOf('alice'), { ...claim, bucket: 'none' }),
    );
  });
});

describe('createBucket()', () => {
  test('requires a controller', () => {
    expectRefusal(stores, 'AccessDenied', () =>
      createBucket(stores, callOf('alice'), { bucket: 'mine', isPublic: true }),
    );
  });

  test('refuses an existing id, and compares ids literally', () => {
    expectRefusal(stores, 'BucketExists', () =>
      createBucket(stores, callOf('controller'), { bucket: 'box', isPublic: true }),
    );
    expect(createBucket(stores, callOf('controller'), { bucket: 'Box', isPublic: true }).id).toBe(
      'Box',
    );
  });

  test('writes the documented layout', () => {
    const bucket = createBucket(stores, callOf('controller'), { bucket: 'fresh', isPublic: true });
    const record = stores.buckets.get(Buffer.from('fresh')) ?? [];
    const time = 'f2670d45f2ca8618';
    expect(Buffer.from(record).toString('hex')).toBe(
      `0801030000000000${time}${time}${'00'.repeat(48)}` +
        `${'0000000000000840'}${'0000000000000840'}${'00'.repeat(56)}010101`,
    );
    const view = { members: [], retention: [], callerRole: 'owner' };
    expect({ ...findBucket(stores, 'fresh'), ...view }).toEqual(bucket);
  });
});
