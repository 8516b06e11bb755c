// `efs sync` of a bucket that it knows: it reads the journal's changes instead of all files.

import { mkdir, mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { IDL } from '@dfinity/candid';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { identityFromPem } from '../../packages/client/src/node/identity.ts';
import { createNodeStorage } from '../../packages/client/src/node/storage.ts';
import type { Storage } from '../../packages/client/src/storage.ts';
import { ResultJournalPage } from '../../src/actor/candid/journal.ts';
import { openService, type Service } from '../support/service.ts';
import { callCommand } from './command-calls.ts';
import { startCommand } from './command-runs.ts';

const bucket = 'big';
const fileCount = 2_500;

let service: Service;
let owner: Storage;
let folder: string;
let asked: string[];

function environment() {
  return {
    ...{ EFS_HOST: service.host, EFS_CANISTER_ID: service.canisterId, EFS_TRANSPORT: 'actor' },
    EFS_IDENTITY: join(folder, 'identity.pem'),
  };
}
const efs = (...words: string[]) => callCommand(words, { folder, environment: environment() });
const bytesOf = (text: string) => new TextEncoder().encode(text);
const store = (path: string, text: string, name = bucket) =>
  owner.upload(bytesOf(text), { bucket: name, path });

/** Counts the queries, which `forge` may answer. */
function watchQueries(forge: (method: string, reply: Uint8Array) => Uint8Array | undefined) {
  service.replica?.setFaults({
    forge({ method }, reply) {
      asked.push(method);
      return forge(method, reply as Uint8Array);
    },
  });
}

beforeAll(async () => {
  service = await openService({ faults: {} });
  folder = await mkdtemp(join(tmpdir(), 'sync-journal-'));
  await writeFile(join(folder, 'identity.pem'), service.identityPem);
  const { host, canisterId, identityPem } = service;
  owner = createNodeStorage({ host, canisterId, identity: identityFromPem(identityPem) });
  await owner.buckets.create(bucket);
  const files = Array.from({ length: fileCount }, (_, n) => {
    return { path: `f/${n}`, source: bytesOf(`${n}`) };
  });
  for await (const { error } of owner.uploadAll(files, { bucket })) if (error) throw error;
});
afterEach(() => service.replica?.setFaults({}));
afterAll(async () => {
  await service?.stop();
  await rm(folder, { recursive: true, force: true });
});

/** Returns the command's result and the methods of its queries. */
async function counted(...words: string[]) {
  asked = [];
  watchQueries(() => undefined);
  const ended = await efs(...words);
  service.replica?.setFaults({});
  return { ...ended, queries: asked };
}

const local = (name: string, path: string) => readFile(join(folder, name, path), 'utf8');

describe('efs sync by the journal', () => {
  test('finds ten changes among thousands of files by three queries', async () => {
    const first = await counted('sync', `${bucket}/f`, './down');
    expect(first).toMatchObject({ code: 0 });
    expect(first.errors).toBe(`${fileCount} fetched, 0 the same, 0 removed.\n`);
    for (let n = 0; n < 10; n++) await store(`f/${n}`, `changed ${n}`);
    const second = await counted('sync', `${bucket}/f`, './down');
    expect(second.errors).toBe(`10 fetched, ${fileCount - 10} the same, 0 removed.\n`);
    // The mode of the bucket, the changes, their records, and then the bytes of all ten.
    const queries = ['getBucket', 'listFiles', 'readFiles', 'readJournal'];
    expect(second.queries.sort()).toEqual(queries);
    expect(await local('down', '3')).toBe('changed 3');
    const third = await counted('sync', `${bucket}/f`, './down');
    expect(third.errors).toBe(`0 fetched, ${fileCount} the same, 0 removed.\n`);
    expect(third.queries.sort()).toEqual(['getBucket', 'readJournal']);
    const full = await counted('sync', '--full', `${bucket}/f`, './down');
    expect(full.queries.filter((method) => method === 'listFolder').length).toBeGreaterThan(2);
  });

  test('follows moves and deletions, and repairs local changes, as a whole list does', async () => {
    await store('g/a', 'a');
    await store('g/b', 'b');
    await store('g/c', 'c');
    await efs('sync', `${bucket}/g`, './moved');
    await owner.move({ bucket, path: 'g/a' }, { path: 'g/d' });
    await owner.remove({ bucket, path: 'g/b' });
    await writeFile(join(folder, 'moved/c'), 'changed here');
    await writeFile(join(folder, 'moved/own'), 'own');
    const { errors } = await counted('sync', '--delete', `${bucket}/g`, './moved');
    expect(errors).toBe('2 fetched, 0 the same, 3 removed.\n');
    expect((await readdir(join(folder, 'moved'))).sort()).toEqual(['c', 'd']);
    expect(await local('moved', 'c')).toBe('c');
  });

  test('uploads differences to a bucket that others have changed', async () => {
    await mkdir(join(folder, 'up'));
    for (const name of ['a', 'b', 'c']) await writeFile(join(folder, 'up', name), name);
    await efs('sync', 'up', `${bucket}/up`);
    await store('up/a', 'changed there');
    await store('up/extra', 'x');
    const { errors, queries } = await counted('sync', '--delete', 'up', `${bucket}/up`);
    expect(errors).toBe('1 sent, 2 the same, 1 removed.\n');
    expect(queries).not.toContain('listFolder');
    expect(queries.filter((method) => method === 'readJournal')).toHaveLength(1);
  });

  test('lists the folder again for another bucket of the same name, and after a day', async () => {
    const name = 'twice';
    await owner.buckets.create(name);
    await store('a', 'first', name);
    await efs('sync', name, './twice');
    await owner.remove({ bucket: name, path: 'a' });
    await owner.buckets.remove(name, { isForced: true });
    await owner.buckets.create(name);
    await store('b', 'second', name);
    const other = await counted('sync', '--delete', name, './twice');
    expect(other.queries).toContain('listFolder');
    expect(await readdir(join(folder, 'twice'))).toEqual(['b']);
    const states = join(folder, 'state/efs');
    for (const file of await readdir(states)) {
      if (!file.startsWith('listing-')) continue;
      const text = await readFile(join(states, file), 'utf8');
      const old = text.replace(/"listedAtMs":\d+/, `"listedAtMs":${Date.now() - 25 * 3_600_000}`);
      await writeFile(join(states, file), old);
    }
    expect((await counted('sync', name, './twice')).queries).toContain('listFolder');
    expect((await counted('sync', name, './twice')).queries).not.toContain('listFolder');
    const damaged = (await readdir(states)).filter((file) => file.startsWith('listing-'));
    for (const file of damaged) await writeFile(join(states, file), '{"cursor":');
    const again = await counted('sync', name, './twice');
    expect(again).toMatchObject({ code: 0 });
    expect(again.queries).toContain('listFolder');
  });

  test('removes no local file because a node invents its deletion', async () => {
    await store('h/a', 'a');
    await store('h/b', 'b');
    await efs('sync', `${bucket}/h`, './lied');
    await store('h/c', 'c');
    asked = [];
    type Entry = { kind: string; subject: string };
    watchQueries((method, reply) => {
      if (method !== 'readJournal') return undefined;
      const [page] = IDL.decode([ResultJournalPage], reply) as unknown as [
        { ok: { entries: Entry[] } },
      ];
      const entries = page.ok.entries.map((entry) =>
        entry.subject === 'h/c' ? { ...entry, kind: 'file.deleted', subject: 'h/a' } : entry,
      );
      const ok = { ...page.ok, entries };
      return new Uint8Array(IDL.encode([ResultJournalPage], [{ ok }]));
    });
    const lied = await efs('sync', '--delete', `${bucket}/h`, './lied');
    expect(lied).toMatchObject({ code: 0, errors: '1 fetched, 2 the same, 0 removed.\n' });
    expect(asked).toContain('listFolder');
    expect((await readdir(join(folder, 'lied'))).sort()).toEqual(['a', 'b', 'c']);
  });

  test('a dry run stores no list, and a killed sync is completed by the next', async () => {
    await store('k/a', 'a');
    const before = await readdir(join(folder, 'state/efs'));
    await efs('sync', '-n', `${bucket}/k`, './killed');
    expect(await readdir(join(folder, 'state/efs'))).toEqual(before);
    await efs('sync', `${bucket}/k`, './killed');
    for (let n = 0; n < 20; n++) await store(`k/${n}`, `${n}`);
    const run = startCommand(['sync', `${bucket}/k`, './killed'], {
      folder,
      environment: environment(),
    });
    // The list is stored before the files are fetched.
    const states = join(folder, 'state/efs');
    const isListed = async () => {
      const names = (await readdir(states)).filter((name) => name.startsWith('listing-'));
      const texts = await Promise.all(names.map((name) => readFile(join(states, name), 'utf8')));
      return texts.some((text) => text.includes('"k/19"'));
    };
    await expect.poll(isListed, { interval: 5 }).toBe(true);
    run.process.kill('SIGKILL');
    await run.ended;
    expect(await efs('sync', `${bucket}/k`, './killed')).toMatchObject({ code: 0 });
    // A kill may leave the folder by which a sync finds out whether the disk ignores case.
    const names = (await readdir(join(folder, 'killed'))).filter((one) => !one.startsWith('.efs-'));
    expect(names).toHaveLength(21);
    expect(await local('killed', '19')).toBe('19');
    const { mtimeMs } = await stat(join(folder, 'killed/19'));
    const { updatedAt } = await owner.stat({ bucket, path: 'k/19' });
    expect(Math.round(mtimeMs)).toBe(Date.parse(updatedAt));
    await utimes(join(folder, 'killed/19'), 1, 1);
    expect((await efs('sync', `${bucket}/k`, './killed')).errors).toContain('21 the same');
  });
});
