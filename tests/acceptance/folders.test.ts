// Folders, cursors and usage, over HTTP and by actor methods, with the deployed Wasm. Every test
// has its own folder, because the service may have other files.

import { Actor, type ActorSubclass, HttpAgent } from '@dfinity/agent';
import { IDL } from '@dfinity/candid';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { onlyOnOurReplica } from '../support/network/elsewhere.ts';
import { openService, type Service } from '../support/service.ts';

let service: Service;
const run = `folders-${Date.now().toString(36)}`;

beforeAll(async () => {
  service = await openService();
});

afterAll(() => service?.stop());

function api(path: string, init: RequestInit = {}): Promise<Response> {
  const headers = { Authorization: `Bearer ${service.apiKey}`, ...init.headers };
  return fetch(`${service.base}/api/v1/bucket/${service.bucket}/${path}`, { ...init, headers });
}

async function put(path: string, body = path): Promise<void> {
  const encoded = path.split('/').map(encodeURIComponent).join('/');
  const headers = { 'Content-Type': 'text/plain' };
  const response = await api(`files/${encoded}`, { method: 'PUT', body, headers });
  expect([200, 201], path).toContain(response.status);
}

interface Page {
  readonly items: readonly { path: string; size: number }[];
  readonly folders: readonly { path: string }[];
  readonly nextCursor: string | null;
}

async function list(query: Record<string, string>): Promise<Page> {
  const response = await api(`files?${new URLSearchParams(query)}`);
  expect(response.status).toBe(200);
  return (await response.json()) as Page;
}

function namesOf({ items, folders }: Page): string[] {
  return [...items, ...folders].map(({ path }) => path).sort();
}

describe('over HTTP', () => {
  test('a folder is listed page by page, and deletions between pages skip nothing', async () => {
    const prefix = `${run}/http/`;
    for (const name of ['a', 'b/1', 'b/2/3', 'c', 'd ü/1', 'e']) await put(prefix + name);
    const found: string[] = [];
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const position: Record<string, string> = cursor === undefined ? {} : { cursor };
      const page: Page = await list({ prefix, delimiter: '/', limit: '2', ...position });
      found.push(...namesOf(page));
      for (const { path } of page.items) await api(`files/${path}`, { method: 'DELETE' });
      cursor = page.nextCursor;
    }
    expect(found).toEqual(['a', 'b/', 'c', 'd ü/', 'e'].map((name) => prefix + name));
    const down = await list({ prefix, sort: 'name_desc', limit: '2' });
    expect(down.items.map(({ path }) => path)).toEqual([`${prefix}d ü/1`, `${prefix}b/2/3`]);
    expect(down.folders).toEqual([]);
  });

  test('usage is exact after uploads, a replacement and a deletion', async () => {
    const prefix = `${run}/usage/`;
    const usage = async () => (await api(`usage?prefix=${prefix}`)).json();
    await put(`${prefix}a`, 'x'.repeat(1_000));
    await put(`${prefix}b/c`, 'x'.repeat(20));
    expect(await usage()).toEqual({ prefix, files: 2, bytes: 1_020 });
    await put(`${prefix}a`, 'x');
    await api(`files/${prefix}b/c`, { method: 'DELETE' });
    expect(await usage()).toEqual({ prefix, files: 1, bytes: 1 });
  });

  test('a prefix of over 900 bytes and its cursor fit into a URL', async () => {
    const prefix = `${run}/${'漢'.repeat(300)}`;
    for (const name of ['1', '2']) await put(prefix + name);
    const query = { prefix, limit: '1', delimiter: '/' };
    const first = await list(query);
    const second = await list({ ...query, cursor: first.nextCursor ?? '' });
    expect(second.items).toMatchObject([{ path: `${prefix}2` }]);
  });

  test.each(['limit=0', 'delimiter=x', 'cursor=x', 'limit=1&page=1', 'limit=1&sort=date_asc'])(
    '%s is refused',
    async (query) => {
      const response = await api(`files?${query}`);
      const { error } = (await response.json()) as { error: { code: string } };
      expect([response.status, error.code]).toEqual([400, 'InvalidArgument']);
    },
  );
});

test('an ingress message with a GET of files is rejected without reading the list', async ({
  skip,
}) => {
  onlyOnOurReplica('its meter counts the instructions of inspections')({ skip });
  const replica = service.replica ?? expect.fail('no replica');
  for (const name of ['a', 'b', 'c']) await put(`${run}/ingress/${name}`);
  const headers = IDL.Vec(IDL.Tuple(IDL.Text, IDL.Text));
  const fields = { method: IDL.Text, url: IDL.Text, headers, body: IDL.Vec(IDL.Nat8) };
  const ask = async (url: string) => {
    const sent = [['Authorization', `Bearer ${service.apiKey}`]];
    const request = { method: 'GET', url, headers: sent, body: [] };
    const argument = IDL.encode([IDL.Record(fields)], [request]);
    const call = replica.call(service.canisterId, 'http_request_update', argument);
    await expect(call).rejects.toThrow('does not accept this message');
    return replica.reports.findLast(({ kind }) => kind === 'inspect')?.instructions;
  };
  const bucket = `/api/v1/bucket/${service.bucket}`;
  const [list, nothing] = [await ask(`${bucket}/files?limit=1000`), await ask(`${bucket}/none`)];
  expect(Math.abs(Number(list) - Number(nothing))).toBeLessThan(500_000);
});

const text = IDL.Opt(IDL.Text);
const Request = IDL.Record({
  bucketId: IDL.Text,
  prefix: text,
  delimiter: text,
  cursor: text,
  limit: IDL.Opt(IDL.Nat),
  sort: text,
  tag: text,
  apiKey: text,
});
const Item = IDL.Record({ path: IDL.Text, size: IDL.Nat });
const FolderPage = IDL.Record({
  items: IDL.Vec(Item),
  folders: IDL.Vec(IDL.Record({ path: IDL.Text })),
  nextCursor: text,
  prefix: IDL.Text,
  delimiter: IDL.Text,
});
const Usage = IDL.Record({ files: IDL.Nat, bytes: IDL.Nat });

async function openActor(): Promise<ActorSubclass> {
  const agent = await HttpAgent.create({ host: service.host, shouldFetchRootKey: true });
  const resultOf = (ok: IDL.Type) => IDL.Variant({ ok, err: IDL.Text });
  const methods = {
    listFolder: IDL.Func([Request], [resultOf(FolderPage)], ['query']),
    getUsage: IDL.Func([IDL.Text, text, text], [resultOf(Usage)], ['query']),
  };
  return Actor.createActor(() => IDL.Service(methods), { agent, canisterId: service.canisterId });
}

test("the actor's methods return the same pages", async () => {
  const prefix = `${run}/actor/`;
  for (const name of ['a', 'b/1', 'c']) await put(prefix + name);
  const actor = await openActor();
  const request = {
    bucketId: service.bucket,
    prefix: [`/${prefix}`],
    delimiter: ['/'],
    cursor: [],
    limit: [2n],
    sort: [],
    tag: [],
    apiKey: [service.apiKey],
  };
  const first = (await actor.listFolder?.(request)) as { ok: { nextCursor: [string] } };
  expect(first).toMatchObject({
    ok: {
      items: [{ path: `${prefix}a`, size: BigInt(prefix.length + 1) }],
      folders: [{ path: `${prefix}b/` }],
      prefix,
      delimiter: '/',
    },
  });
  const { nextCursor: cursor } = first.ok;
  expect(await actor.listFolder?.({ ...request, cursor })).toMatchObject({
    ok: { items: [{ path: `${prefix}c` }], folders: [], nextCursor: [] },
  });
  const bytes = BigInt(3 * prefix.length + 5);
  const key = [service.apiKey];
  expect(await actor.getUsage?.(service.bucket, [prefix], key)).toEqual({
    ok: { files: 3n, bytes },
  });
  expect(await actor.listFolder?.({ ...request, limit: [1_001n] })).toMatchObject({
    err: expect.stringMatching(/^InvalidArgument: limit/),
  });
  expect(await actor.getUsage?.(service.bucket, [], [])).toMatchObject({
    err: expect.stringMatching(/^AccessDenied: /),
  });
});
