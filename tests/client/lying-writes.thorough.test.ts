// A node that answers writes over HTTP as if it had executed them: the library and `efs` report
// only writes that have happened, unless they were asked to write over HTTP.

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { encode } from 'cborg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { FileStorage } from '../../packages/client/src/files/file-storage.ts';
import { createHttpStorage } from '../../packages/client/src/http-storage.ts';
import { identityFromPem } from '../../packages/client/src/node/identity.ts';
import { createStorage, type Storage } from '../../packages/client/src/storage.ts';
import { isStorageError } from '../../packages/client/src/storage-error.ts';
import { type LyingGateway, startLyingGateway } from '../support/lying-gateway.ts';
import { openService, type Service, sampleBytes } from '../support/service.ts';
import { callCommand } from './command-calls.ts';

const bucket = 'demo';
const retry = { attemptsMax: 2, delayMsMin: 1 };
const small = sampleBytes('small', 500);
const large = sampleBytes('large', 3_000_000);

let service: Service;
let owner: Storage;
let gateway: LyingGateway;
let folder: string;

beforeAll(async () => {
  service = await openService({});
  const { host, canisterId, identityPem } = service;
  owner = createStorage({ host, canisterId, identity: identityFromPem(identityPem) });
  await owner.buckets.update(bucket, { keepVersionsDays: 7 });
  gateway = await startLyingGateway(service.base);
  folder = await mkdtemp(join(tmpdir(), 'lying-writes-'));
});
afterAll(async () => {
  await gateway?.stop();
  await service?.stop();
  await rm(folder, { recursive: true, force: true });
});

const at = (path: string) => ({ bucket, path });
const put = (path: string, bytes = small) =>
  owner.upload(bytes, { ...at(path), contentType: 'a/b' });

async function paths(prefix = ''): Promise<string[]> {
  const found: string[] = [];
  for await (const { path } of owner.list({ bucket, prefix })) found.push(path);
  return found;
}

async function count(items: AsyncIterable<unknown>): Promise<number> {
  let length = 0;
  for await (const _ of items) length += 1;
  return length;
}

interface Write {
  write(storage: FileStorage): Promise<unknown>;
  /** Returns whether the write has happened. */
  isDone(): Promise<boolean>;
}

const has = async (path: string) => (await paths(path)).includes(path);

const writes: Readonly<Record<string, Write>> = {
  'upload() of a small file': {
    write: (storage) => storage.upload(small, { ...at('new'), contentType: 'a/b' }),
    isDone: () => has('new'),
  },
  'upload() in chunks': {
    write: (storage) => storage.upload(large, { ...at('new'), contentType: 'a/b' }),
    isDone: () => has('new'),
  },
  'uploadAll()': {
    async write(storage) {
      const files = ['many/1', 'many/2'].map((path) => ({ path, source: small }));
      const options = { bucket, contentType: 'a/b' };
      for await (const { error } of storage.uploadAll(files, options)) if (error) throw error;
    },
    isDone: async () => (await paths('many/')).length === 2,
  },
  'change()': {
    write: (storage) => storage.change(at('old'), { tags: ['changed'] }),
    isDone: async () => (await owner.stat(at('old'))).tags.includes('changed'),
  },
  'copy()': {
    write: (storage) => storage.copy(at('old'), { path: 'new' }),
    isDone: () => has('new'),
  },
  'move()': {
    write: (storage) => storage.move(at('old'), { path: 'new' }),
    isDone: () => has('new'),
  },
  'moveAll()': {
    write: (storage) => storage.moveAll({ bucket, fromPrefix: 'in/', toPrefix: 'to/' }),
    isDone: () => has('to/1'),
  },
  'remove()': {
    write: (storage) => storage.remove(at('old')),
    isDone: async () => !(await has('old')),
  },
  'removeAll()': {
    write: (storage) => count(storage.removeAll({ bucket, prefix: 'in/' })),
    isDone: async () => (await paths('in/')).length === 0,
  },
  'links.create()': {
    write: (storage) => storage.links.create(at('old')),
    isDone: async () => (await count(owner.links.list(at('old')))) === 2,
  },
  'links.remove()': {
    async write(storage) {
      for await (const { id } of owner.links.list(at('old')))
        await storage.links.remove(bucket, id);
    },
    isDone: async () => (await count(owner.links.list(at('old')))) === 0,
  },
  'versions.erase()': {
    write: (storage) => storage.versions.erase(at('old')),
    isDone: async () => (await count(owner.versions.list(at('old')))) === 0,
  },
};

beforeEach(async () => {
  for (const path of await paths()) await owner.remove(at(path));
  await put('old', large.subarray(0, 10));
  await put('old');
  await put('in/1');
  await owner.links.create(at('old'));
});

describe.each(Object.keys(writes))('createStorage(): %s', (name) => {
  const { write, isDone } = writes[name] as Write;

  test('at the address of a lying gateway either happens or fails', async () => {
    const storage = createStorage({ url: gateway.url, apiKey: service.apiKey, retry });
    const isClaimed = await write(storage).then(
      () => true,
      (error) => {
        // Chunks of a slow line go over HTTP; the service reports at completion that some are missing.
        expect(isStorageError(error, 'UploadIncomplete')).toBe(true);
        return false;
      },
    );
    expect(await isDone()).toBe(isClaimed);
    if (name !== 'upload() in chunks') expect(isClaimed).toBe(true);
  });

  test.each([
    ['createHttpStorage()', createHttpStorage],
    ["createStorage({ transport: 'http' })", createStorage],
  ])('by %s only seems to happen', async (_, open) => {
    gateway.lies.length = 0;
    const { url } = gateway;
    await write(open({ url, apiKey: service.apiKey, retry, transport: 'http' }));
    expect(gateway.lies.length).toBeGreaterThan(0);
    expect(await isDone()).toBe(false);
  });
});

test('createStorage() sends no write over HTTP because a node claims an earlier version', async () => {
  const { canisterId, apiKey, base: url } = service;
  const claim = encode({
    ...{ status: 'non_replicated_rejection', reject_code: 5, error_code: 'IC0536' },
    reject_message: `Canister ${canisterId} has no update method 'deleteFile'`,
  });
  const written: string[] = [];
  const lying: typeof fetch = async (input, init) => {
    const { url: asked, method } = new Request(input, init);
    if (/\/call$/.test(asked)) return new Response(claim as BodyInit, { status: 200 });
    if (method === 'DELETE') written.push(asked);
    return fetch(input, init);
  };
  const storage = createStorage({ url, apiKey, fetch: lying, retry });
  await expect(storage.remove(at('old'))).rejects.toMatchObject({ code: 'Unsupported' });
  expect(written).toEqual([]);
});

test('upload() of a stream completes it with its entity tag, although a node denies the method', async () => {
  const { canisterId, host, apiKey } = service;
  const denied = Buffer.from('completeFileUploadWith');
  const claim = encode({
    ...{ status: 'non_replicated_rejection', reject_code: 5, error_code: 'IC0536' },
    reject_message: `Canister ${canisterId} has no update method '${denied}'`,
  });
  const completions: string[] = [];
  const lying: typeof fetch = async (input, init) => {
    const body = init?.body instanceof Uint8Array ? Buffer.from(init.body) : Buffer.alloc(0);
    if (body.includes('completeFileUpload') && !body.includes(denied)) completions.push('no tag');
    return body.includes(denied)
      ? new Response(claim as BodyInit, { status: 200 })
      : fetch(input, init);
  };
  const storage = createStorage({ host, canisterId, apiKey, fetch: lying, retry });
  const stream = new Blob([large as BlobPart]).stream();
  const stored = storage.upload(stream, { ...at('streamed'), contentType: 'a/b' });
  await expect(stored).rejects.toMatchObject({ code: 'Unsupported' });
  expect([completions, await has('streamed')]).toEqual([[], false]);
});

describe('efs', () => {
  const efs = (...words: string[]) => {
    const environment = { EFS_URL: gateway.url, EFS_API_KEY: service.apiKey };
    return callCommand(words, { folder, environment });
  };
  beforeAll(async () => {
    await mkdir(join(folder, 'files'));
    await writeFile(join(folder, 'files/small.bin'), small);
    await writeFile(join(folder, 'large.bin'), large);
  });

  const commands: readonly (readonly [string, string[], () => Promise<boolean>])[] = [
    ['put', ['put', 'files/small.bin', 'demo/new.bin'], () => has('new.bin')],
    ['put -r', ['put', '-r', 'files/', 'demo/many/'], () => has('many/small.bin')],
    ['sync', ['sync', './files', 'demo/many'], () => has('many/small.bin')],
    ['cp', ['cp', 'demo/old', 'demo/new'], () => has('new')],
    ['mv', ['mv', 'demo/old', 'demo/new'], () => has('new')],
    ['rm', ['rm', 'demo/old'], async () => !(await has('old'))],
    [
      'set',
      ['set', '--tag', 't', 'demo/old'],
      async () => {
        return (await owner.stat(at('old'))).tags.includes('t');
      },
    ],
    [
      'link create',
      ['link', 'create', 'demo/old'],
      async () => {
        return (await count(owner.links.list(at('old')))) === 2;
      },
    ],
  ];

  test.each(commands)('%s reports a write that has happened', async (_, words, isDone) => {
    await efs(...words);
    expect(await isDone()).toBe(true);
  });

  test('put of a large file either stores it or does not claim that it is stored', async () => {
    const { code, output } = await efs('put', 'large.bin', 'demo/new');
    expect(await has('new')).toBe(code === 0);
    if (code !== 0) expect(output).toBe('');
  });

  test.each(commands)('%s --transport http believes the node', async (_, words, isDone) => {
    expect(await efs('--transport', 'http', ...words)).toMatchObject({ code: 0 });
    expect(await isDone()).toBe(false);
  });
});
