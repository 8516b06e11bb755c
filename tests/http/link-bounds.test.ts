// Links with a password, and links with a maximum of downloads.

import { beforeEach, describe, expect, test } from 'vitest';
import { updateBucket } from '../../src/domain/administration/bucket-administration.ts';
import { budgetLeft, spendBudget } from '../../src/domain/rights/budgets.ts';
import { noStoredHeaders } from '../../src/domain/shared/stored-headers.ts';
import { takeTokens } from '../../src/domain/shared/token-buckets.ts';
import { upgrade } from '../../src/http/router.ts';
import {
  bucketChange,
  callOf,
  createScene,
  hourNs,
  putTestFile,
  type Scene,
  startNs,
  testBytes,
} from '../support/domain-fixture.ts';
import {
  bodyOf,
  bodyText,
  exchange,
  headersOf,
  json,
  send,
  sendRefused,
  type TestRequest,
} from '../support/http-fixture.ts';
import { checkInvariants } from '../support/invariants.ts';

let scene: Scene;
const links = '/api/v1/bucket/box/links';
const minuteNs = hourNs / 60n;
const right = '11'.repeat(32);
const wrong = '22'.repeat(32);

beforeEach(async () => {
  scene = await createScene();
  updateBucket(scene.stores, callOf('alice'), bucketChange({ isPublic: false }));
  put(10, 1);
});

function put(size: number, seed: number): void {
  putTestFile(scene.stores, { path: '/dir/a.txt', bytes: testBytes(size, seed) });
}

function creation(fields: object): TestRequest {
  const body = json({ path: 'dir/a.txt', ...fields });
  const headers = { Authorization: `Bearer ${scene.readKey}` };
  return { method: 'POST', url: links, body, headers, phase: 'update' };
}

function create(fields: object): string {
  const response = send(scene.stores, creation(fields));
  expect(response.status).toBe(201);
  return JSON.parse(bodyText(response)).url;
}

function listed(): Record<string, unknown>[] {
  const headers = { Authorization: `Bearer ${scene.readKey}` };
  return JSON.parse(bodyText(send(scene.stores, { url: links, headers }))).items;
}

describe('POST /s/{id}/{name}', () => {
  function proof(url: string, sent: string, nowNs = startNs): TestRequest {
    const [path = ''] = url.split('?');
    return { method: 'POST', url: path, body: json({ proof: sent }), phase: 'update', nowNs };
  }

  test('returns the address with its secret for the proof of the password', () => {
    const url = create({ passwordProof: right });
    expect(exchange(scene.stores, { ...proof(url, right), phase: 'query' })).toBe(upgrade);
    const response = send(scene.stores, proof(url, right));
    expect(headersOf(response)['cache-control']).toBe('private, no-store');
    expect(JSON.parse(bodyText(response))).toEqual({ url });
    expect(send(scene.stores, { url }).body).toHaveLength(10);
    expect(listed()).toMatchObject([{ hasPassword: true }]);
    expect(listed()[0]).not.toHaveProperty('downloadCount');
  });

  test('a query answers a right and a wrong proof alike, so only updates can be tried', () => {
    const url = create({ passwordProof: right });
    for (const sent of [right, wrong]) {
      expect(exchange(scene.stores, { ...proof(url, sent), phase: 'query' })).toBe(upgrade);
    }
    expect(JSON.parse(bodyText(send(scene.stores, proof(url, right))))).toEqual({ url });
  });

  test('refuses ten wrong proofs, then every proof until a try is left again', () => {
    const url = create({ passwordProof: right });
    const denied = { status: 403, code: 'AccessDenied' };
    for (let left = 9; left >= 0; left--) {
      const response = send(scene.stores, proof(url, wrong));
      const { code, message } = JSON.parse(bodyText(response)).error;
      expect({ status: response.status, code }).toEqual(denied);
      expect(message).toContain(`${left} tries are left`);
    }
    const spent = { status: 429, code: 'SlowDown' };
    const { headers } = sendRefused(scene.stores, proof(url, right), spent);
    expect(headers['retry-after']).toBe('360');
    // Another link of the same password has tries of its own
    const other = create({ passwordProof: right });
    expect(send(scene.stores, proof(other, right)).status).toBe(200);
    const later = startNs + 6n * minuteNs;
    expect(JSON.parse(bodyText(send(scene.stores, proof(url, right, later))))).toEqual({ url });
  });

  test('the tries of a link are not forgotten among many levels of other budgets', () => {
    const { stores } = scene;
    const url = create({ passwordProof: right });
    for (let count = 0; count < 10; count++) {
      expect(send(stores, proof(url, wrong)).status).toBe(403);
      const allowance = { burst: 1, perMinute: 1 / 60 };
      for (let other = 0; other < 1_100; other++) {
        const bucket = { name: `key ${count} ${other}`, allowance };
        takeTokens(stores.heap.tokens, bucket, { nowNs: startNs });
      }
    }
    expect(send(stores, proof(url, right)).status).toBe(429);
  });

  test('wrong proofs take from the refusals, right ones from the updates of links', () => {
    const { stores } = scene;
    const url = create({ passwordProof: right });
    const left = () => ({
      refusals: budgetLeft(stores, 'refusals', startNs),
      linkUpdates: budgetLeft(stores, 'linkUpdates', startNs),
      anonymousUpdates: budgetLeft(stores, 'anonymousUpdates', startNs),
    });
    const before = left();
    send(stores, proof(url, right));
    const between = left();
    expect(between).toEqual({ ...before, linkUpdates: before.linkUpdates - 1 });
    expect(send(stores, proof(url, wrong)).status).toBe(403);
    expect(left()).toEqual({ ...between, refusals: between.refusals - 1 });
    spendBudget(stores, 'refusals', { amount: 10_000, nowNs: startNs });
    sendRefused(stores, proof(url, right), { status: 429, code: 'SlowDown' });
  });

  test('answers 404 for a link without a password, another name, and an ended link', () => {
    const { stores } = scene;
    const missing = { status: 404, code: 'NoSuchFile' };
    const plain = create({});
    const expiresAt = new Date(Number(startNs / 1_000_000n) + 60_000).toISOString();
    const url = create({ passwordProof: right, expiresAt });
    for (const phase of ['query', 'update'] as const) {
      sendRefused(stores, { ...proof(plain, right), phase }, missing);
      sendRefused(stores, { ...proof(url.replace('a.txt', 'b'), right), phase }, missing);
      sendRefused(stores, { ...proof(url, right, startNs + minuteNs), phase }, missing);
    }
  });

  test('a proof of another length is refused before an update, also by createLink', () => {
    const { stores } = scene;
    const url = create({ passwordProof: right });
    const invalid = { status: 400, code: 'InvalidArgument' };
    for (const sent of ['', '11', `${right}11`, 'x']) {
      const { error } = sendRefused(stores, { ...proof(url, sent), phase: 'query' }, invalid);
      expect(error.message).toMatch(/32 bytes|hexadecimal/);
      sendRefused(stores, creation({ passwordProof: sent }), invalid);
    }
    const body = json({});
    sendRefused(stores, { ...proof(url, right), body, phase: 'query' }, invalid);
  });

  test('stable memory has neither the secret nor the proof', () => {
    const url = create({ passwordProof: right });
    const secret = url.split('?k=')[1] ?? '';
    const { files, system } = scene.stores;
    for (const bytes of [system.stable, ...files.entries().flat()]) {
      for (const hidden of [secret, Buffer.from(right, 'hex'), Buffer.from(secret, 'base64url')]) {
        expect(Buffer.from(bytes).includes(hidden)).toBe(false);
      }
    }
    checkInvariants(scene.stores);
  });
});

describe('GET /s/{id}/{name} of a link with maxDownloads', () => {
  const missing = { status: 404, code: 'NoSuchFile' };

  function get(url: string, headers: Record<string, string> = {}): TestRequest {
    return { url, headers, phase: 'update' };
  }

  function counts(): unknown[] {
    return listed().map(({ downloadCount, maxDownloads }) => [downloadCount, maxDownloads]);
  }

  test('needs an update, and ends after so many downloads', () => {
    const { stores } = scene;
    const url = create({ maxDownloads: 2 });
    expect(exchange(stores, { url })).toBe(upgrade);
    expect(counts()).toEqual([[0, 2]]);
    for (const count of [1, 2]) {
      expect(bodyOf(stores, send(stores, get(url)))).toEqual(Buffer.from(testBytes(10, 1)));
      expect(counts()).toEqual([[count, 2]]);
    }
    sendRefused(stores, get(url), missing);
    sendRefused(stores, { url }, missing);
    checkInvariants(stores);
  });

  test('counts ranges by their bytes, and neither HEAD, nor 304, nor a refused range', () => {
    const { stores } = scene;
    const url = create({ maxDownloads: 1 });
    const head = send(stores, { ...get(url), method: 'HEAD' });
    const { etag = '' } = headersOf(head);
    expect(send(stores, get(url, { 'If-None-Match': etag })).status).toBe(304);
    sendRefused(stores, get(url, { Range: 'bytes=10-' }), { status: 416, code: 'InvalidRange' });
    expect(counts()).toEqual([[0, 1]]);
    for (const range of ['bytes=0-3', 'bytes=4-8']) {
      expect(send(stores, get(url, { Range: range })).status).toBe(206);
      expect(counts()).toEqual([[1, 1]]);
    }
    expect(send(stores, get(url, { Range: 'bytes=9-9' })).status).toBe(206);
    sendRefused(stores, get(url, { Range: 'bytes=0-0' }), missing);
  });

  test('a link that is used up makes room for another one', () => {
    const { stores } = scene;
    for (let count = 0; count < 13; count++) send(stores, get(create({ maxDownloads: 1 })));
    expect(listed()).toHaveLength(13);
    create({ maxDownloads: 1 });
    checkInvariants(stores);
  });

  test('keeps the number when the file is replaced or moved', () => {
    const { stores } = scene;
    const url = create({ maxDownloads: 3 });
    send(stores, get(url));
    put(1_000, 2);
    expect(counts()).toEqual([[1, 3]]);
    expect(bodyOf(stores, send(stores, get(url)))).toHaveLength(1_000);
    put(1, 3);
    send(stores, get(url));
    expect(counts()).toEqual([[3, 3]]);
    sendRefused(stores, get(url), missing);
    checkInvariants(stores);
  });

  test('counts downloads of an empty file', () => {
    const { stores } = scene;
    put(0, 1);
    const url = create({ maxDownloads: 1 });
    expect(bodyText(send(stores, get(url)))).toBe('');
    sendRefused(stores, get(url), missing);
  });

  test('a password and a maximum work together', () => {
    const { stores } = scene;
    const url = create({ maxDownloads: 1, passwordProof: right });
    const [path = ''] = url.split('?');
    const unlocking = { method: 'POST', url: path, body: json({ proof: right }) } as const;
    const opened = send(stores, { ...unlocking, phase: 'update' });
    expect(JSON.parse(bodyText(opened))).toEqual({ url });
    expect(counts()).toEqual([[0, 1]]);
    send(stores, get(url));
    sendRefused(stores, { ...unlocking, phase: 'update' }, missing);
  });

  test.each([0, 2 ** 32])('a maximum of %i is refused', (maxDownloads) => {
    const invalid = { status: 400, code: 'InvalidArgument' };
    const { error } = sendRefused(scene.stores, creation({ maxDownloads }), invalid);
    expect(error.message).toContain(`maxDownloads is ${maxDownloads}`);
  });
});

describe('GET /s/{id}/{name}?page of a link with a title', () => {
  const title = '<b>Sea & "sun"</b>';

  function putPicture(name: string, contentType: string): void {
    const metadata = { contentType, tags: [], headers: noStoredHeaders, metadata: [] };
    putTestFile(scene.stores, { path: `/${name}`, bytes: testBytes(2_340), metadata });
  }

  function page(url: string, headers: Record<string, string> = {}) {
    return { url: `${url}&page`, headers, phase: 'update' } as const;
  }

  test('has the escaped title, the size, and the picture at the host of the request', () => {
    const { stores } = scene;
    putPicture('sea.jpg', 'image/jpeg');
    const url = create({ path: 'sea.jpg', title });
    expect(exchange(stores, { ...page(url), phase: 'query' })).toBe(upgrade);
    const response = send(stores, page(url, { Host: 'aaaaa-aa.icp.net' }));
    expect(headersOf(response)).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'private, no-store',
      'referrer-policy': 'no-referrer',
    });
    const html = bodyText(response);
    expect(html).toContain('<title>&lt;b&gt;Sea &amp; &quot;sun&quot;&lt;/b&gt;</title>');
    expect(html).toContain('<h1>&lt;b&gt;Sea');
    expect(html).toContain('sea.jpg, 2.3 kB');
    expect(html).toContain(`<meta property="og:image" content="https://aaaaa-aa.icp.net${url}">`);
    expect(html).toContain(`<a href="${url.slice(url.indexOf('?'))}">`);
    expect(listed()).toMatchObject([{ title }]);
  });

  test('HEAD has the fields of the page', () => {
    const url = create({ title });
    const head = { ...page(url), method: 'HEAD' };
    expect(exchange(scene.stores, { ...head, phase: 'query' })).toBe(upgrade);
    const response = send(scene.stores, head);
    expect(headersOf(response)['content-type']).toBe('text/html; charset=utf-8');
    expect(response.body).toHaveLength(0);
    const [path = '', secret = ''] = url.split('?');
    const first = send(scene.stores, { url: `${path}?page&${secret}`, phase: 'update' });
    expect(bodyText(first)).toContain('<h1>');
  });

  test('has no picture of other files, nor one that would count as a download', () => {
    const { stores } = scene;
    putPicture('sea.png', 'image/png');
    const [other, counted] = [
      create({ title }),
      create({ path: 'sea.png', title, maxDownloads: 1 }),
    ];
    for (const url of [other, counted]) {
      expect(bodyText(send(stores, page(url)))).not.toContain('og:image');
    }
    expect(listed().map(({ downloadCount }) => downloadCount)).toEqual([undefined, 0]);
  });

  test('is at the address of the network for an odd Host, and needs the secret', () => {
    const { stores } = scene;
    const url = create({ title });
    const html = bodyText(send(stores, page(url, { Host: 'evil.example/"><script>' })));
    expect(html).toContain('content="https://aaaaa-aa.icp');
    expect(html).not.toContain('evil');
    const missing = { status: 404, code: 'NoSuchFile' };
    sendRefused(stores, page(`${url}x`), missing);
  });

  test('is ignored by a link without a title', () => {
    const url = create({});
    expect(send(scene.stores, { url: `${url}&page` }).body).toHaveLength(10);
  });

  test.each([[''], ['a\nb'], ['a'.repeat(201)]])('the title %j is refused', (sent) => {
    const invalid = { status: 400, code: 'InvalidArgument' };
    sendRefused(scene.stores, creation({ title: sent }), invalid);
  });

  test('is refused for a link with a password', () => {
    const invalid = { status: 400, code: 'InvalidArgument' };
    sendRefused(scene.stores, creation({ title, passwordProof: right }), invalid);
  });
});
