// Many files in few requests, by the library over both transports and by the command; the replica
// counts their updates.

import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { unmeasuredBytesMax } from '../../packages/client/src/connection/transfer-window.ts';
import { identityFromPem } from '../../packages/client/src/node/identity.ts';
import { createNodeStorage } from '../../packages/client/src/node/storage.ts';
import type { Storage } from '../../packages/client/src/storage.ts';
import type { MessageReport } from '../../packages/replica/src/core.ts';
import { type Replica, startReplica } from '../../packages/replica/src/replica.ts';
import { buildCanister } from '../../scripts/build.ts';
import { deployLocally, type ServiceDescription } from '../../scripts/local-service.ts';
import { isSentUpdate } from '../support/method-reports.ts';
import { copyPreparedState } from '../support/prepared-state.ts';
import { sampleBytes, sha256Hex } from '../support/service.ts';
import { callCommand } from './command-calls.ts';
import type { CommandSettings } from './command-runs.ts';

let folder: string;
let replica: Replica;
let service: ServiceDescription;
let settings: CommandSettings;
const updates: string[] = [];
/** Repeated requests, as on a loaded machine: each may count as one more update. */
let retries = 0;
const onRetry = () => {
  retries += 1;
};

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'many-files-'));
  const stateDir = join(folder, 'replica');
  await copyPreparedState(stateDir);
  const wasm = new Uint8Array(await readFile((await buildCanister({ force: false })).wasmPath));
  const onReport = (report: MessageReport) => {
    // The client asks for the mode of a bucket once, with the first file.
    if (isSentUpdate(report) && report.method !== 'getBucketMode') updates.push(report.method);
  };
  replica = await startReplica({ stateDir, sync: false, onReport });
  service = await deployLocally({ replica, stateDir, wasm });
  const environment = { EFS_URL: service.url, EFS_API_KEY: service.apiKey };
  settings = { folder, environment };
});
afterAll(async () => {
  await replica?.stop();
  await rm(folder, { recursive: true, force: true });
});

const efs = (...words: string[]) => callCommand(words, settings);

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

/** Returns the result of `work` and the number of updates that it made. */
async function counting<T>(work: () => Promise<T>): Promise<[T, number]> {
  updates.length = 0;
  retries = 0;
  const value = await work();
  return [value, updates.length];
}

function expectUpdates(count: number, expected: number): void {
  expect(count, updates.join()).toBeGreaterThanOrEqual(expected);
  expect(count, updates.join()).toBeLessThanOrEqual(expected + retries);
}

/** Executes the requests, and drops the first answers to those that change something. */
function loseAnswers(count: number): typeof fetch {
  let left = count;
  return async (input, init) => {
    const response = await fetch(input, init);
    const isChange = init?.method === 'POST' && !/\/(?:query|read_state)$/.test(`${input}`);
    if (!isChange || left === 0) return response;
    left -= 1;
    await response.arrayBuffer();
    throw new TypeError('fetch failed');
  };
}

type Open = (fetch?: typeof globalThis.fetch) => Storage;
const transports: readonly [string, Open][] = [
  [
    'HTTP',
    (fetch) => {
      const { url, apiKey } = service;
      return createNodeStorage({ url, apiKey, transport: 'http', fetch, onRetry });
    },
  ],
  [
    'the actor',
    (fetch) => {
      const { url: host, canisterId, identityPem } = service;
      const identity = identityFromPem(identityPem);
      return createNodeStorage({ host, canisterId, identity, fetch, onRetry });
    },
  ],
];

describe.each(transports)('Storage.uploadAll(): over %s', (name, open) => {
  const prefix = `many ${name}/`;
  const bucket = 'demo';
  let storage: Storage;
  beforeAll(() => {
    storage = open();
  });
  const paths = async (below = '') =>
    (await all(storage.list({ bucket, prefix: prefix + below }))).map(({ path }) => path);

  test('small files are uploaded together, and large ones separately', async () => {
    const sizes = [0, 1, 5_000, 100_000, 100_001];
    const files = Array.from({ length: 250 }, (_, index) => {
      const source = sampleBytes(`${index}`, sizes[index] ?? 20);
      const path = `${prefix}a/${1_000 + index}.txt`;
      return { path, source, tags: [`t${index % 2}`], headers: { 'Cache-Control': 'no-cache' } };
    });
    const [results, count] = await counting(() => all(storage.uploadAll(files, { bucket })));
    // Two batches, and the single large file
    expectUpdates(count, 3);
    expect(results).toHaveLength(250);
    const records = new Map(results.map(({ path, file }) => [path, file]));
    for (const { path, source, tags } of files) {
      const expected = { path, etag: sha256Hex(source), tags, contentType: 'text/plain' };
      expect(records.get(path)).toMatchObject(expected);
    }
    const stored = await storage.stat({ bucket, path: `${prefix}a/1007.txt` });
    expect(stored).toEqual(records.get(stored.path));
  });

  test('a refused file does not stop the others, and each refused one has its error', async () => {
    const source = sampleBytes('x', 3);
    const old = await storage.upload(source, { bucket, path: `${prefix}b/old.txt` });
    const files = ['new.txt', 'old.txt', '../x', 'line\nend', 'new "%22\\.txt'].map((path) => ({
      path: `${prefix}b/${path}`,
      source,
      ifNoneMatch: '*',
    }));
    const wrong = { path: `${prefix}b/wrong.txt`, source, sha256: '00'.repeat(32) };
    const results = await all(storage.uploadAll([...files, wrong], { bucket }));
    expect(Object.fromEntries(results.map(({ path, error }) => [path, error?.code]))).toEqual({
      [`${prefix}b/new.txt`]: undefined,
      [`${prefix}b/old.txt`]: 'PreconditionFailed',
      [`${prefix}b/../x`]: 'InvalidPath',
      [`${prefix}b/line\nend`]: 'InvalidPath',
      [`${prefix}b/new "%22\\.txt`]: undefined,
      [`${prefix}b/wrong.txt`]: 'BadDigest',
    });
    expect(await paths('b/')).toEqual(
      ['new "%22\\.txt', 'new.txt', 'old.txt'].map((path) => `${prefix}b/${path}`),
    );
    expect(await storage.stat({ bucket, path: `${prefix}b/old.txt` })).toEqual(old);
  });

  test('a lost answer is detected, also for files that had to be new', async () => {
    const lossy = open(loseAnswers(1));
    const files = some(`${prefix}lost/`, 3).map((file, index) => {
      return { ...file, ...(index < 2 && { ifNoneMatch: '*' }) };
    });
    const results = await all(lossy.uploadAll(files, { bucket }));
    expect(results.map(({ error }) => error)).toEqual([undefined, undefined, undefined]);
    const again = await all(storage.uploadAll(files, { bucket }));
    expect(again.filter(({ error }) => error?.code === 'PreconditionFailed')).toHaveLength(2);
    const removed = open(loseAnswers(1)).removeAll({
      bucket,
      paths: files.map(({ path }) => path),
    });
    expect((await all(removed)).map(({ error }) => error)).toEqual(Array(3).fill(undefined));
  });

  test.runIf(name === 'HTTP')('files refused with SlowDown follow in a further batch', async () => {
    const [first, second] = some(`${prefix}slow/`, 2);
    const refusals = [
      { path: first?.path, error: { code: 'NotStored', message: 'another was refused' } },
      { path: second?.path, error: { code: 'SlowDown', message: 'store it in a further call' } },
    ];
    let batches = 0;
    const slowed = open(async (input, init) => {
      const isBatch = init?.method === 'POST' && `${input}`.endsWith('/files');
      if (isBatch) batches += 1;
      if (!isBatch || batches > 1) return fetch(input, init);
      const body = { error: refusals[1]?.error, items: refusals };
      return Response.json(body, { status: 429, headers: { 'Retry-After': '1' } });
    });
    const results = await all(slowed.uploadAll(some(`${prefix}slow/`, 2), { bucket }));
    expect(results.map(({ path, error }) => [path, error])).toEqual([
      [first?.path, undefined],
      [second?.path, undefined],
    ]);
    expect(batches).toBe(3);
    expect(await paths('slow/')).toEqual([first?.path, second?.path]);
  });

  test('a missing right to write is reported for each file', async () => {
    const files = [{ path: 'a', source: sampleBytes('x', 3) }];
    const results = await all(storage.uploadAll(files, { bucket: 'none' }));
    expect(results.map(({ error }) => error?.status)).toEqual([name === 'HTTP' ? 403 : 404]);
  });

  test('the uploads end if the caller stops reading the results', async () => {
    for await (const { error } of storage.uploadAll(endless(prefix), { bucket, concurrency: 1 })) {
      expect(error).toBeUndefined();
      break;
    }
  });

  test('files are removed by their paths, and by a prefix', async () => {
    await all(storage.uploadAll(some(`${prefix}c/`, 5), { bucket }));
    const wanted = [`${prefix}c/0`, `${prefix}none`, `${prefix}c/1`];
    const [removed, count] = await counting(() =>
      all(storage.removeAll({ bucket, paths: wanted })),
    );
    expectUpdates(count, 1);
    expect(removed.map(({ path, error }) => [path, error?.code])).toEqual([
      [wanted[0], undefined],
      [wanted[1], 'NoSuchFile'],
      [wanted[2], undefined],
    ]);
    const rest = await all(storage.removeAll({ bucket, prefix: `${prefix}c/` }));
    expect(rest.map(({ path }) => path)).toEqual([2, 3, 4].map((index) => `${prefix}c/${index}`));
    expect(await paths('c/')).toEqual([]);
    const denied = all(storage.removeAll({ bucket: 'none', prefix: '' }));
    await expect(denied).rejects.toMatchObject({ status: name === 'HTTP' ? 403 : 404 });
  });
});

function some(prefix: string, count: number) {
  return Array.from({ length: count }, (_, index) => ({
    path: `${prefix}${index}`,
    source: sampleBytes(`${index}`, 10),
  }));
}

async function* endless(prefix: string) {
  for (let index = 0; ; index++) {
    yield { path: `${prefix}endless/${index}`, source: sampleBytes(`${index}`, 30_000) };
  }
}

describe('efs', () => {
  test('sync of 1,000 files of 5 kB takes at most 20 updates, and none if nothing changed', async () => {
    const count = 1_000;
    for (let index = 0; index < count; index++) {
      const name = join(folder, 'site', `${index % 20}`, `${index}.html`);
      await mkdir(join(name, '..'), { recursive: true });
      await writeFile(name, sampleBytes(`page ${index}`, 5_000));
    }
    const [first, sent] = await counting(() => efs('sync', 'site', 'demo/site'));
    expect(first).toMatchObject({ code: 0, errors: `${count} sent, 0 the same, 0 removed.\n` });
    console.log(`sync of ${count} files of 5 kB: ${sent} updates`);
    expect(sent).toBeLessThanOrEqual(20);
    const [second, again] = await counting(() => efs('sync', 'site', 'demo/site'));
    expect(second).toMatchObject({ code: 0, errors: `0 sent, ${count} the same, 0 removed.\n` });
    expect(again).toBe(0);
    await rm(join(folder, 'site/3'), { recursive: true });
    const [third, removals] = await counting(() => efs('sync', '--delete', 'site', 'demo/site'));
    expect(third.errors).toBe(`0 sent, ${count - 50} the same, 50 removed.\n`);
    expect(removals).toBe(1);
  });

  test('put of several files sends small ones together', async () => {
    await mkdir(join(folder, 'put'), { recursive: true });
    const names = ['a.txt', 'b.txt', 'large.bin', 'c.txt'];
    for (const name of names) {
      // A longer file could be sent in chunks, depending on the speed of the line.
      const size = name === 'large.bin' ? unmeasuredBytesMax : 20;
      await writeFile(join(folder, 'put', name), sampleBytes(name, size));
    }
    const words = names.map((name) => `put/${name}`);
    const [ended, count] = await counting(() => efs('put', '--tag', 'x', ...words, 'demo/put/'));
    expect(ended).toMatchObject({
      code: 0,
      output: names.map((name) => `demo/put/${name}\n`).join(''),
    });
    expect(count).toBe(3);
    const again = await efs('put', '--no-replace', 'put/a.txt', 'put/b.txt', 'demo/put/');
    expect(again).toMatchObject({ code: 5, output: '' });
    expect(again.errors).toContain('demo/put/b.txt is not sent: ');
  });

  test('rm of several names continues after a failure and reports a summary', async () => {
    const storage = createNodeStorage({ url: service.url, apiKey: service.apiKey });
    await all(storage.uploadAll(some('rm/', 6), { bucket: 'demo' }));
    const words = ['demo/rm/0', 'demo/rm/none', 'other/x', 'demo/rm/1', 'demo/rm/2'];
    const ended = await efs('rm', ...words);
    expect(ended.output).toBe('demo/rm/0\ndemo/rm/1\ndemo/rm/2\n');
    expect(ended.errors).toContain('demo/rm/none is not removed: ');
    expect(ended.errors).toContain('other is not removed: ');
    expect(ended.errors).toContain('efs: 3 removed, 2 failed. [NoSuchFile]');
    expect(ended.code).toBe(3);
    const rest = await efs('rm', '-r', 'demo/rm/');
    expect(rest).toEqual({
      code: 0,
      output: 'demo/rm/3\ndemo/rm/4\ndemo/rm/5\n',
      errors: '3 removed.\n',
    });
  });

  test('bucket rm --force removes the files first', async () => {
    const identity = join(folder, 'identity.pem');
    await writeFile(identity, service.identityPem);
    const environment = {
      EFS_HOST: service.url,
      EFS_CANISTER_ID: service.canisterId,
      EFS_IDENTITY: identity,
    };
    const asOwner = (...words: string[]) => callCommand(words, { folder, environment });
    await asOwner('bucket', 'create', 'full');
    const storage = createNodeStorage({
      host: service.url,
      canisterId: service.canisterId,
      identity: identityFromPem(service.identityPem),
    });
    await all(storage.uploadAll(some('', 1_100), { bucket: 'full' }));
    expect((await asOwner('bucket', 'rm', 'full')).code).toBe(5);
    const [ended, count] = await counting(() => asOwner('bucket', 'rm', '--force', 'full'));
    expect(ended).toMatchObject({ code: 0, output: 'full\n' });
    expect(ended.errors).toContain('1100 files removed.');
    expect(count).toBe(3);
  });
});
