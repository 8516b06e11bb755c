// The console's pages of a canister without a front, through the verifying gateway: served at its
// root, without a key, with the bytes of the build.

import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { IDL } from '@dfinity/candid';
import { Principal } from '@dfinity/principal';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openService, type Service } from '../support/service.ts';
import { projectDir } from '../tidy/source-tree.ts';

const built = join(projectDir, 'console', 'dist');
let service: Service;
let assets: string[];

beforeAll(async () => {
  // With a front, this canister serves no pages: tests/certification/front.test.ts asks the front.
  service = await openService({ hasFront: false });
  assets = await readdir(join(built, 'assets'));
});

afterAll(() => service?.stop());

function get(address: string, init: RequestInit = {}): Promise<Response> {
  return fetch(`${service.base}${address}`, init);
}

test('the page and its assets equal the build and are certified', async () => {
  expect(assets.length).toBeGreaterThan(3);
  for (const [address, name] of [
    ['/', 'index.html'],
    ...assets.map((asset) => [`/assets/${asset}`, `assets/${asset}`]),
  ] as const) {
    const response = await get(address);
    expect(response.status, address).toBe(200);
    expect(response.headers.get('ic-certificate'), address).toMatch(/version=2/);
    const bytes = Buffer.from(await response.arrayBuffer());
    expect(bytes.equals(await readFile(join(built, name))), address).toBe(true);
  }
});

test('the page is revalidated on every load, and its assets are cached forever', async () => {
  const page = await get('/');
  expect(page.headers.get('cache-control')).toBe('no-cache');
  expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(page.headers.get('content-encoding')).toBe(null);
  const tag = page.headers.get('etag') ?? '';
  expect(tag).toBe(
    `"${createHash('sha256')
      .update(await page.text())
      .digest('hex')}"`,
  );
  const again = await get('/', { headers: { 'If-None-Match': tag } });
  expect(again.status).toBe(304);
  expect((await get('/', { headers: { 'If-Match': '"other"' } })).status).toBe(412);
  const script = assets.find((name) => /^index-.*\.js$/.test(name)) ?? expect.fail('no script');
  const asset = await get(`/assets/${script}`);
  expect(asset.headers.get('cache-control')).toMatch(/immutable/);
  expect(asset.headers.get('content-encoding')).toBe('gzip');
  expect(asset.headers.get('content-type')).toMatch(/javascript; charset=utf-8$/);
  const packed = gzipSync(await readFile(join(built, 'assets', script)), { level: 9 });
  expect(Number(asset.headers.get('content-length'))).toBe(packed.length);
});

test('the page runs only its own scripts, cannot be framed, and sends no referrer', async () => {
  const { headers } = await get('/');
  const policy = headers.get('content-security-policy') ?? '';
  expect(policy).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self';/);
  expect(policy).toContain("frame-ancestors 'none'");
  expect(policy).not.toContain('unsafe');
  expect(headers.get('referrer-policy')).toBe('no-referrer');
  expect(headers.get('x-content-type-options')).toBe('nosniff');
});

test('GET /openapi.json describes this service, for every origin, as the API catalog says', async () => {
  const catalog = await get('/.well-known/api-catalog');
  expect(catalog.headers.get('content-type')).toBe('application/linkset+json');
  const [{ anchor, 'service-desc': described }] = (await catalog.json()).linkset;
  expect([anchor, described]).toEqual([
    '/api/v1/',
    [{ href: '/openapi.json', type: 'application/json' }],
  ]);
  const response = await get(described[0].href);
  expect(response.headers.get('access-control-allow-origin')).toBe('*');
  expect(response.headers.get('ic-certificate')).toMatch(/version=2/);
  const path = join(projectDir, 'docs/reference/openapi.json');
  const written = JSON.parse(await readFile(path, 'utf8'));
  expect(await response.json()).toEqual({ ...written, servers: [{ url: '/' }] });
  const again = await get('/openapi.json', {
    headers: { 'If-None-Match': response.headers.get('etag') ?? '' },
  });
  expect(again.status).toBe(304);
});

test('POST to the page is refused, and HEAD has no body', async () => {
  const head = await get('/', { method: 'HEAD' });
  expect(head.status).toBe(200);
  expect(Number(head.headers.get('content-length'))).toBeGreaterThan(500);
  expect(await head.text()).toBe('');
  expect((await get('/', { method: 'OPTIONS' })).status).toBe(204);
  expect((await get('/', { method: 'POST', body: 'x' })).status).toBe(405);
});

/** Returns the number of HTTP updates that the service has run. */
function updates(): number {
  const reports = service.replica?.reports ?? [];
  return reports.filter(({ kind, method }) => kind === 'update' && method.startsWith('http'))
    .length;
}

async function setFront(front: { id: string; url: string } | undefined): Promise<void> {
  const Setting = IDL.Record({ front: IDL.Principal, url: IDL.Opt(IDL.Text) });
  const value = front && { front: Principal.fromText(front.id), url: [front.url] };
  const argument = new Uint8Array(IDL.encode([IDL.Opt(Setting)], [value ? [value] : []]));
  await service.network.call(service.canisterId, 'setFront', argument, 'owner');
}

describe('a link', () => {
  const navigation = { 'Sec-Fetch-Dest': 'document', 'Sec-Fetch-Mode': 'navigate' };
  const header = 'age-encryption.org/v1\n-> X25519 abc\n';
  let ageLink: string;

  async function linkTo(path: string, contentType: string, body: string): Promise<string> {
    const { apiKey, bucket } = service;
    const api = `/api/v1/bucket/${bucket}`;
    const authorization = { Authorization: `Bearer ${apiKey}` };
    const headers = { ...authorization, 'Content-Type': contentType };
    expect((await get(`${api}/files/${path}`, { method: 'PUT', headers, body })).status).toBe(201);
    const order = { method: 'POST', headers: authorization, body: JSON.stringify({ path }) };
    return ((await (await get(`${api}/links`, order)).json()) as { url: string }).url;
  }

  beforeAll(async () => {
    ageLink = await linkTo('letter.pdf', 'application/age', header);
  });

  test('to an age file returns the encrypted file if the service has no front', async () => {
    const others: Record<string, string>[] = [
      {},
      { Accept: '*/*' },
      { Accept: 'text/html, */*' },
      { 'Sec-Fetch-Dest': 'empty' },
      { 'Sec-Fetch-Dest': 'iframe' },
      navigation,
      { ...navigation, Range: 'bytes=0-99' },
    ];
    for (const headers of others) {
      expect(await (await get(ageLink, { headers })).text(), JSON.stringify(headers)).toBe(header);
    }
    const head = await get(ageLink, { method: 'HEAD', headers: navigation });
    expect(head.headers.get('content-type')).toBe('application/age');
  });

  test('to any other file returns the file', async () => {
    const link = await linkTo('letter.txt', 'text/plain', 'hello');
    expect(await (await get(link, { headers: navigation })).text()).toBe('hello');
  });

  test('that is invalid returns the certified 404, also to a browser', async () => {
    for (const dead of ['/s/none/letter.pdf?k=x', '/s/none/', '/s/AAAAAAAAAAAAAAAA/a?k=b']) {
      const before = updates();
      const response = await get(dead, { headers: navigation });
      expect([dead, response.status]).toEqual([dead, 404]);
      expect(await response.json()).toMatchObject({ error: { code: 'NoSuchFile' } });
      expect(updates()).toBe(before);
    }
  });

  test('to an age file redirects browsers to the front', async () => {
    const front = { id: 'ryjl3-tyaaa-aaaaa-aaaba-cai', url: 'https://files.example.com' };
    await setFront(front);
    const response = await get(ageLink, { headers: navigation, redirect: 'manual' });
    expect(response.status).toBe(307);
    const rest = ageLink.slice('/s'.length);
    expect(response.headers.get('location')).toBe(`${front.url}/s/${service.canisterId}${rest}`);
    expect(response.headers.get('cache-control')).toBe('private, no-store');
    expect(response.headers.get('vary')).toBe('Sec-Fetch-Dest');
    expect(await (await get(ageLink)).text()).toBe(header);
    await setFront(undefined);
    expect(await (await get(ageLink, { headers: navigation })).text()).toBe(header);
  });
});
