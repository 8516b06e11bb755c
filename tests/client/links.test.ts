// Links by the client library, over both transports, and by the command.

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { fetchCommand } from '../../console/src/linked-file.ts';
import { canisterAddress } from '../../packages/client/src/connection/canister-address.ts';
import { findCanister } from '../../packages/client/src/connection/find-canister.ts';
import { identityFromPem } from '../../packages/client/src/node/identity.ts';
import { needsPassword, openLink } from '../../packages/client/src/open-link.ts';
import { createStorage, type Storage } from '../../packages/client/src/storage.ts';
import type { LinkRecord } from '../../packages/client/src/types/links.ts';
import { principalOf } from '../../scripts/local-service.ts';
import { openService, type Service, sampleBytes } from '../support/service.ts';
import { callCommand } from './command-calls.ts';
import type { CommandSettings } from './command-runs.ts';

let service: Service;
let owner: Storage;
let apiKey: string;
let folder: string;
let settings: CommandSettings;
const bucket = 'linked';

beforeAll(async () => {
  service = await openService();
  const { base, host, canisterId, identityPem } = service;
  owner = createStorage({ host, canisterId, identity: identityFromPem(identityPem) });
  await owner.buckets.create(bucket);
  apiKey = (
    await owner.keys.create({ name: 'links', buckets: [bucket], permissions: ['read', 'write'] })
  ).secret;
  folder = await mkdtemp(join(tmpdir(), 'links-'));
  settings = { folder, environment: { EFS_URL: base, EFS_API_KEY: apiKey } };
});

afterAll(async () => {
  await service?.stop();
  await rm(folder, { recursive: true, force: true });
});

const efs = (...words: string[]) => callCommand(words, settings);

async function linksOf(storage: Storage, path?: string): Promise<LinkRecord[]> {
  const links: LinkRecord[] = [];
  for await (const link of storage.links.list({ bucket, path })) links.push(link);
  return links;
}

/** Opens a link at localhost: not every system resolves names below it. */
function open(url: string): Promise<Response> {
  const { pathname, search } = new URL(url);
  return fetch(`${service.base}${pathname}${search}`);
}

/** Reads at localhost, for the same reason. */
const localFetch: typeof fetch = (input, init) => {
  const { pathname, search } = new URL(String(input));
  return fetch(`${service.base}${pathname}${search}`, init);
};

const transports: readonly [string, () => Storage][] = [
  ['HTTP', () => createStorage({ url: service.base, apiKey })],
  ['the actor, with an identity', () => owner],
  [
    'the actor, with a key',
    () => createStorage({ host: service.host, canisterId: service.canisterId, apiKey }),
  ],
];

describe.each(transports)('Storage.links: over %s', (name, openStorage) => {
  const path = `${name}/ä b.txt`;
  let storage: Storage;
  beforeAll(async () => {
    storage = openStorage();
    const file = { bucket, path, contentType: 'text/plain' };
    await storage.upload(new TextEncoder().encode('linked'), file);
  });

  test('a link is created, opens the file for anybody, is listed, and removed', async () => {
    const expiresAt = new Date(Math.ceil(Date.now() / 1_000) * 1_000 + 60_000);
    const link = await storage.links.create({ bucket, path, expiresAt, downloadName: 'c.txt' });
    expect(link.expiresAt).toBe(expiresAt.toISOString());
    expect(link.url).toMatch(/^http:\/\/[^/]+\/s\/[\w-]{16}\/c\.txt\?k=[\w-]{22}$/);
    const response = await open(link.url);
    expect(response.headers.get('content-disposition')).toContain('filename="c.txt"');
    expect(await response.text()).toBe('linked');
    const [listed, ...others] = await linksOf(storage, path);
    const { id } = link;
    expect(listed).toEqual({
      id,
      path,
      name: 'c.txt',
      createdAt: listed?.createdAt,
      expiresAt: link.expiresAt,
      ...(storage === owner ? { maker: expect.stringMatching(/^[a-z0-9-]{63}$/) } : {}),
    });
    expect(new Date(listed?.createdAt ?? '').getTime()).toBeGreaterThan(Date.now() - 60_000);
    expect(others).toEqual([]);
    expect((await linksOf(storage)).map((one) => one.id)).toContain(id);
    await storage.links.remove(bucket, id);
    expect(await linksOf(storage, path)).toEqual([]);
    const again = storage.links.remove(bucket, id);
    await expect(again).rejects.toMatchObject({ code: 'NoSuchFile', status: 404 });
  });

  test('a link created without an expiry does not expire', async () => {
    const link = await storage.links.create({ bucket, path });
    expect(link.expiresAt).toBe(undefined);
    expect((await linksOf(storage, path)).map((one) => one.expiresAt)).toEqual([undefined]);
    expect(await (await open(link.url)).text()).toBe('linked');
    await storage.links.remove(bucket, link.id);
  });

  test('a refused link is reported with the code of the service', async () => {
    const refused = (request: { path: string; expiresAt?: Date }) =>
      expect(storage.links.create({ bucket, ...request })).rejects;
    await refused({ path: 'none' }).toMatchObject({ code: 'NoSuchFile' });
    await refused({ path, expiresAt: new Date(0) }).toMatchObject({ code: 'InvalidArgument' });
    await refused({ path, expiresAt: new Date('?') }).toMatchObject({ code: 'InvalidArgument' });
  });
});

describe.each(transports)('openLink() with a password: made over %s', (name, openStorage) => {
  const path = `${name}/locked 1.txt`;
  const password = 'Größe 7';
  let storage: Storage;
  let url: string;

  beforeAll(async () => {
    storage = openStorage();
    await storage.upload(new TextEncoder().encode('locked'), { bucket, path });
    const link = await storage.links.create({ bucket, path, password, maxDownloads: 2 });
    expect(link).toMatchObject({ hasPassword: true, maxDownloads: 2 });
    expect(link.url).toMatch(/\/#\/s\/[\w-]{16}\/locked%201\.txt\/p\.[\w-]{22}$/);
    url = link.url;
  });

  test('reads the file with the password, in whatever form it is typed', async () => {
    expect(needsPassword(url)).toBe(true);
    for (const typed of [password, password.normalize('NFD')]) {
      const download = await openLink(url, { password: typed, fetch: localFetch });
      expect(new TextDecoder().decode(await download.bytes())).toBe('locked');
    }
    const [listed] = await linksOf(storage, path);
    expect(listed).toMatchObject({ hasPassword: true, maxDownloads: 2, downloadCount: 2 });
    const third = openLink(url, { password, fetch: localFetch });
    await expect(third).rejects.toMatchObject({ code: 'NoSuchFile', status: 404 });
  });

  test('refuses a wrong password, none, and a cut off address', async () => {
    const other = await storage.links.create({ bucket, path, password });
    const reading = (address: string, typed?: string) =>
      expect(openLink(address, { password: typed, fetch: localFetch })).rejects;
    await reading(other.url, 'Grösse 7').toMatchObject({ code: 'AccessDenied', status: 403 });
    await reading(other.url).toMatchObject({
      message: expect.stringContaining('needs a password'),
    });
    for (const cut of [other.url.slice(0, -1), `${other.url}.`]) {
      expect(needsPassword(cut)).toBe(true);
      await reading(cut, password).toMatchObject({ code: 'InvalidArgument' });
    }
    await storage.links.remove(bucket, other.id);
  });

  test('links.create refuses an empty password and half a download', async () => {
    const creating = (bounds: object) =>
      expect(storage.links.create({ bucket, path, ...bounds })).rejects;
    await creating({ password: '' }).toMatchObject({ code: 'InvalidArgument' });
    await creating({ maxDownloads: 0.5 }).toMatchObject({ code: 'InvalidArgument' });
    expect((await linksOf(storage, path)).every(({ hasPassword }) => hasPassword)).toBe(true);
  });
});

test('links.create() returns the address of the page of a link with a title', async () => {
  const path = 'titled.txt';
  await owner.upload(new TextEncoder().encode('x'), { bucket, path });
  const made = await owner.links.create({ bucket, path, title: 'Our notes' });
  expect(made.pageUrl).toBe(`${made.url}&page`);
  expect(await (await open(made.pageUrl ?? '')).text()).toContain('<h1>Our notes</h1>');
  expect(await linksOf(owner, path)).toMatchObject([{ title: 'Our notes' }]);
  const opened = await openLink(made.pageUrl ?? '', { fetch: localFetch });
  expect(new TextDecoder().decode(await opened.bytes())).toBe('x');
  const printed = await efs('link', 'create', '--title', 'By efs', `${bucket}/${path}`);
  expect(printed.output).toMatch(/titled\.txt\?k=[\w-]{22}&page\n$/);
});

test('links.create() removes a link that an earlier service makes without its password', async () => {
  const former: typeof fetch = async (input, init) => {
    const response = await fetch(input, init);
    if (init?.method !== 'POST' || !String(input).endsWith('/links')) return response;
    const { id, url } = (await response.json()) as { id: string; url: string };
    return Response.json({ id, url }, { status: 201 });
  };
  const storage = createStorage({ url: service.base, apiKey, fetch: former, transport: 'http' });
  const path = 'former.txt';
  await owner.upload(new TextEncoder().encode('x'), { bucket, path });
  for (const bounds of [{ password: 'a' }, { maxDownloads: 1 }]) {
    const creating = storage.links.create({ bucket, path, ...bounds });
    await expect(creating).rejects.toMatchObject({ code: 'Unsupported' });
  }
  expect(await linksOf(owner, path)).toEqual([]);
});

test('efs link create --password and efs get ask for the password or take EFS_LINK_PASSWORD', async () => {
  const path = 'by-command.txt';
  await owner.upload(new TextEncoder().encode('typed'), { bucket, path });
  const words = ['link', 'create', '--password', '--max-downloads', '5', `${bucket}/${path}`];
  const zero = await efs('link', 'create', '--max-downloads', '0', `${bucket}/${path}`);
  expect(zero.errors).toContain('maxDownloads is 0');
  const asked = await efs(...words);
  expect(asked.code).toBe(2);
  expect(asked.errors).toContain('set EFS_LINK_PASSWORD');
  const environment = { ...settings.environment, EFS_LINK_PASSWORD: 'violet' };
  const knowing = (...given: string[]) => callCommand(given, { ...settings, environment });
  const made = await knowing(...words);
  expect(made.errors).toContain('and the password reads linked/by-command.txt');
  expect(made.errors).toContain('or 5 downloads are made');
  const { host } = new URL(service.base);
  const address = made.output.trim().replace(/\/\/[^/]+/, `//${host}`);
  expect((await knowing('get', address, '-')).output).toBe('typed');
  expect((await efs('link', 'ls', `${bucket}/${path}`)).output).toMatch(/1\/5 +yes/);
});

test("Storage.links: every special character of a name is encoded in the link's address", async () => {
  const path = "it's (1)*!.txt";
  await owner.upload(new TextEncoder().encode('linked'), { bucket, path, contentType: 'a/b' });
  const { url } = await owner.links.create({ bucket, path });
  const link = new URL(`${url}#AQ`);
  const [, address = ''] = /"(.*)"$/.exec(fetchCommand(link) ?? '') ?? [];
  expect(address).not.toMatch(/[!'()*]/);
  expect(await (await open(address)).text()).toBe('linked');
});

test.each([
  ['https://icp-api.io', 'https://aaaaa-aa.icp.net'],
  ['https://icp.net', 'https://aaaaa-aa.icp.net'],
  ['https://a.icp.net/', 'https://aaaaa-aa.icp.net'],
  ['https://a.icp0.io/', 'https://aaaaa-aa.icp.net'],
  ['https://ic0.app', 'https://aaaaa-aa.icp.net'],
  ['http://localhost:4943', 'http://aaaaa-aa.localhost:4943'],
  ['http://127.0.0.1:8000/', 'http://aaaaa-aa.localhost:8000'],
  ['http://[::1]:8000', 'http://aaaaa-aa.localhost:8000'],
  ['https://noticp0.io', ''],
  ['https://icp.net.evil.example', ''],
  ['https://example.org', ''],
  ['no address', ''],
])('canisterAddress() of the agent host %s is "%s"', (host, address) => {
  expect(canisterAddress({ host, canisterId: 'aaaaa-aa' })).toBe(address);
});

describe('findCanister()', () => {
  const id = 'rwlgt-iiaaa-aaaaa-aaaaa-cai';
  const ask = vi.fn<typeof globalThis.fetch>();
  beforeEach(() => {
    ask.mockReset().mockResolvedValue(new Response(null, { headers: { 'x-ic-canister-id': id } }));
    vi.stubGlobal('fetch', ask);
  });
  afterEach(() => vi.unstubAllGlobals());

  test.each([`https://${id}.icp.net/`, `https://${id}.ic0.app`, `http://${id}.localhost:8000`])(
    'reads the id in %s without a request',
    async (url) => {
      expect(await findCanister(url)).toBe(id);
      expect(ask).not.toHaveBeenCalled();
    },
  );

  test.each(['https://files-app.example.com', `https://${id}.example.com`])(
    'asks the gateway of %s, whose name only resembles an id, and follows no redirect',
    async (url) => {
      expect(await findCanister(url)).toBe(id);
      expect(ask).toHaveBeenCalledWith(url, { method: 'HEAD', redirect: 'error' });
    },
  );
});

describe('Storage.links: if answers are lost', () => {
  const retry = { attemptsMax: 3, delayMsMin: 1 };
  const lost = () => Promise.reject(new TypeError('lost'));

  test('a creation is requested only once, and its failure is reported', async () => {
    let sent = 0;
    const fetch = () => {
      sent++;
      return lost();
    };
    const storage = createStorage({ url: 'http://x', apiKey: 'k', fetch, retry });
    const made = storage.links.create({ bucket: 'b', path: 'p' });
    await expect(made).rejects.toMatchObject({ code: 'NetworkError' });
    expect(sent).toBe(1);
  });

  test('pages are requested again, and a repeated removal succeeds', async () => {
    const asked: string[] = [];
    const fetch: typeof globalThis.fetch = async (input, init) => {
      const { pathname, search } = new URL(String(input));
      asked.push(`${init?.method} ${pathname.slice(-3)}${search}`);
      if (asked.length % 2 === 1) return lost();
      if (init?.method === 'DELETE') {
        return Response.json({ error: { code: 'NoSuchFile', message: 'no' } }, { status: 404 });
      }
      const isFirst = search === '?path=p';
      return Response.json({ items: [{ id: isFirst ? 1 : 2 }], nextCursor: isFirst ? 'c' : null });
    };
    const storage = createStorage({ url: 'http://x', apiKey: 'k', fetch, retry });
    const ids: unknown[] = [];
    for await (const { id } of storage.links.list({ bucket: 'b', path: 'p' })) ids.push(id);
    expect(ids).toEqual([1, 2]);
    await storage.links.remove('b', 'x-_');
    const pages = ['GET nks?path=p', 'GET nks?path=p&cursor=c'];
    expect(asked).toEqual([...pages, 'DELETE x-_'].flatMap((one) => [one, one]));
  });
});

test('Storage.links: an id that would change the path of the request is never sent', async () => {
  const storage = createStorage({ url: service.base, apiKey, fetch: () => expect.fail('sent') });
  for (const id of ['..', '', 'a/b', 'a?']) {
    const removal = storage.links.remove(bucket, id);
    await expect(removal).rejects.toMatchObject({ code: 'InvalidArgument' });
  }
});

describe('efs link', () => {
  const path = 'command/a.txt';
  beforeAll(() => owner.upload(sampleBytes('command', 9), { bucket, path, contentType: 'a/b' }));

  test('prints only the address on standard output, and describes the link on standard error', async () => {
    const made = await efs(
      'link',
      'create',
      '--expires',
      '7d',
      '--name',
      'b.txt',
      `linked/${path}`,
    );
    expect(made.code).toBe(0);
    expect(made.output).toMatch(/^http:\/\/\S+\/s\/[\w-]{16}\/b\.txt\?k=[\w-]{22}\n$/);
    const [, until = '', id = ''] = /until (.*) UTC.* linked (-- \S+|\S+) /.exec(made.errors) ?? [];
    expect(until).toMatch(/^[-\d]{10} [:\d]{8}$/);
    expect(made.errors).toBe(
      `Whoever has this address reads linked/${path}, without a key, until ${until} UTC. ` +
        `The address is shown only once; efs link rm linked ${id} removes it.\n`,
    );
    expect((await open(made.output.trim())).status).toBe(200);
    const quiet = await efs('-q', 'link', 'create', `linked/${path}`);
    expect(quiet).toMatchObject({ code: 0, errors: '' });
    const table = (await efs('link', 'ls', `linked/${path}`)).output;
    expect(table).toMatch(/^ID +CREATED +EXPIRES +PATH\n/);
    expect(table.match(/command\/a\.txt\n/g)).toHaveLength(2);
    expect(Buffer.from(table, 'latin1').toString()).toContain(' –');
    const listed: LinkRecord[] = JSON.parse((await efs('link', 'ls', '--json', bucket)).output);
    const ids = listed.filter((link) => link.path === path).map(({ id }) => id);
    const removed = await efs('link', 'rm', bucket, '--', ...ids);
    expect(removed).toEqual({ code: 0, output: ids.map((id) => `${id}\n`).join(''), errors: '' });
    expect((await efs('link', 'ls', `linked/${path}`)).output).toBe('');
    expect((await efs('link', 'rm', bucket, '--', ...ids)).code).toBe(3);
  });

  test('link ls shows owners who made each link', async () => {
    const made = JSON.parse((await efs('link', 'create', '--json', `linked/${path}`)).output);
    const { id: own } = await owner.links.create({ bucket, path });
    const { host: EFS_HOST, canisterId: EFS_CANISTER_ID, identityPem } = service;
    const EFS_IDENTITY = join(folder, 'owner.pem');
    await writeFile(EFS_IDENTITY, identityPem);
    const environment = { EFS_HOST, EFS_CANISTER_ID, EFS_IDENTITY };
    const { output } = await callCommand(['link', 'ls', `linked/${path}`], { folder, environment });
    expect(output).toMatch(/^ID .* MADE BY\n/);
    const rowOf = (id: string) => output.split('\n').find((row) => row.startsWith(id));
    expect(rowOf(made.id)).toMatch(/ key \S+$/);
    expect(rowOf(own)).toMatch(new RegExp(` ${principalOf(identityPem).toText()}$`));
    await efs('link', 'rm', bucket, '--', made.id, own);
  });

  test('--json prints the link with its id', async () => {
    const { output } = await efs('link', 'create', '--json', `linked/${path}`);
    const { id, url } = JSON.parse(output);
    expect(url).toContain(`/s/${id}/a.txt?k=`);
  });

  test.each([
    [['link', 'create', bucket], 2],
    [['link', 'create', `${bucket}/none`], 3],
    [['link', 'create', '--expires', 'soon', `${bucket}/a`], 2],
    [['link', 'create', '--name', 'a/b', `${bucket}/${path}`], 2],
    [['link', 'rm', bucket], 2],
  ])('%j exits with %i', async (words, code) => {
    expect((await efs(...words)).code).toBe(code);
  });
});
