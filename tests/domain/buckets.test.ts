import { beforeEach, describe, expect, test } from 'vitest';
import { listKeys } from '../../src/domain/administration/api-key-administration.ts';
import {
  type BucketChange,
  deleteBucket,
  describeBucket,
  listBuckets,
  updateBucket,
} from '../../src/domain/administration/bucket-administration.ts';
import { createBucket } from '../../src/domain/administration/bucket-creation.ts';
import { statusOf } from '../../src/domain/administration/bucket-status.ts';
import { readTotals } from '../../src/domain/buckets/bucket-totals.ts';
import { findBucket } from '../../src/domain/buckets/buckets.ts';
import { findKey } from '../../src/domain/rights/api-keys.ts';
import { updateCreators } from '../../src/domain/rights/creators.ts';
import { membersOf } from '../../src/domain/rights/members.ts';
import { authorize } from '../../src/domain/rights/rights.ts';
import {
  begin,
  bucketChange,
  callOf,
  createScene,
  expectRefusal,
  hourNs,
  makeKey,
  type Person,
  putTestFile,
  startNs,
} from '../support/domain-fixture.ts';
import type { MemoryStores } from '../support/memory-stores.ts';

let stores: MemoryStores;
const alice = callOf('alice');
const bob = callOf('bob');
const boss = callOf('controller');
const bobId = bob.caller.principal;

beforeEach(async () => {
  ({ stores } = await createScene());
});

function name(role: string, principal = bobId): Partial<BucketChange> {
  return { addMembers: [{ principal, role }] };
}

describe('updateBucket()', () => {
  test('changes only the fields that the call contains', () => {
    const later = callOf('alice', startNs + hourNs);
    updateBucket(stores, later, bucketChange({ isPublic: false, quotaBytes: 500n }));
    const updated = updateBucket(stores, later, bucketChange());
    expect(updated).toMatchObject({ isPublic: false, quotaBytes: 500, members: [] });
    expect(findBucket(stores, 'box')).toMatchObject({
      isPublic: false,
      quotaBytes: 500,
      updatedAtNs: startNs + hourNs,
      createdAtNs: startNs,
    });
    expect(
      updateBucket(stores, alice, bucketChange({ quotaBytes: 0n })).quotaBytes,
    ).toBeUndefined();
  });

  test('enforces the quota that it has set', () => {
    updateBucket(stores, alice, bucketChange({ quotaBytes: 9n }));
    expectRefusal(stores, 'QuotaExceeded', () => putTestFile(stores));
  });

  test('gives members names, keeps them with a new role, and removes them by an empty one', () => {
    const named = (role: string, text?: string) =>
      updateBucket(
        stores,
        alice,
        bucketChange({ addMembers: [{ principal: bobId, role, name: text }] }),
      ).members;
    expect(named('reader', ' Bob Müller ')).toEqual([
      { principal: bobId, role: 'reader', name: 'Bob Müller' },
    ]);
    expect(named('writer')).toMatchObject([{ role: 'writer', name: 'Bob Müller' }]);
    for (const wrong of ['é'.repeat(65), 'a\nb', 'a\u202eb']) {
      expectRefusal(stores, 'InvalidArgument', () => named('reader', wrong));
    }
    expect(named('writer', 'é'.repeat(64))).toMatchObject([{ name: 'é'.repeat(64) }]);
    expect(named('writer', '')).toEqual([{ principal: bobId, role: 'writer' }]);
  });

  test('reads members of release 0.1.0, which had no names', () => {
    stores.members.set(Buffer.from('box'), Uint8Array.from([1, 1, 3, 3, 3, 3, 1]));
    expect(membersOf(stores, 'box')).toEqual([{ principal: bobId, role: 'writer' }]);
  });

  test('adds a member, changes the role and removes the member', () => {
    expect(updateBucket(stores, alice, bucketChange(name('reader'))).members).toEqual([
      { principal: bobId, role: 'reader' },
    ]);
    expect(updateBucket(stores, alice, bucketChange(name('owner'))).members).toHaveLength(1);
    const gone = updateBucket(stores, bob, bucketChange({ removeMembers: [bobId] }));
    expect(gone).toMatchObject({ members: [], callerRole: undefined });
    expectRefusal(stores, 'AccessDenied', () => updateBucket(stores, bob, bucketChange()));
  });

  test('refuses callers who are not owners, unknown roles and the anonymous principal as a member', () => {
    const refuse = (
      code: 'AccessDenied' | 'InvalidArgument' | 'NoSuchBucket' | 'QuotaExceeded',
    ) => ({
      when: (person: Person, fields: Partial<BucketChange>) =>
        expectRefusal(stores, code, () =>
          updateBucket(stores, callOf(person), bucketChange(fields)),
        ),
    });
    refuse('AccessDenied').when('bob', {});
    updateBucket(stores, alice, bucketChange(name('writer')));
    refuse('AccessDenied').when('bob', {});
    refuse('AccessDenied').when('anonymous', {});
    refuse('InvalidArgument').when('alice', name('admin'));
    refuse('InvalidArgument').when('alice', name('reader', Uint8Array.of(4)));
    refuse('InvalidArgument').when('alice', { quotaBytes: 2n ** 60n });
    refuse('NoSuchBucket').when('alice', { bucket: 'none' });
    const many = Array.from({ length: 33 }, (_, index) => {
      return { principal: Uint8Array.of(9, index), role: 'reader' };
    });
    refuse('QuotaExceeded').when('alice', { addMembers: many });
    // A list that is too long is refused before the work for its entries.
    const repeated = Array.from({ length: 33 }, () => ({
      principal: bobId,
      role: 'reader',
      name: 'a\nb',
    }));
    refuse('QuotaExceeded').when('alice', { addMembers: repeated });
  });
});

describe('updateBucket(): a role', () => {
  test.each([
    ['reader', ['read']],
    ['writer', ['read', 'write', 'delete']],
    ['owner', ['read', 'write', 'delete']],
  ] as const)('%s grants exactly %j', (role, granted) => {
    updateBucket(stores, alice, bucketChange({ ...name(role), isPublic: false }));
    for (const permission of ['read', 'write', 'delete'] as const) {
      const ask = () =>
        authorize(stores, bob, { bucket: 'box', path: 'a', permission, apiKey: undefined }).bucket
          .id;
      if ((granted as readonly string[]).includes(permission)) expect(ask()).toBe('box');
      else expectRefusal(stores, 'AccessDenied', ask);
    }
    if (role !== 'owner') {
      expectRefusal(stores, 'AccessDenied', () => listKeys(stores, bob, 'box'));
      expectRefusal(stores, 'AccessDenied', () =>
        deleteBucket(stores, bob, { bucket: 'box', isForced: false }),
      );
    }
  });

  test('applies only to its own bucket', () => {
    updateBucket(stores, alice, bucketChange(name('owner')));
    const claim = { bucket: 'other', path: 'a', permission: 'read', apiKey: undefined } as const;
    expectRefusal(stores, 'AccessDenied', () => authorize(stores, bob, claim));
  });
});

describe('describeBucket()', () => {
  test('shows members to owners only, and the caller’s own role', () => {
    updateBucket(stores, alice, bucketChange(name('reader')));
    const ask = { bucket: 'box', apiKey: undefined };
    const seenByAlice = describeBucket(stores, alice, ask);
    expect(seenByAlice).toMatchObject({ members: [{ role: 'reader' }], callerRole: 'owner' });
    const seenByBob = describeBucket(stores, bob, ask);
    expect(seenByBob).toMatchObject({ members: [], callerRole: 'reader' });
    const withKey = { bucket: 'box', apiKey: makeKey(stores, { permissions: ['read'] }) };
    const seenWithKey = describeBucket(stores, callOf('anonymous'), withKey);
    expect(seenWithKey).toMatchObject({ members: [], callerRole: undefined });
    expectRefusal(stores, 'AccessDenied', () => describeBucket(stores, callOf('anonymous'), ask));
  });
});

describe('listBuckets()', () => {
  const ids = (person: Person, page?: bigint, pageSize?: bigint) => {
    const list = listBuckets(stores, callOf(person), { page, pageSize });
    return [list.items.map(({ id }) => id).join(' '), list.total, list.hasMore];
  };

  test('lists the buckets in which the caller has a role, and all buckets to controllers', () => {
    createBucket(stores, boss, { bucket: 'zoo', isPublic: true });
    expect(ids('alice')).toEqual(['box other', 2, false]);
    expect(ids('controller')).toEqual(['box other zoo', 3, false]);
    expect(ids('bob')).toEqual(['', 0, false]);
    expect(ids('anonymous')).toEqual(['', 0, false]);
    updateBucket(stores, alice, bucketChange(name('reader')));
    expect(ids('bob')).toEqual(['box', 1, false]);
  });

  test('returns pages, clamps their size and returns an empty one past the end', () => {
    for (let index = 0; index < 60; index++)
      createBucket(stores, boss, { bucket: `n${index + 100}`, isPublic: true });
    expect(ids('controller', 2n, 5n)).toEqual(['n104 n105 n106 n107 n108', 62, true]);
    expect(ids('controller', 2n ** 70n)).toEqual(['', 62, false]);
    const clamped = listBuckets(stores, boss, { page: 2n, pageSize: 1_000n });
    expect(clamped).toMatchObject({ pageSize: 50, pages: 2, hasMore: false });
    expect(clamped.items).toHaveLength(12);
    expectRefusal(stores, 'InvalidArgument', () => ids('alice', 0n));
    expectRefusal(stores, 'InvalidArgument', () => ids('alice', 1n, 0n));
  });
});

describe('deleteBucket()', () => {
  test('refuses a bucket with a file or an open upload, and strangers', () => {
    expectRefusal(stores, 'AccessDenied', () =>
      deleteBucket(stores, bob, { bucket: 'box', isForced: false }),
    );
    expectRefusal(stores, 'NoSuchBucket', () =>
      deleteBucket(stores, alice, { bucket: 'none', isForced: false }),
    );
    putTestFile(stores);
    const { details } = expectRefusal(stores, 'BucketNotEmpty', () =>
      deleteBucket(stores, alice, { bucket: 'box', isForced: false }),
    );
    expect(details).toEqual({ files: 1, versions: 0, openUploads: 0 });
    begin(stores, alice, { bucket: 'other' });
    expectRefusal(stores, 'BucketNotEmpty', () =>
      deleteBucket(stores, alice, { bucket: 'other', isForced: false }),
    );
  });

  test('leaves nothing to a later bucket of the same id: no key, no member, no listing', () => {
    const alone = makeKey(stores, { permissions: ['read'] });
    const shared = makeKey(stores, { permissions: ['read'], buckets: ['box', 'other'] });
    updateBucket(stores, alice, bucketChange(name('owner')));
    deleteBucket(stores, alice, { bucket: 'box', isForced: false });
    expect(findBucket(stores, 'box')).toBeUndefined();
    expect(listBuckets(stores, bob, { page: 1n, pageSize: 9n }).total).toBe(0);
    createBucket(stores, boss, { bucket: 'box', isPublic: true });
    expectRefusal(stores, 'InvalidApiKey', () => findKey(stores, alone, startNs));
    expect(findKey(stores, shared, startNs).buckets).toEqual(['other']);
    const claim = { bucket: 'box', path: 'a', permission: 'read', apiKey: undefined } as const;
    expectRefusal(stores, 'AccessDenied', () => authorize(stores, bob, claim));
    expect(listKeys(stores, boss, 'box')).toEqual([]);
    expect(readTotals(stores).buckets).toBe(2);
  });
});

describe('updateCreators()', () => {
  const access = (allow: Uint8Array[], disallow: Uint8Array[] = []) => ({ allow, disallow });

  test('lets the added principals create buckets until they are removed', () => {
    expect(updateCreators(stores, boss, access([bobId, bobId]))).toEqual([bobId]);
    expect(createBucket(stores, bob, { bucket: 'bobs', isPublic: true }).owner).toEqual(bobId);
    expect(
      authorize(stores, bob, { bucket: 'bobs', path: 'a', permission: 'write', apiKey: undefined }),
    ).toBeTruthy();
    expect(updateCreators(stores, boss, access([], [bobId]))).toEqual([]);
    expectRefusal(stores, 'AccessDenied', () =>
      createBucket(stores, bob, { bucket: 'more', isPublic: true }),
    );
  });

  test('requires a controller, refuses the anonymous principal and allows at most 100 creators', () => {
    expectRefusal(stores, 'AccessDenied', () => updateCreators(stores, alice, access([bobId])));
    const everybody = access([Uint8Array.of(4)]);
    expectRefusal(stores, 'InvalidArgument', () => updateCreators(stores, boss, everybody));
    const many = Array.from({ length: 101 }, (_, index) => Uint8Array.of(7, index));
    expectRefusal(stores, 'QuotaExceeded', () => updateCreators(stores, boss, access(many)));
  });
});

test('statusOf() counts files and bytes, and shows cycles to controllers and owners only', () => {
  putTestFile(stores);
  putTestFile(stores, { path: '/b' });
  expect(readTotals(stores)).toEqual({ buckets: 2, files: 2, bytes: 20 });
  const encryption = { rootKey: 'vetkd', keyName: 'key_1', isKeyPresent: true, isRotating: false };
  const system = {
    canisterId: 'aaaaa-aa',
    stableBytes: 1,
    heapBytes: 2,
    cycles: 3n,
    spendableCycles: 2,
    chargesCycles: true,
  };
  const status = statusOf(stores, callOf('alice'), system);
  expect(status).toMatchObject({ files: 2, bytesStored: 20, encryption });
  for (const [person, cycles] of [
    ['controller', 3n],
    ['alice', 3n],
    ['bob', undefined],
    ['anonymous', undefined],
  ] as const) {
    expect(statusOf(stores, callOf(person), system).cycles, person).toBe(cycles);
  }
});

describe('findBucket(): stored records', () => {
  test('in version 4, with a quota, files, uploads and two keys, are readable', () => {
    const time = 'f2670d45f2ca8618';
    const u64 = (number: string) => number.padEnd(16, '0');
    const record =
      `04${'03020202'}03${time}${time}${u64('05')}${u64('07')}01000000${u64('09')}${u64('0b')}` +
      `${u64('0d')}${u64('0f')}${u64('11')}${u64('13')}`;
    stores.buckets.set(Buffer.from('old'), new Uint8Array(Buffer.from(record, 'hex')));
    expect(findBucket(stores, 'old')).toEqual({
      id: 'old',
      owner: Uint8Array.of(2, 2, 2),
      isPublic: true,
      isSite: false,
      isListed: false,
      isRenewing: false,
      isEndToEnd: false,
      hasRetention: false,
      limitsVersions: false,
      overheadBytes: 0,
      keepVersionsDays: 0,
      versionCount: 0,
      versionBytes: 0,
      linkCount: 0,
      quotaFiles: undefined,
      createdAtNs: startNs,
      updatedAtNs: startNs,
      fileCount: 5,
      byteCount: 7,
      openUploadCount: 1,
      openUploadByteCount: 9,
      quotaBytes: 11,
      keyId: 13,
      keySlot: 15,
      formerKeyId: 17,
      formerKeySlot: 19,
    });
  });

  test('of members have the documented layout', () => {
    updateBucket(stores, alice, bucketChange(name('writer')));
    const record = stores.members.get(Buffer.from('box')) ?? [];
    expect(Buffer.from(record).toString('hex')).toBe('0201030303030100');
  });
});
