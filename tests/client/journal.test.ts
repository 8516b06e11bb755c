// The journal of a bucket through the client library, on the real canister.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { identityFromPem } from '../../packages/client/src/node/identity.ts';
import { createStorage, type Storage } from '../../packages/client/src/storage.ts';
import type { JournalEntry } from '../../packages/client/src/types/journal.ts';
import { newIdentity, principalOf } from '../../scripts/local-service.ts';
import { openService, type Service, sampleBytes } from '../support/service.ts';

const bucket = 'audited';
const bytes = sampleBytes('a letter', 2_000);
const memberPem = newIdentity();
const member = principalOf(memberPem).toText();

let service: Service;
let owner: Storage;
let ownerId: string;

function open(pem: string): Storage {
  const { host, canisterId } = service;
  return createStorage({ host, canisterId, identity: identityFromPem(pem) });
}

async function entriesAfter(after: number): Promise<JournalEntry[]> {
  const found: JournalEntry[] = [];
  for await (const entry of owner.journal.entries(bucket, { after })) found.push(entry);
  return found;
}

/** Returns the entries that the change has added. */
async function entriesOf(change: () => Promise<unknown>): Promise<JournalEntry[]> {
  const { last } = await owner.journal.list(bucket, { limit: 1 });
  await change();
  return entriesAfter(last);
}

beforeAll(async () => {
  service = await openService();
  owner = open(service.identityPem);
  ownerId = principalOf(service.identityPem).toText();
  await owner.buckets.create(bucket, { keepVersionsDays: 1 });
});
afterAll(() => service?.stop());

describe('Storage.journal', () => {
  const file = { bucket, path: 'a/letter.txt' };

  test('entries() has who stored, replaced, moved, changed and deleted a file', async () => {
    const stored = await entriesOf(() => owner.upload(bytes, file));
    const { sha256 } = await owner.stat(file);
    const by = { kind: 'principal', id: ownerId };
    const { path } = file;
    expect(stored).toMatchObject([{ kind: 'file.stored', by, path, version: 1, digest: sha256 }]);
    expect(Date.now() - Date.parse(stored[0]?.at ?? '')).toBeLessThan(600_000);
    const replaced = await entriesOf(() => owner.upload(sampleBytes('b', 10), file));
    expect(replaced).toMatchObject([{ kind: 'file.stored', path, by }]);
    expect(replaced[0]?.version).toBeGreaterThan(1);
    const changed = await entriesOf(() => owner.change(file, { tags: ['x'] }));
    expect(changed).toMatchObject([{ kind: 'file.changed', path }]);
    const moved = await entriesOf(() => owner.move(file, { path: 'b.txt' }));
    expect(moved).toContainEqual(
      expect.objectContaining({ kind: 'file.moved', path: 'b.txt', formerPath: path }),
    );
    const deleted = await entriesOf(() => owner.remove({ bucket, path: 'b.txt' }));
    expect(deleted).toMatchObject([{ kind: 'file.deleted', path: 'b.txt', by }]);
  });

  test('entries() has links, keys with their ids, members with their roles, settings and holds', async () => {
    await owner.upload(bytes, file);
    const link = await owner.links.create(file);
    const made = await entriesOf(async () => {
      await owner.links.remove(bucket, (await owner.links.create(file)).id);
    });
    expect(made).toMatchObject([
      { kind: 'link.created', path: file.path },
      { kind: 'link.removed', path: file.path },
    ]);
    expect(made[0]?.linkId).toBe(made[1]?.linkId);
    expect(made[0]?.linkId).not.toBe(link.id);
    const request = { name: 'writer', buckets: [bucket], permissions: ['write'] as const };
    const key = await owner.keys.create(request);
    const writer = createStorage({ ...options(), apiKey: key.secret });
    const written = await entriesOf(() => writer.upload(bytes, { bucket, path: 'by-key' }));
    expect(written).toMatchObject([{ by: { kind: 'apiKey', id: key.id }, path: 'by-key' }]);
    const revoked = await entriesOf(() => owner.keys.revoke(key.id));
    expect(revoked).toMatchObject([{ kind: 'key.revoked', keyId: key.id }]);
    const addMembers = [{ principal: member, role: 'reader' }];
    const added = await entriesOf(() => owner.buckets.update(bucket, { addMembers }));
    expect(added).toMatchObject([{ kind: 'member.changed', member, role: 'reader' }]);
    const removeMembers = [member];
    const removed = await entriesOf(() => owner.buckets.update(bucket, { removeMembers }));
    expect(removed).toMatchObject([{ kind: 'member.changed', member }]);
    expect(removed[0]).not.toHaveProperty('role');
    const set = await entriesOf(() => owner.buckets.update(bucket, { quotaFiles: 9_999 }));
    expect(set).toMatchObject([{ kind: 'bucket.changed', settings: ['quotaFiles'] }]);
    const held = await entriesOf(() => owner.retention.hold(file));
    expect(held).toMatchObject([{ kind: 'hold.changed', path: file.path }]);
    await owner.retention.release(file);
  });

  test('list() returns pages in both directions', async () => {
    const all = await entriesAfter(0);
    const newest = await owner.journal.list(bucket, { limit: 3 });
    expect(newest.entries).toEqual(all.slice(-3).reverse());
    expect(newest.hasMore).toBe(true);
    const before = newest.entries.at(-1)?.seq ?? 0;
    const older = await owner.journal.list(bucket, { before, limit: 2 });
    expect(older.entries).toEqual(all.slice(-5, -3).reverse());
    const oldest = await owner.journal.list(bucket, { after: 0, limit: 2 });
    expect(oldest.entries).toEqual(all.slice(0, 2));
    expect(oldest.entries[0]).toMatchObject({ kind: 'bucket.created' });
  });

  test('list() and entries() show plain paths of a bucket that seals names', async () => {
    const sealed = 'sealed';
    await owner.buckets.create(sealed, { endToEnd: { sealsNames: true } });
    await owner.upload(bytes, { bucket: sealed, path: 'secret/plan.txt' });
    await owner.move({ bucket: sealed, path: 'secret/plan.txt' }, { path: 'secret/b.txt' });
    const { entries } = await owner.journal.list(sealed);
    const [moved] = entries;
    expect(moved).toMatchObject({ path: 'secret/b.txt', formerPath: 'secret/plan.txt' });
    expect(moved?.subject).not.toContain('plan');
    const all: JournalEntry[] = [];
    for await (const entry of owner.journal.entries(sealed)) all.push(entry);
    expect(all.reverse()).toEqual(entries);
    const verified = await owner.journal.verify({ bucket: sealed });
    expect(verified.entries).toBe(entries.length);
  });

  test('list() and verify() refuse callers without a role', async () => {
    const stranger = open(newIdentity());
    await expect(stranger.journal.list(bucket)).rejects.toMatchObject({ code: 'NoSuchBucket' });
    await expect(stranger.journal.verify()).rejects.toMatchObject({ code: 'AccessDenied' });
    const { base: url, apiKey } = service;
    const overHttp = createStorage({ url, apiKey });
    await expect(overHttp.journal.list(bucket)).rejects.toMatchObject({ code: 'Unsupported' });
  });

  test('verify() proves the chain up to the certified tip, and an earlier tip in it', async () => {
    const first = await owner.journal.verify({ bucket });
    const { last } = await owner.journal.list(bucket);
    const entries = (await entriesAfter(0)).length;
    expect(first).toMatchObject({ blocks: last, entries, tip: { index: last - 1 } });
    expect(first.tip.hash).toMatch(/^[0-9a-f]{64}$/);
    await owner.upload(bytes, { bucket, path: 'later' });
    const second = await owner.journal.verify({ since: first.tip });
    expect(second).toEqual({ tip: second.tip, first: 0, blocks: last + 1 });
    const [flipped] = [first.tip.hash.replace(/^./, (digit) => (digit === '0' ? '1' : '0'))];
    const other = { ...first.tip, hash: flipped };
    await expect(owner.journal.verify({ since: other })).rejects.toMatchObject({
      code: 'IntegrityError',
      details: { block: first.tip.index, fault: 'altered' },
    });
    const later = { ...second.tip, index: last + 1 };
    await expect(owner.journal.verify({ since: later })).rejects.toMatchObject({
      details: { block: last + 1, fault: 'missing' },
    });
    const elsewhere = { ...second.tip, canisterId: 'aaaaa-aa' };
    await expect(owner.journal.verify({ since: elsewhere })).rejects.toMatchObject({
      code: 'InvalidArgument',
    });
  });

  test('verify() reads several pages, and blocks of long entries', async () => {
    const long = (name: number) => `${'directory/'.repeat(80)}${name}`;
    const files = Array.from({ length: 600 }, (_, name) => ({
      path: name % 2 === 0 ? `many/${name}` : long(name),
      source: new Uint8Array(1),
    }));
    for await (const { error } of owner.uploadAll(files, { bucket })) {
      expect(error).toBeUndefined();
    }
    const { blocks, entries } = await owner.journal.verify({ bucket });
    expect(blocks).toBeGreaterThan(600);
    expect(entries).toBe((await entriesAfter(0)).length);
  });
});

function options() {
  return { host: service.host, canisterId: service.canisterId };
}
