// The keys of an owner become invalid when the owner is removed, each owner of a key's buckets sees
// and revokes it only for their own buckets, and a bucket is private by default.

import { IDL } from '@dfinity/candid';
import type { Principal } from '@dfinity/principal';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { changeOf, keyFor, type Person, personOf } from '../support/people.ts';
import { openService, type Service } from '../support/service.ts';

interface Key {
  readonly id: string;
  readonly secret: string;
  readonly buckets: string[];
  readonly createdBy: [] | [Principal];
}

let service: Service;
let owner: Person;
let alice: Person;
let bob: Person;

beforeAll(async () => {
  service = await openService();
  owner = personOf(service, 'owner');
  alice = personOf(service, 31);
  bob = personOf(service, 32);
});

afterAll(() => service?.stop());

/** Creates a private bucket that alice and bob own. Its creator, a controller, is not a member. */
async function sharedBucket(id: string): Promise<void> {
  await owner.get('createBucket', id, []);
  const members = [{ principal: bob.principal, role: 'owner' }];
  await owner.get('updateBucket', changeOf(id, { owner: [alice.principal] }));
  await alice.get('updateBucket', changeOf(id, { addMembers: [members] }));
  await alice.get('updateBucket', changeOf(id, { removeMembers: [[owner.principal]] }));
}

async function statusWith(secret: string, bucket: string): Promise<number> {
  const headers = { Authorization: `Bearer ${secret}` };
  return (await fetch(`${service.base}/api/v1/bucket/${bucket}/files`, { headers })).status;
}

const remove = (bucket: string, person: Person) =>
  changeOf(bucket, { removeMembers: [[person.principal]] });

describe('createBucket', () => {
  const isPublic = async (bucket: string) =>
    (await owner.get<{ isPublic: boolean }>('getBucket', bucket, [])).isPublic;

  test('creates a private bucket, or a public one if requested', async () => {
    await owner.get('createBucket', 'plain', []);
    await owner.get('createBucket', 'bare', [{ isPublic: [], quotaBytes: [], quotaFiles: [] }]);
    await owner.get('createBucket', 'open', [{ isPublic: [true], quotaBytes: [], quotaFiles: [] }]);
    expect([await isPublic('plain'), await isPublic('bare')]).toEqual([false, false]);
    expect(await isPublic('open')).toBe(true);
  });

  test('creates a private bucket if the call has only the id', async () => {
    const argument = new Uint8Array(IDL.encode([IDL.Text], ['former']));
    await service.network.call(service.canisterId, 'createBucket', argument, 'owner');
    expect(await isPublic('former')).toBe(false);
  });

  test('with a quota of one byte creates a bucket that refuses an empty file', async () => {
    await owner.get('createBucket', 'tiny', [{ isPublic: [], quotaBytes: [1n], quotaFiles: [] }]);
    const none = { tags: [], sha256: [], ifMatch: [], ifNoneMatch: [], apiKey: [] };
    const empty = { ...none, bucketId: 'tiny', path: 'a', contentType: 'a/b' };
    const bytes = new Uint8Array(0);
    expect((await owner.ask('uploadFile', { ...empty, bytes })).err).toMatch(/^QuotaExceeded: /);
    const session = { ...empty, contentType: [], size: [0n], chunkSize: [], headers: [] };
    const begun = await owner.ask('beginFileUploadWith', session);
    expect(begun.err).toMatch(/^QuotaExceeded: /);
    expect(await owner.get('getBucket', 'tiny', [])).toMatchObject({
      fileCount: 0n,
      openUploads: 0n,
      overheadBytes: 0n,
    });
  });
});

describe('an owner', () => {
  test('who is removed loses the keys that they created, and other keys remain', async () => {
    await sharedBucket('team');
    const bobs = await bob.get<Key>('createApiKey', keyFor(['team']));
    const alices = await alice.get<Key>('createApiKey', keyFor(['team']));
    const listed = await alice.get<Key[]>('listApiKeys', 'team');
    expect(
      listed.map(({ id, createdBy }) => [id, createdBy[0]?.toText()]).sort(),
      'creators of the keys',
    ).toEqual(
      [
        [bobs.id, bob.principal.toText()],
        [alices.id, alice.principal.toText()],
      ].sort(),
    );
    expect(await statusWith(bobs.secret, 'team')).toBe(200);
    await alice.get('updateBucket', remove('team', bob));
    expect(await statusWith(bobs.secret, 'team')).toBe(401);
    expect(await statusWith(alices.secret, 'team')).toBe(200);
    const left = await alice.get<Key[]>('listApiKeys', 'team');
    expect(left.map(({ id }) => id)).toEqual([alices.id]);
    expect((await bob.ask('getBucket', 'team', [])).err).toMatch(/^NoSuchBucket: /);
  });

  test('who is removed keeps the keys for buckets that they still own', async () => {
    await sharedBucket('one');
    await sharedBucket('two');
    const key = await bob.get<Key>('createApiKey', keyFor(['one', 'two']));
    await alice.get('updateBucket', remove('one', bob));
    expect([await statusWith(key.secret, 'one'), await statusWith(key.secret, 'two')]).toEqual([
      403, 200,
    ]);
    const [left] = await bob.get<Key[]>('listApiKeys', 'two');
    expect(left?.buckets).toEqual(['two']);
  });

  test('who becomes a reader loses keys and uploads that a reader cannot have', async () => {
    await sharedBucket('demoted');
    const key = await bob.get<Key>('createApiKey', keyFor(['demoted']));
    await bob.get('beginFileUpload', 'demoted', 'a', 'a/b', 5n, []);
    const reader = { principal: bob.principal, role: 'reader' };
    await alice.get('updateBucket', changeOf('demoted', { addMembers: [[reader]] }));
    expect(await statusWith(key.secret, 'demoted')).toBe(401);
    await expect.poll(() => openUploads('demoted')).toBe(0n);
  });
});

async function openUploads(bucket: string): Promise<bigint> {
  return (await alice.get<{ openUploads: bigint }>('getBucket', bucket, [])).openUploads;
}

describe('a bucket transferred to another owner', () => {
  test('keeps its current owner, whom nobody can remove', async () => {
    await sharedBucket('held');
    for (const person of [alice, bob]) {
      const refused = await person.ask('updateBucket', remove('held', alice));
      expect(refused.err).toMatch(/^InvalidArgument: .* needs an owner: first transfer it/);
    }
    expect((await alice.get<{ owner: Principal }>('getBucket', 'held', [])).owner.toText()).toBe(
      alice.principal.toText(),
    );
  });

  test('loses the keys and open uploads of a former owner who is removed', async () => {
    await sharedBucket('handed');
    const key = await alice.get<Key>('createApiKey', keyFor(['handed']));
    const begun = await alice.get<string>('beginFileUpload', 'handed', 'a', 'a/b', 5n, []);
    const given = changeOf('handed', { owner: [bob.principal] });
    expect((await alice.get<{ owner: Principal }>('updateBucket', given)).owner.toText()).toBe(
      bob.principal.toText(),
    );
    expect(await statusWith(key.secret, 'handed'), 'while they are an owner').toBe(200);
    expect((await alice.ask('updateBucket', remove('handed', bob))).err).toMatch(/needs an owner/);
    await bob.get('updateBucket', remove('handed', alice));
    expect(await statusWith(key.secret, 'handed')).toBe(401);
    expect((await alice.ask('getBucket', 'handed', [])).err).toMatch(/^NoSuchBucket: /);
    const chunk = await alice.ask(
      'uploadFileChunkIndexed',
      begun,
      0n,
      Uint8Array.of(1, 2, 3, 4, 5),
    );
    expect(chunk.err).toMatch(/^\w+: /);
    const count = async () =>
      (await bob.get<{ openUploads: bigint }>('getBucket', 'handed', [])).openUploads;
    await expect.poll(count).toBe(0n);
  });

  test('loses the keys at once if the same call transfers the bucket and removes the owner', async () => {
    await sharedBucket('swapped');
    const key = await alice.get<Key>('createApiKey', keyFor(['swapped']));
    const change = { owner: [bob.principal], removeMembers: [[alice.principal]] };
    await alice.get('updateBucket', changeOf('swapped', change));
    expect(await statusWith(key.secret, 'swapped')).toBe(401);
    expect((await alice.ask('listApiKeys', 'swapped')).err).toMatch(/^NoSuchBucket: /);
  });
});

describe('a key for two buckets of different owners', () => {
  test('is shown to each owner with their own bucket, and each revokes it for that bucket only', async () => {
    await sharedBucket('both');
    await owner.get('createBucket', 'alices', []);
    await owner.get('updateBucket', changeOf('alices', { owner: [alice.principal] }));
    const key = await alice.get<Key>('createApiKey', keyFor(['both', 'alices']));
    const bucketsFor = async (person: Person, bucket: string) =>
      (await person.get<Key[]>('listApiKeys', bucket)).find(({ id }) => id === key.id)?.buckets;
    expect(await bucketsFor(bob, 'both')).toEqual(['both']);
    expect(await bucketsFor(alice, 'both')).toEqual(['both', 'alices']);
    expect((await bob.ask('listApiKeys', 'alices')).err).toMatch(/^NoSuchBucket: /);
    await bob.get('revokeApiKey', key.id);
    expect(await statusWith(key.secret, 'both')).toBe(403);
    expect(await statusWith(key.secret, 'alices')).toBe(200);
    expect(await bucketsFor(bob, 'both')).toBeUndefined();
    expect(await bucketsFor(alice, 'alices')).toEqual(['alices']);
    expect((await bob.ask('revokeApiKey', key.id)).err).toMatch(/^AccessDenied: /);
    await alice.get('revokeApiKey', key.id);
    expect(await statusWith(key.secret, 'alices')).toBe(401);
  });
});
