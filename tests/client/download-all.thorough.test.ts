// Downloads of many files by few requests, over each transport and in each kind of bucket.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { nodeEndToEnd } from '../../packages/client/src/node/end-to-end.ts';
import { identityFromPem } from '../../packages/client/src/node/identity.ts';
import { createNodeStorage } from '../../packages/client/src/node/storage.ts';
import type { Storage } from '../../packages/client/src/storage.ts';
import type { DownloadedFile, FileToDownload } from '../../packages/client/src/types/transfers.ts';
import { onlyOnOurReplica } from '../support/network/elsewhere.ts';
import { openService, type Service, sampleBytes } from '../support/service.ts';

let service: Service;
let owner: Storage;
let apiKey: string;
const buckets = ['plain', 'safe', 'sealed'] as const;

const contents = new Map<string, Uint8Array>([
  ['empty', new Uint8Array(0)],
  ['large', sampleBytes('large', 2_500_000)],
  ['chunks', sampleBytes('chunks', 90_000)],
  ...Array.from({ length: 230 }, (_, index): [string, Uint8Array] => {
    return [`in/${index}`, sampleBytes(String(index), 50 + 100 * index)];
  }),
]);

beforeAll(async () => {
  service = await openService();
  const { host, canisterId, identityPem } = service;
  const identity = identityFromPem(identityPem);
  owner = createNodeStorage({ host, canisterId, identity, endToEnd: nodeEndToEnd() });
  await owner.buckets.create('plain');
  await owner.buckets.create('safe', { endToEnd: {} });
  await owner.buckets.create('sealed', { endToEnd: { sealsNames: true } });
  const request = { name: 'reader', buckets: ['plain'], permissions: ['read'] as const };
  apiKey = (await owner.keys.create(request)).secret;
  for (const bucket of buckets) {
    const files = [...contents].map(([path, source]) => ({ path, source }));
    for await (const { error } of owner.uploadAll(files, { bucket })) if (error) throw error;
    const source = contents.get('chunks') ?? expect.fail();
    await owner.upload(source, { bucket, path: 'chunks', chunkBytes: 65_536 });
  }
});
afterAll(() => service?.stop());

async function all(found: AsyncIterable<DownloadedFile>) {
  const bytes = new Map<string, Uint8Array | string>();
  for await (const { path, download, error } of found) {
    bytes.set(path, download === undefined ? error.code : await download.bytes());
  }
  return bytes;
}

function bytesOf(found: ReadonlyMap<string, Uint8Array | string>, path: string): Uint8Array {
  const bytes = found.get(path);
  return bytes instanceof Uint8Array ? bytes : expect.fail(`${path}: ${bytes}`);
}

function expectContents(found: ReadonlyMap<string, Uint8Array | string>): void {
  expect([...found.keys()].sort()).toEqual([...contents.keys()].sort());
  const different = [...contents].filter(([path, bytes]) => {
    const own = found.get(path);
    return typeof own === 'string' || own === undefined || Buffer.compare(own, bytes) !== 0;
  });
  expect(different.map(([path]) => path)).toEqual([]);
}

/** Returns the number of queries of a method that the replica runs during `work`. */
async function queriesOf(method: string, work: () => Promise<void>): Promise<number> {
  const reports = service.replica?.reports ?? expect.fail('this needs the local replica');
  const count = () => reports.filter((one) => one.method === method && one.kind === 'query').length;
  const before = count();
  await work();
  return count() - before;
}

describe('Storage.downloadAll() of few queries', () => {
  beforeEach(onlyOnOurReplica('it reports the queries that a canister runs'));

  test.each(buckets)('reads all files of bucket %s by four requests', async (bucket) => {
    const queries = await queriesOf('readFiles', async () => {
      expectContents(await all(owner.downloadAll(owner.list({ bucket }), { bucket })));
    });
    expect(queries).toBeGreaterThanOrEqual(2);
    expect(queries).toBeLessThanOrEqual(4);
  });

  test('reads one small file by one query', async () => {
    const bucket = 'plain';
    const [[path, bytes] = expect.fail('no files')] = [...contents].filter(
      ([, one]) => typeof one !== 'string' && one.length > 0 && one.length < 100_000,
    );
    const read = async () => {
      const files = [{ path, size: bytes.length }];
      const found = await all(owner.downloadAll(files, { bucket }));
      expect(found).toEqual(new Map([[path, bytes]]));
    };
    expect(await queriesOf('readFiles', read)).toBe(1);
    expect(await queriesOf('getFile', read)).toBe(0);
  });
});

describe('Storage.downloadAll()', () => {
  /** Counts requests, and the most that run at a time; `refused` ones get a page of a proxy. */
  function watched(refused?: RegExp, status = 405) {
    const seen = { reads: 0, running: 0, most: 0 };
    const counted: typeof fetch = async (input, init) => {
      seen.reads += Number(String(input).endsWith('/read'));
      seen.most = Math.max(seen.most, ++seen.running);
      const isRefused = refused?.test(String(input));
      const answer = isRefused ? new Response('<p>no', { status }) : fetch(input, init);
      return Promise.resolve(answer).finally(() => {
        seen.running -= 1;
      });
    };
    return { seen, fetch: counted };
  }

  test.each(['http', undefined] as const)('with a key reads over HTTP: %s', async (transport) => {
    const { base: url, canisterId } = service;
    const bucket = 'plain';
    const { seen, fetch } = watched();
    const own = transport === undefined ? { canisterId } : { transport };
    const storage = createNodeStorage({ url, apiKey, fetch, ...own });
    expectContents(await all(storage.downloadAll(owner.list({ bucket }), { bucket })));
    expect(seen.reads).toBeGreaterThanOrEqual(2);
    expect(seen.reads).toBeLessThanOrEqual(4);
  });

  test.each(buckets)(
    'in bucket %s yields the error of each file that cannot be read',
    async (bucket) => {
      const asked: FileToDownload[] = [
        { path: 'in/1', size: 150 },
        { path: 'none', size: 1 },
        { path: 'in/../2', size: 1 },
        // Larger than it was when it was listed
        { path: 'large', size: 10 },
        { path: 'in/2' },
        { path: 'nor this' },
      ];
      const found = await all(owner.downloadAll(asked, { bucket }));
      expect(found.get('none')).toBe('NoSuchFile');
      expect(found.get('nor this')).toBe('NoSuchFile');
      expect(found.get('in/../2')).toMatch(/^(?:NoSuchFile|InvalidPath|InvalidArgument)$/);
      for (const path of ['in/1', 'in/2', 'large']) {
        expect(Buffer.compare(bytesOf(found, path), bytesOf(contents, path)), path).toBe(0);
      }
    },
  );

  test.each([405, 200])(
    'behind a proxy that answers such requests with %i and a page reads each file, a few at a time',
    async (status) => {
      const bucket = 'plain';
      const { seen, fetch } = watched(/\/read$/, status);
      const storage = createNodeStorage({ url: service.base, apiKey, transport: 'http', fetch });
      const files = owner.list({ bucket, prefix: 'in/1' });
      const found = await all(storage.downloadAll(files, { bucket, concurrency: 2 }));
      expect([found.size, seen.most]).toEqual([111, 2]);
    },
  );

  test('stops with the caller, and throws what the list of files throws', async () => {
    const controller = new AbortController();
    const stopped = async () => {
      const options = { bucket: 'plain', signal: controller.signal };
      for await (const _ of owner.downloadAll(owner.list({ bucket: 'plain' }), options)) {
        controller.abort();
      }
    };
    await expect(stopped()).rejects.toMatchObject({ code: 'Aborted' });
    async function* broken(): AsyncGenerator<FileToDownload> {
      yield { path: 'in/1', size: 150 };
      throw new Error('the disk is gone');
    }
    await expect(all(owner.downloadAll(broken(), { bucket: 'plain' }))).rejects.toThrow('the disk');
  });
});
