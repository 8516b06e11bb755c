// The console's pages, through the verifying gateway: at the root of the canister, to everybody,
// as they were built.

import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openService, type Service } from '../support/service.ts';
import { projectDir } from '../tidy/source-tree.ts';

const built = join(projectDir, 'console', 'dist');
let service: Service;
let assets: string[];

beforeAll(async () => {
  service = await openService();
  assets = await readdir(join(built, 'assets'));
});

afterAll(() => service?.stop());

function get(address: string, init: RequestInit = {}): Promise<Response> {
  return fetch(`${service.base}${address}`, init);
}

test('each is what was built, certified', async () => {
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

test('the page is asked for anew each time, what it is made of never again', async () => {
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

test('nothing else runs there, nothing frames it, and no address is told to others', async () => {
  const { headers } = await get('/');
  const policy = headers.get('content-security-policy') ?? '';
  expect(policy).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self';/);
  expect(policy).toContain("frame-ancestors 'none'");
  expect(policy).not.toContain('unsafe');
  expect(headers.get('referrer-policy')).toBe('no-referrer');
  expect(headers.get('x-content-type-options')).toBe('nosniff');
});

test('what only changes something is refused there, and HEAD has no content', async () => {
  const head = await get('/', { method: 'HEAD' });
  expect(head.status).toBe(200);
  expect(Number(head.headers.get('content-length'))).toBeGreaterThan(500);
  expect(await head.text()).toBe('');
  expect((await get('/', { method: 'OPTIONS' })).status).toBe(204);
  expect((await get('/', { method: 'POST', body: 'x' })).status).toBe(405);
});
