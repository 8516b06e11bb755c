// Lists of files: prefixes, pages, sorts and tags, over HTTP and by the actor's method. Every test
// has its own folder, because the service may have other files.

import { Actor, HttpAgent } from '@dfinity/agent';
import { IDL } from '@dfinity/candid';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openService, type Service } from '../support/service.ts';

let service: Service;
const run = Date.now().toString(36);

beforeAll(async () => {
  service = await openService();
});

afterAll(() => service?.stop());

function api(path: string, init: RequestInit = {}): Promise<Response> {
  const headers = { Authorization: `Bearer ${service.apiKey}`, ...init.headers };
  return fetch(`${service.base}/api/v1/bucket/${service.bucket}/files${path}`, {
    ...init,
    headers,
  });
}

async function put(path: string, tags = ''): Promise<void> {
  const encoded = path.split('/').map(encodeURIComponent).join('/');
  const headers = { 'Content-Type': 'text/plain', 'X-File-Tags': tags };
  const response = await api(`/${encoded}`, { method: 'PUT', body: path, headers });
  expect([200, 201], path).toContain(response.status);
}

async function putAll(folder: string, ...names: string[]): Promise<void> {
  for (const name of names) await put(`${folder}/${name}`);
}

interface FileList {
  readonly items: { path: string; url: string; updatedAt: string; tags: string[] }[];
  readonly page: number;
  readonly pageSize: number;
  readonly total: number;
  readonly pages: number;
  readonly hasMore: boolean;
  readonly nextPage: number | null;
  readonly prefix: string;
  readonly sort: string;
}

async function list(query: Record<string, string>): Promise<FileList> {
  const response = await api(`?${new URLSearchParams(query)}`);
  expect(response.status).toBe(200);
  return (await response.json()) as FileList;
}

/** Returns the listed names, relative to the folder. */
async function names(folder: string, query: Record<string, string> = {}): Promise<string[]> {
  const { items } = await list({ pageSize: '50', prefix: `${folder}/`, ...query });
  return items.map(({ path }) => path.slice(folder.length + 1));
}

describe('a prefix', () => {
  const folder = `${run}-prefix`;

  beforeAll(async () => {
    await putAll(folder, 'foo/bar', 'foo/baz', 'quux', 'foobar', 'a%b', 'a_b', 'axb', 'é ü+&=');
  });

  test.each([
    ['foo/', ['foo/bar', 'foo/baz']],
    ['ba', []],
    ['foo', ['foo/bar', 'foo/baz', 'foobar']],
    ['a%', ['a%b']],
    ['a_', ['a_b']],
    ['é ü+&', ['é ü+&=']],
    ['FOO', []],
    ['quux/', []],
    ['d\u0007', []],
  ])('%j is matched literally', async (prefix, expected) => {
    expect(await names(folder, { prefix: `${folder}/${prefix}` })).toEqual(expected);
  });

  test('that is empty or absent selects every file', async () => {
    const [empty, absent] = await Promise.all([list({ prefix: '' }), list({})]);
    expect(empty.total).toBe(absent.total);
    expect(empty.total).toBeGreaterThanOrEqual(8);
    expect(empty.prefix).toBe('');
  });

  test('without matches returns an empty list', async () => {
    expect(await list({ prefix: `${folder}/none` })).toEqual({
      items: [],
      page: 1,
      pageSize: 10,
      total: 0,
      pages: 0,
      hasMore: false,
      nextPage: null,
      prefix: `${folder}/none`,
      sort: 'name_asc',
    });
  });
});

describe('pages', () => {
  const folder = `${run}-pages`;
  const all = Array.from({ length: 53 }, (_, index) => `f${String(index).padStart(2, '0')}`);

  beforeAll(() => putAll(folder, ...all), 120_000);

  test('linked by nextPage contain every file once', async () => {
    const found: string[] = [];
    for (let page: number | null = 1; page !== null; ) {
      const part: FileList = await list({
        prefix: `${folder}/`,
        page: String(page),
        pageSize: '7',
        sort: 'name_desc',
      });
      expect(part).toMatchObject({ total: 53, pages: 8, pageSize: 7, page });
      found.push(...part.items.map(({ path }) => path.slice(folder.length + 1)));
      page = part.nextPage;
    }
    expect(found).toEqual([...all].reverse());
  });

  test('have ten files by default, and one to fifty if the request says so', async () => {
    const sizeOf = async (pageSize: string) => {
      const { items, pageSize: echoed } = await list({ prefix: folder, pageSize });
      return [items.length, echoed];
    };
    expect((await list({ prefix: folder })).items).toHaveLength(10);
    expect(await sizeOf('1')).toEqual([1, 1]);
    expect(await sizeOf('50')).toEqual([50, 50]);
    expect(await sizeOf('1000')).toEqual([50, 50]);
  });

  test('past the end are empty and have correct totals', async () => {
    expect(await list({ prefix: folder, page: '7' })).toMatchObject({
      items: [],
      total: 53,
      pages: 6,
      hasMore: false,
    });
  });

  test.each(['pageSize=0', 'pageSize=blah', 'page=0', 'page=1.5', 'sort=size', 'page=1&page=2'])(
    '%s is refused',
    async (query) => {
      const response = await api(`?${query}`);
      const { error } = (await response.json()) as { error: { code: string } };
      expect([response.status, error.code]).toEqual([400, 'InvalidArgument']);
    },
  );
});

describe('sorts', () => {
  const folder = `${run}-sorts`;

  test('by name compare the bytes of UTF-8, and by date the last change', async () => {
    await putAll(folder, 'b', 'B', 'a/1', 'a', 'ä');
    await put(`${folder}/B`);
    expect(await names(folder)).toEqual(['B', 'a', 'a/1', 'b', 'ä']);
    expect(await names(folder, { sort: 'name_desc' })).toEqual(['ä', 'b', 'a/1', 'a', 'B']);
    expect(await names(folder, { sort: 'date_asc' })).toEqual(['b', 'a/1', 'a', 'ä', 'B']);
    expect(await names(folder, { sort: 'date_desc' })).toEqual(['B', 'ä', 'a', 'a/1', 'b']);
    await api(`/${folder}/a`, { method: 'DELETE' });
    expect(await names(folder, { sort: 'date_asc' })).toEqual(['b', 'a/1', 'ä', 'B']);
  });
});

describe('tags', () => {
  test('select the files that have them now', async () => {
    const folder = `${run}-tags`;
    const tag = `t ${run}`;
    await put(`${folder}/a`, `${tag}, other`);
    await put(`${folder}/b`, tag);
    await put(`${folder}/c`);
    expect(await names(folder, { tag })).toEqual(['a', 'b']);
    const { total, items } = await list({ tag });
    expect([total, items[0]?.tags]).toEqual([2, [tag, 'other']]);
    await put(`${folder}/a`);
    expect(await names(folder, { tag })).toEqual(['b']);
  });
});

describe('a list', () => {
  test('needs a key', async () => {
    const url = `${service.base}/api/v1/bucket/${service.bucket}/files`;
    const response = await fetch(url);
    expect(response.status).toBe(401);
    expect(response.headers.get('www-authenticate')).toBe('Bearer');
    const found = await api('');
    expect(found.headers.get('cache-control')).toBe('private, no-store');
    expect(found.headers.get('content-type')).toBe('application/json');
  });

  test("is the same through the actor's method", async () => {
    const folder = `${run}-actor`;
    await putAll(folder, 'a', 'b', 'c');
    const agent = await HttpAgent.create({ host: service.host, shouldFetchRootKey: true });
    const text = IDL.Opt(IDL.Text);
    const nat = IDL.Opt(IDL.Nat);
    const fields = { prefix: text, page: nat, pageSize: nat, sort: text, tag: text, apiKey: text };
    const Item = IDL.Record({ path: IDL.Text, updatedAt: IDL.Int });
    const numbers = { page: IDL.Nat, pageSize: IDL.Nat, total: IDL.Nat, pages: IDL.Nat };
    const page = { items: IDL.Vec(Item), ...numbers, hasMore: IDL.Bool, nextPage: nat };
    const answer = IDL.Variant({ ok: IDL.Record(page), err: IDL.Text });
    const request = IDL.Record({ bucketId: IDL.Text, ...fields });
    const actor = Actor.createActor<{ listFiles(argument: object): Promise<{ ok?: never }> }>(
      () => IDL.Service({ listFiles: IDL.Func([request], [answer], ['query']) }),
      { agent, canisterId: service.canisterId },
    );
    const argument = {
      bucketId: service.bucket,
      prefix: [`/${folder}/`],
      page: [2n],
      pageSize: [2n],
      sort: ['date_desc'],
      tag: [],
      apiKey: [service.apiKey],
    };
    expect(await actor.listFiles(argument)).toMatchObject({
      ok: {
        items: [{ path: `${folder}/a`, updatedAt: expect.any(BigInt) }],
        page: 2n,
        pageSize: 2n,
        total: 3n,
        pages: 2n,
        hasMore: false,
        nextPage: [],
      },
    });
    const first = await actor.listFiles({ ...argument, page: [] });
    expect(first).toMatchObject({ ok: { nextPage: [2n], items: [{}, {}] } });
    expect(await actor.listFiles({ ...argument, page: [0n] })).toMatchObject({
      err: expect.stringMatching(/^InvalidArgument: /),
    });
    expect(await actor.listFiles({ ...argument, apiKey: [] })).toMatchObject({
      err: expect.stringMatching(/^AccessDenied: /),
    });
  });
});
