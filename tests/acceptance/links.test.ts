// Links over HTTP through the verifying gateway: anybody with the address can read a file of a
// private bucket, and nobody else.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openClient } from '../support/bucket-actor.ts';
import { bytesOf, refusalOf } from '../support/http-client.ts';
import { isSentUpdate } from '../support/method-reports.ts';
import { openService, type Service, sampleBytes, sha256Hex } from '../support/service.ts';
import { uploadInChunks } from '../support/whole-uploads.ts';

let service: Service;
/** Secret of a key for the private bucket. */
let apiKey: string;
let keyId: string;
let revoke: (id: string) => Promise<unknown>;
const bucket = 'hidden';

beforeAll(async () => {
  service = await openService();
  const { actor } = await openClient(service, 'owner');
  await actor.createBucket(bucket, []);
  const permissions = ['read', 'write', 'delete'];
  const request = { name: 'links', buckets: [bucket], permissions, expiresAt: [] };
  const made = (await actor.createApiKey(request)).ok ?? expect.fail('no key');
  apiKey = made.secret;
  keyId = made.id;
  revoke = (id) => actor.revokeApiKey(id);
});

afterAll(() => service?.stop());

function send(method: string, path: string, body?: object | string): Promise<Response> {
  const sent = typeof body === 'object' ? JSON.stringify(body) : body;
  return fetch(`${service.base}/api/v1/bucket/${bucket}/${path}`, {
    method,
    headers: { Authorization: `Bearer ${apiKey}`, 'Content-Type': 'text/html' },
    body: sent ?? null,
  });
}

interface Made {
  readonly id: string;
  readonly url: string;
  readonly expiresAt?: string;
}

async function makeLink(path: string, fields: object = {}): Promise<Made> {
  const response = await send('POST', 'links', { path, ...fields });
  expect(response.status).toBe(201);
  expect(response.headers.get('cache-control')).toBe('private, no-store');
  return (await response.json()) as Made;
}

function open({ url }: Made, init: RequestInit = {}): Promise<Response> {
  return fetch(`${service.base}${url}`, init);
}

/** Accepts 503 too: a gateway replaces an answer that it cannot verify. */
async function expectDead(link: Made): Promise<void> {
  const response = await open(link);
  expect([404, 503]).toContain(response.status);
  await response.arrayBuffer();
}

describe('a link', () => {
  test('opens a file of a private bucket, certified, with headers that keep it secret', async () => {
    await send('PUT', 'files/dir/page.html', '<p>hello');
    const link = await makeLink('dir/page.html');
    expect(link.url).toMatch(/^\/s\/[\w-]{16}\/page\.html\?k=[\w-]{22}$/);
    const response = await open(link);
    expect([response.status, await response.text()]).toEqual([200, '<p>hello']);
    const shown = Object.fromEntries(response.headers);
    expect(shown).toMatchObject({
      'content-type': 'text/html',
      'cache-control': 'private, no-store',
      'referrer-policy': 'no-referrer',
      'x-robots-tag': 'noindex',
      'content-security-policy': 'sandbox',
    });
    const etag = response.headers.get('etag') ?? '';
    const again = await open(link, { headers: { 'If-None-Match': etag } });
    expect(again.status).toBe(304);
    expect((await open(link, { method: 'HEAD' })).headers.get('content-length')).toBe('8');
    expect((await fetch(`${service.base}/cloud/${bucket}/dir/page.html`)).status).toBe(404);
  });

  test('to a file of 50 MB serves it whole and in ranges', async () => {
    const bytes = sampleBytes('linked', 50_000_000);
    await uploadInChunks(
      { ...service, bucket, apiKey },
      { path: 'large', bytes, contentType: 'a/b' },
    );
    const link = await makeLink('large', { downloadName: 'Große Datei.bin' });
    const response = await open(link);
    expect(response.headers.get('content-disposition')).toBe(
      `attachment; filename="Gro_e Datei.bin"; filename*=UTF-8''Gro%C3%9Fe%20Datei.bin`,
    );
    expect(sha256Hex(await bytesOf(response))).toBe(sha256Hex(bytes));
    const range = await open(link, { headers: { Range: 'bytes=30000000-30000999' } });
    expect(range.status).toBe(206);
    expect(await bytesOf(range)).toEqual(Buffer.from(bytes.subarray(30_000_000, 30_001_000)));
  });

  test('follows its file when it is replaced, changed or moved, and answers 404 when it is deleted', async () => {
    await send('PUT', 'files/a', 'one');
    const link = await makeLink('a');
    await send('PUT', 'files/a', 'two');
    expect(await (await open(link)).text()).toBe('two');
    await send('PATCH', 'files/a', { contentType: 'text/plain' });
    expect((await open(link)).headers.get('content-type')).toBe('text/plain');
    await send('POST', 'move', { from: 'a', to: { path: 'b/c' } });
    expect(await (await open(link)).text()).toBe('two');
    await send('DELETE', 'files/b/c');
    const gone = await open(link);
    expect([gone.status, (await refusalOf(gone)).code]).toEqual([404, 'NoSuchFile']);
  });

  test('with a maximum of downloads is answered by updates, whole and in ranges, then certified 404', async () => {
    const bytes = sampleBytes('counted', 5_000_000);
    await uploadInChunks(
      { ...service, bucket, apiKey },
      { path: 'counted', bytes, contentType: 'a/b' },
    );
    const link = await makeLink('counted', { maxDownloads: 2 });
    expect(sha256Hex(await bytesOf(await open(link)))).toBe(sha256Hex(bytes));
    expect((await open(link, { method: 'HEAD' })).headers.get('content-length')).toBe('5000000');
    const range = await open(link, { headers: { Range: 'bytes=1000000-1999999' } });
    expect(await bytesOf(range)).toEqual(Buffer.from(bytes.subarray(1_000_000, 2_000_000)));
    const list = await (await send('GET', 'links?path=counted')).json();
    expect(list).toMatchObject({ items: [{ downloadCount: 2, maxDownloads: 2 }] });
    await (await open(link)).arrayBuffer();
    const ended = await open(link);
    expect([ended.status, (await refusalOf(ended)).code]).toEqual([404, 'NoSuchFile']);
  });

  test('with a password is unlocked by a page of another origin without a preflight', async () => {
    await send('PUT', 'files/locked', 'x');
    const link = await makeLink('locked', { passwordProof: '01'.repeat(32) });
    const [path = ''] = link.url.split('?');
    const prove = (proof: string) =>
      open({ ...link, url: path }, { method: 'POST', body: JSON.stringify({ proof }) });
    const right = await prove('01'.repeat(32));
    expect(right.headers.get('access-control-allow-origin')).toBe('*');
    expect(await right.json()).toEqual({ url: link.url });
    const wrong = await prove('02'.repeat(32));
    expect([wrong.status, (await refusalOf(wrong)).code]).toEqual([403, 'AccessDenied']);
    expect(await (await open(link)).text()).toBe('x');
  });

  test('with a title has a page for messengers, also at a verifying gateway', async () => {
    await send('PUT', 'files/titled.txt', 'x');
    const link = await makeLink('titled.txt', { title: 'Our <notes>' });
    const page = await open({ ...link, url: `${link.url}&page` });
    expect(page.status).toBe(200);
    expect(await page.text()).toContain('content="Our &lt;notes&gt;"');
    expect(await (await open(link)).text()).toBe('x');
  });

  test('with another key, name or id opens nothing and causes no update', async () => {
    await send('PUT', 'files/secret.txt', 'x');
    const link = await makeLink('secret.txt');
    const updates = () => service.replica?.reports.filter(isSentUpdate).length;
    const before = updates();
    const wrong = (url: string) => expectDead({ ...link, url });
    await wrong(link.url.replace(/k=.*/, `k=${'A'.repeat(22)}`));
    await wrong(link.url.replace(/\?.*/, ''));
    await wrong(link.url.replace('secret.txt', 'other.txt'));
    expect(updates()).toBe(before);
    const other = await fetch(`${service.base}/s/AAAAAAAAAAAAAAAA/secret.txt?k=${'A'.repeat(22)}`);
    expect(other.status).toBe(404);
    expect(await (await open(link)).text()).toBe('x');
  });

  test('is listed without its secret, and can be removed', async () => {
    await send('PUT', 'files/listed', 'x');
    const expiresAt = new Date(Date.now() + 86_400_000).toISOString();
    const link = await makeLink('listed', { expiresAt });
    expect(link.expiresAt).toBe(expiresAt);
    const list = await (await send('GET', 'links?path=listed')).json();
    expect(list).toMatchObject({
      items: [{ id: link.id, path: 'listed', name: 'listed', expiresAt }],
      nextCursor: null,
    });
    expect(JSON.stringify(list)).not.toContain(link.url.split('?k=')[1]);
    expect((await send('DELETE', `links/${link.id}`)).status).toBe(204);
    expect((await open(link)).status).toBe(404);
    const again = await refusalOf(await send('DELETE', `links/${link.id}`));
    expect(again).toMatchObject({ status: 404, code: 'NoSuchFile' });
  });

  test.each([
    [{}, 400, 'InvalidArgument'],
    [{ path: 'none' }, 404, 'NoSuchFile'],
    [{ path: 'listed', expiresAt: '2001-01-01T00:00:00Z' }, 400, 'InvalidArgument'],
    [{ path: 'listed', expiresAt: 'soon' }, 400, 'InvalidArgument'],
    [{ path: 'listed', downloadName: 'a/b' }, 400, 'InvalidArgument'],
  ])('is refused for %o', async (fields, status, code) => {
    expect(await refusalOf(await send('POST', 'links', fields))).toMatchObject({ status, code });
  });

  test('becomes invalid when the key that created it is revoked', async () => {
    await send('PUT', 'files/keyed', 'x');
    const link = await makeLink('keyed');
    expect((await open(link)).status).toBe(200);
    await revoke(keyId);
    await expectDead(link);
  });
});
