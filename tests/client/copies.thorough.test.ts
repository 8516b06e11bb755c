// Copies, moves, changes and former versions by the library, over both transports, also with lost
// answers.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { identityFromPem } from '../../packages/client/src/node/identity.ts';
import { createStorage, type Storage } from '../../packages/client/src/storage.ts';
import type { FileRecord } from '../../packages/client/src/types/files.ts';
import { chunkBytesMax } from '../../packages/wire/src/limits.ts';
import { randomNumbers } from '../support/random-numbers.ts';
import { openService, type Service, sampleBytes } from '../support/service.ts';
import { networkSeed } from './lossy-transfers.ts';
import { startProxy } from './unreliable-proxy.ts';

let service: Service;
/** Uses a network without failures. */
let direct: Storage;

type Fetch = typeof globalThis.fetch;

function byActor(host = service.host, fetch?: Fetch): Storage {
  const identity = identityFromPem(service.identityPem);
  return createStorage({ host, canisterId: service.canisterId, identity, fetch, retry });
}

function overHttp(url = service.base, fetch?: Fetch): Storage {
  return createStorage({ url, apiKey: service.apiKey, transport: 'http', fetch, retry });
}

const retry = { attemptsMax: 30, delayMsMin: 5, delayMsMax: 100 };

const other = 'elsewhere';

beforeAll(async () => {
  service = await openService();
  direct = byActor();
  await direct.buckets.update(service.bucket, { keepVersionsDays: 7 });
  await direct.buckets.create(other);
});
afterAll(() => service?.stop());

/** Executes the requests, and drops the first answers to those that change something. */
function loseAnswers(count: number): Fetch {
  let left = count;
  return async (input, init) => {
    const response = await fetch(input, init);
    const isRead = init?.method === 'GET' || /\/(?:query|read_state)$/.test(`${input}`);
    if (isRead || left === 0) return response;
    left -= 1;
    await response.arrayBuffer();
    throw new TypeError('fetch failed');
  };
}

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

const transports: readonly [string, (fetch?: Fetch) => Storage][] = [
  ['HTTP', (fetch) => overHttp(service.base, fetch)],
  ['the actor', (fetch) => byActor(service.host, fetch)],
];

describe.each(transports)('Storage.copy(): over %s', (name, open) => {
  const folder = `copies ${name}/`;
  // The agent sends the same signed call three times before the client makes another one.
  const lossy = () => open(loseAnswers(name === 'HTTP' ? 1 : 3));
  let storage: Storage;
  beforeAll(() => {
    storage = open();
  });
  const at = (path: string) => ({ bucket: service.bucket, path: folder + path });
  const bytes = sampleBytes('copied', 100);
  const metadata = { by: 'me', 'a.b-c_d': 'é, "=' };

  function put(path: string, content = bytes): Promise<FileRecord> {
    // Without this length, the measured speed of the line would decide the length of the chunks.
    const options = { ...at(path), chunkBytes: chunkBytesMax, contentType: 'a/b' };
    return storage.upload(content, { ...options, tags: ['t'], metadata });
  }
  const paths = async (below: string) => {
    const { bucket } = service;
    const files = await all(direct.list({ bucket, prefix: folder + below }));
    return files.map(({ path }) => path.slice(folder.length + below.length));
  };
  const versions = async (path: string) =>
    (await all(storage.versions.list(at(path)))).map(({ version }) => version);

  test('the record of an upload has its metadata, for single files and batches', async () => {
    expect(await put('noted')).toMatchObject({ metadata });
    expect(await storage.stat(at('noted'))).toMatchObject({ metadata, tags: ['t'] });
    const files = ['1', '2'].map((path) => ({
      path: `${folder}many/${path}`,
      source: bytes,
      contentType: 'a/b',
      ...(path === '2' && { metadata }),
    }));
    const results = await all(storage.uploadAll(files, { bucket: service.bucket }));
    const records = new Map(results.map(({ path, file }) => [path.at(-1), file?.metadata]));
    expect(records).toEqual(
      new Map([
        ['1', undefined],
        ['2', metadata],
      ]),
    );
    const wrong = storage.upload(bytes, { ...at('x'), metadata: { 'a b': '' } });
    await expect(wrong).rejects.toMatchObject({ code: 'InvalidArgument' });
  });

  test('a copy has all metadata of its source, and replaces a file only if its conditions hold', async () => {
    const { etag } = await put('a');
    const copied = await storage.copy(at('a'), { path: `${folder}b` });
    const expected = { path: `${folder}b`, etag, contentType: 'a/b', tags: ['t'], metadata };
    expect(copied).toMatchObject({ ...expected, version: 1 });
    expect(await storage.stat(at('b'))).toEqual(copied);
    const refused = storage.copy(at('a'), at('b'), { ifNoneMatch: '*' });
    await expect(refused).rejects.toMatchObject({ code: 'PreconditionFailed' });
    await put('a', sampleBytes('another', 5));
    const replaced = await storage.copy(at('a'), at('b'), { ifMatch: `"${etag}"` });
    expect(replaced).toMatchObject({ version: 2, size: 5 });
    const missing = storage.copy(at('none'), at('b'));
    await expect(missing).rejects.toMatchObject({ code: 'NoSuchFile' });
  });

  test('a copy of a former version applies the fields of the request, even if answers are lost', async () => {
    for (const size of [5, 6]) await put('said', sampleBytes(`${size}`, size));
    const notes = { contentType: 'c/d', tags: ['a'], metadata: { x: 'y' } };
    const headers = { 'Cache-Control': 'max-age=3' };
    const wanted = { version: 1, ifNoneMatch: '*', ...notes, tags: [' a', 'a', ' '], headers };
    const copy = await lossy().copy(at('said'), at('said copy'), wanted);
    expect(copy).toMatchObject({ ...notes, size: 5, version: 1 });
    expect(await storage.stat(at('said copy'))).toEqual(copy);
    const back = await storage.copy(at('said'), at('said'), { version: 1 });
    expect(back).toMatchObject({ contentType: 'a/b', size: 5, version: 3 });
    expect(await versions('said')).toEqual([1, 2]);
    const stale = storage.copy(at('said'), at('x'), { ifSourceMatch: '"stale"' });
    await expect(stale).rejects.toMatchObject({ code: 'PreconditionFailed' });
  });

  test('a move takes the file to its new path once', async () => {
    const { id, etag } = await put('c');
    const moved = await storage.move(at('c'), at('d'));
    expect(moved).toMatchObject({ id, etag, path: `${folder}d`, metadata });
    await expect(storage.stat(at('c'))).rejects.toMatchObject({ code: 'NoSuchFile' });
    // The target is already the moved file, but this call cannot have moved it.
    const again = storage.move(at('c'), at('d'));
    await expect(again).rejects.toMatchObject({ code: 'NoSuchFile' });
  });

  test('a lost answer to a copy, a move or a change is detected', async () => {
    const { etag } = await put('lost/a');
    const condition = { ifNoneMatch: '*' };
    const copied = await lossy().copy(at('lost/a'), at('lost/b'), condition);
    expect(copied).toMatchObject({ path: `${folder}lost/b`, etag, version: 1 });
    const moved = await lossy().move(at('lost/a'), at('lost/c'), condition);
    expect(moved).toMatchObject({ path: `${folder}lost/c`, etag, version: 1 });
    const ifMatch = `"${etag}"`;
    const changed = await lossy().change(at('lost/c'), { contentType: 'c/d', ifMatch });
    expect(changed).toMatchObject({ contentType: 'c/d', etag, tags: ['t'], metadata });
    expect(await paths('lost/')).toEqual(['b', 'c']);
  });

  test('a condition that does not hold is reported even after a lost answer', async () => {
    await put('kept/a');
    await put('kept/b', sampleBytes('another', 5));
    const refused = lossy().copy(at('kept/a'), at('kept/b'), { ifNoneMatch: '*' });
    await expect(refused).rejects.toMatchObject({ code: 'PreconditionFailed' });
    expect(await storage.stat(at('kept/b'))).toMatchObject({ size: 5 });
    // A target that already equals the source does not meet the condition either.
    const { etag } = await storage.copy(at('kept/a'), at('kept/c'));
    const failed = { code: 'PreconditionFailed' };
    const once = storage.copy(at('kept/a'), at('kept/c'), { ifNoneMatch: '*' });
    await expect(once).rejects.toMatchObject(failed);
    const ifSourceMatch = `"${etag.replace(/^./, (first) => (first === '0' ? '1' : '0'))}"`;
    const other = lossy().copy(at('kept/a'), at('kept/c'), { ifSourceMatch });
    await expect(other).rejects.toMatchObject(failed);
  });

  test('a prefix is moved in as many calls as needed, and counted correctly despite lost answers', async () => {
    const { bucket } = service;
    // More files than one call moves; over one transport only, because the service alone limits the
    // number of files in a call.
    const count = name === 'HTTP' ? 1_003 : 3;
    const files = Array.from({ length: count }, (_, index) => ({
      path: `${folder}from/${1_000 + index}`,
      source: bytes.subarray(0, 10),
    }));
    await all(direct.uploadAll(files, { bucket }));
    const move = (from: string, to: string) => ({
      bucket,
      fromPrefix: folder + from,
      toPrefix: folder + to,
    });
    expect(await lossy().moveAll(move('from/', 'to/'))).toEqual({ moved: count, failed: [] });
    expect(await paths('from/')).toEqual([]);
    expect(await paths('to/')).toHaveLength(count);
    expect(await storage.moveAll(move('from/', 'to/'))).toEqual({ moved: 0, failed: [] });
    const within = storage.moveAll(move('to/', 'to/deeper/'));
    await expect(within).rejects.toMatchObject({ code: 'InvalidArgument' });
  });

  test('a change completely replaces each field that it names', async () => {
    const { etag } = await put('changed');
    const headers = { 'Cache-Control': 'no-cache' };
    const change = { tags: [], headers, metadata: { only: 'this' } };
    const changed = await storage.change(at('changed'), change);
    expect(changed).toMatchObject({ etag, version: 2, tags: [], metadata: { only: 'this' } });
    const cleared = await storage.change(at('changed'), { metadata: {} });
    expect(cleared.metadata).toBeUndefined();
    const stale = storage.change(at('changed'), { tags: ['x'], ifMatch: '"other"' });
    await expect(stale).rejects.toMatchObject({ code: 'PreconditionFailed' });
  });

  test('former versions are listed, restored and erased, even if answers are lost', async () => {
    for (const size of [1, 2, 3, 4]) await put('v/a', sampleBytes(`${size}`, size));
    const listed = await all(
      storage.versions.list({ ...at(''), path: undefined, prefix: `${folder}v/` }),
    );
    expect(listed.map(({ version, size }) => [version, size])).toEqual([
      [1, 1],
      [2, 2],
      [3, 3],
    ]);
    expect(listed[0]).toMatchObject({ path: `${folder}v/a`, contentType: 'a/b', metadata });
    expect(Date.parse(listed[0]?.expiresAt ?? '')).toBeGreaterThan(Date.now());
    const restored = await lossy().versions.restore({ ...at('v/a'), version: 2 });
    expect(restored).toMatchObject({ version: 5, size: 2 });
    expect(await versions('v/a')).toEqual([1, 3, 4]);
    const missing = storage.versions.restore({ ...at('v/a'), version: 2 });
    await expect(missing).rejects.toMatchObject({ code: 'NoSuchFile' });
    const kept = storage.versions.restore({ ...at('v/a'), version: 1, ifNoneMatch: '*' });
    await expect(kept).rejects.toMatchObject({ code: 'PreconditionFailed' });
    expect(await lossy().versions.erase({ ...at('v/a'), version: 3 })).toEqual({
      erased: 1,
      held: 0,
    });
    const gone = storage.versions.erase({ ...at('v/a'), version: 3 });
    await expect(gone).rejects.toMatchObject({ code: 'NoSuchFile' });
    expect(await storage.versions.erase(at('v/a'))).toEqual({ erased: 2, held: 0 });
    await put('v/b');
    await put('v/b');
    const { bucket } = service;
    expect(await storage.versions.erase({ bucket, prefix: `${folder}v/` })).toEqual({
      erased: 1,
      held: 0,
    });
    expect(await versions('v/a')).toEqual([]);
  });

  test("version selects a version's record, bytes, a range, and the rest of a download", async () => {
    const contents = [4_000_000, 0, 300].map((size) => sampleBytes(`read ${size}`, size));
    for (const content of contents) await put('v/c', content);
    await storage.remove(at('v/c'));
    await put('v/c', bytes);
    const all = [...contents, bytes];
    for (const [index, content] of all.entries()) {
      // Version 4 is the present file.
      const version = index + 1;
      const record = await storage.stat(at('v/c'), { version });
      expect(record).toMatchObject({ version, size: content.length, metadata, tags: ['t'] });
      const download = await storage.download(at('v/c'), { version });
      expect(download).toMatchObject({ etag: record.etag, size: content.length });
      expect(Buffer.compare(await download.bytes(), content)).toBe(0);
    }
    const [long = bytes] = contents;
    const range = { start: 1_899_990, end: 3_800_010 };
    const part = await storage.versions.download({ ...at('v/c'), version: 1 }, { range });
    expect(Buffer.compare(await part.bytes(), long.subarray(range.start, range.end))).toBe(0);
    const { etag } = part;
    const resume = { etag, received: long.subarray(0, 2_000_000) };
    const rest = await storage.download(at('v/c'), { version: 1, resume });
    expect(rest.start).toBe(chunkBytesMax);
    expect(Buffer.compare(await rest.bytes(), long.subarray(rest.start))).toBe(0);
    for (const version of [1.5, -1, Number.NaN]) {
      const wrong = { code: 'InvalidArgument' };
      await expect(storage.stat(at('v/c'), { version })).rejects.toMatchObject(wrong);
      await expect(storage.download(at('v/c'), { version })).rejects.toMatchObject(wrong);
      await expect(storage.copy(at('v/c'), at('x'), { version })).rejects.toMatchObject(wrong);
    }
    await storage.versions.erase({ ...at('v/c'), version: 1 });
    for (const version of [1, 5]) {
      const none = { code: 'NoSuchFile', message: expect.stringContaining(`Version ${version}`) };
      await expect(storage.stat(at('v/c'), { version })).rejects.toMatchObject(none);
      await expect(storage.download(at('v/c'), { version })).rejects.toMatchObject(none);
    }
  });
});

test('buckets.create() and get() return keepVersionsDays, versionCount and versionBytes', async () => {
  const made = await direct.buckets.create('keeps', { keepVersionsDays: 3 });
  expect(made).toMatchObject({ keepVersionsDays: 3, versionCount: 0, versionBytes: 0 });
  for (const size of [10, 20]) {
    const name = { bucket: 'keeps', path: 'a', contentType: 'a/b' };
    await direct.upload(sampleBytes('x', size), name);
  }
  const { versionCount, versionBytes } = await direct.buckets.get('keeps');
  expect(versionCount).toBe(1);
  expect(versionBytes).toBeGreaterThan(10);
  const changed = await direct.buckets.update('keeps', { keepVersionsDays: 0 });
  expect(changed.keepVersionsDays).toBe(0);
  const tooLong = direct.buckets.update('keeps', { keepVersionsDays: 3_651 });
  await expect(tooLong).rejects.toMatchObject({ code: 'InvalidArgument' });
});

test('Storage.copy(): a key for several buckets copies and moves between them', async () => {
  const { bucket } = service;
  const { secret } = await direct.keys.create({
    name: 'both',
    buckets: [bucket, other],
    permissions: ['read', 'write', 'delete'],
  });
  const storage = createStorage({ url: service.base, apiKey: secret });
  const source = { bucket, path: 'across/a' };
  await storage.upload(sampleBytes('x', 10), { ...source, contentType: 'a/b' });
  const target = { bucket: other, path: 'b' };
  expect(await storage.copy(source, target)).toMatchObject({ bucketId: other, path: 'b' });
  const moved = await storage.move(target, { bucket, path: 'across/back' });
  expect(moved).toMatchObject({ bucketId: bucket, path: 'across/back' });
  await expect(storage.stat(target)).rejects.toMatchObject({ code: 'NoSuchFile' });
});

const faults = { loseRequest: 0.1, loseAnswer: 0.15, sendTwice: 0.1, refuse: 0.1, delayMsMax: 30 };

describe.each(['HTTP', 'the actor'])(
  `Storage.copy(): over a network that fails, seed ${networkSeed}`,
  (name) => {
    test(`every call over ${name} succeeds`, async () => {
      const { bucket } = service;
      const random = randomNumbers(networkSeed);
      const address = name === 'HTTP' ? service.base : service.host;
      const proxy = await startProxy(address, () => random(1_000_000) / 1_000_000);
      const storage = name === 'HTTP' ? overHttp(proxy.url) : byActor(proxy.url);
      const folder = `failing ${name}/`;
      const at = (path: string) => ({ bucket, path: folder + path });
      const numbers = Array.from({ length: 8 }, (_, index) => 100 + index);
      for (const content of ['former', 'latter']) {
        const files = numbers.flatMap((number) =>
          ['copy', 'move', 'change', 'restore'].map((kind) => ({
            path: `${folder}${kind}/${number}`,
            source: sampleBytes(`${content} ${number}`, 10),
          })),
        );
        await all(direct.uploadAll(files, { bucket }));
      }
      proxy.faults = faults;
      const isNew = { ifNoneMatch: '*' };
      await Promise.all(
        numbers.map(async (number) => {
          await storage.copy(at(`copy/${number}`), at(`copied/${number}`));
          await storage.move(at(`move/${number}`), at(`moved/${number}`), isNew);
          await storage.change(at(`change/${number}`), { metadata: { number: `${number}` } });
          await storage.versions.restore({ ...at(`restore/${number}`), version: 1 });
        }),
      );
      await proxy.idle();
      // If a duplicate ran first, moveAll would count no file, and copy would fail its condition.
      proxy.faults = { ...faults, sendTwice: 0 };
      const prefixes = { fromPrefix: `${folder}moved/`, toPrefix: `${folder}at last/` };
      expect(await storage.moveAll({ bucket, ...prefixes })).toEqual({
        moved: numbers.length,
        failed: [],
      });
      await Promise.all(
        numbers.map(async (number) => {
          await storage.copy(at(`copy/${number}`), at(`new/${number}`), isNew);
          await storage.versions.erase({ ...at(`restore/${number}`), version: 2 });
        }),
      );
      await proxy.stop();
      for (const [fault, count] of Object.entries(proxy.counts)) {
        expect(count, fault).toBeGreaterThan(0);
      }
      for (const number of numbers) {
        const { etag } = await direct.stat(at(`copy/${number}`));
        expect(await direct.stat(at(`copied/${number}`))).toMatchObject({ etag });
        expect(await direct.stat(at(`new/${number}`))).toMatchObject({ etag });
        expect(await direct.stat(at(`at last/${number}`))).toMatchObject({ etag });
        const changed = await direct.stat(at(`change/${number}`));
        expect(changed).toMatchObject({ etag, metadata: { number: `${number}` } });
        const restored = await direct.stat(at(`restore/${number}`));
        expect([restored.version, restored.etag === etag]).toEqual([3, false]);
        expect(await all(direct.versions.list(at(`restore/${number}`)))).toEqual([]);
      }
      expect(await all(direct.list({ bucket, prefix: `${folder}move/` }))).toEqual([]);
    });
  },
);
