// Thumbnails at the addresses of their files: the official verifier accepts a thumbnail only for
// requests with the parameter, and the file only for others, through every change of the file.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { CanisterAnswer } from '../../packages/replica/src/gateway/candid-messages.ts';
import {
  type CertifiedCanister,
  openCertifiedCanister,
} from '../support/certification/certified-canister.ts';
import { type Exchange, expectRefusals } from '../support/certification/lies.ts';
import { type AskedRequest, type Field, verdictOn } from '../support/certification/verdict.ts';
import { testPicture } from '../support/domain-fixture.ts';
import { sampleBytes, sha256Hex } from '../support/service.ts';

let canister: CertifiedCanister;

const picture = testPicture(3_000);
const other = testPicture(2_000, 1);
const parts = [sampleBytes('first', 65_536), sampleBytes('second', 500)];
const body = Buffer.from('hello');
const url = (path: string, query = '') => `/cloud/demo/${path}${query}`;

beforeAll(async () => {
  canister = await openCertifiedCanister();
  await canister.put('plain', body);
  await canister.put('a', body);
  await canister.putParts('large', parts);
  await canister.put('empty', Buffer.from(''));
  for (const path of ['a', 'large', 'empty']) await setThumbnail(path);
});

afterAll(() => canister?.stop());

function field({ headers }: CanisterAnswer, name: string): string | undefined {
  return headers.find(([each]) => each.toLowerCase() === name)?.[1];
}

async function setThumbnail(path: string, bytes = picture): Promise<void> {
  const etag = field(await canister.ask({ method: 'HEAD', url: url(path) }), 'etag') ?? '';
  const thumbnails = `/api/v1/bucket/demo/thumbnails/${path}`;
  await canister.change({
    method: 'PUT',
    url: thumbnails,
    body: bytes,
    headers: [['if-match', etag]],
  });
}

/** Expects the picture as the certified answer to both forms of the parameter. */
async function expectPicture(path: string, bytes = picture): Promise<void> {
  for (const query of ['?thumbnail', '?thumbnail=', '?v=1&thumbnail&x']) {
    const answer = await canister.accepted({ url: url(path, query) });
    expect(answer.status).toBe(200);
    expect(Buffer.compare(answer.body, bytes)).toBe(0);
  }
}

/** Expects that only an update answers the parameter, and that the file is certified. */
async function expectNone(path: string, file: Uint8Array = body): Promise<void> {
  const { isUpgrade } = await canister.ask({ url: url(path, '?thumbnail') });
  expect(isUpgrade).toBe(true);
  expect(Buffer.compare((await canister.accepted({ url: url(path) })).body, file)).toBe(0);
}

/** Returns the requests for the file, with and without the parameter. */
async function requestsOf(path: string): Promise<AskedRequest[]> {
  const tag = field(await canister.accepted({ url: url(path) }), 'etag') ?? expect.fail('no tag');
  const own: Omit<AskedRequest, 'url'>[] = [
    {},
    { method: 'HEAD' },
    { headers: [['if-none-match', tag]] },
    { method: 'HEAD', headers: [['if-none-match', `W/${tag}`]] },
    ...(path === 'empty' ? [] : [{ headers: [['Range', 'bytes=0-']] as readonly Field[] }]),
  ];
  const asked = own.map((request) => ({ ...request, url: url(path) }));
  if (path === 'large') asked.push({ url: url(path), headers: [['Range', 'bytes=65536-']] });
  for (const query of ['?thumbnail', '?thumbnail=']) {
    asked.push({ url: url(path, query) }, { method: 'HEAD', url: url(path, query) });
  }
  return asked;
}

const isOfThumbnail = (request: AskedRequest) => request.url.includes('?thumbnail');

describe('GET /cloud/{bucket}/{path}?thumbnail', () => {
  test('answers with the picture, its type and tag, by a certified query', async () => {
    for (const path of ['a', 'large', 'empty']) await expectPicture(path);
    const answer = await canister.accepted({ url: url('a', '?thumbnail') });
    const head = await canister.accepted({ method: 'HEAD', url: url('a', '?thumbnail=') });
    expect([head.status, head.body.length, field(head, 'content-length')]).toEqual([
      ...[200, 0, `${picture.length}`],
    ]);
    for (const shown of [answer, head]) {
      expect(field(shown, 'etag')).toBe(`"${sha256Hex(picture)}"`);
      expect(field(shown, 'content-type')).toBe('image/webp');
      expect(field(shown, 'x-content-type-options')).toBe('nosniff');
      expect(field(shown, 'cache-control')).toBe('public, max-age=3600');
      expect(field(shown, 'last-modified')).toBeUndefined();
    }
    const headers: Field[] = [['If-None-Match', field(answer, 'etag') ?? '']];
    expect((await canister.accepted({ url: url('a', '?thumbnail'), headers })).status).toBe(200);
  });

  test('leaves every answer to other requests as it is', async () => {
    for (const path of ['a', 'large', 'empty']) {
      for (const request of await requestsOf(path)) {
        const answer = await canister.accepted(request);
        if (isOfThumbnail(request)) continue;
        const query = { ...request, url: `${request.url}?v=2&x=thumbnail` };
        expect(await canister.accepted(query)).toMatchObject({ status: answer.status });
      }
      const answer = await canister.accepted({ url: url(path) });
      expect(field(answer, 'etag')).toBe(field(await canister.ask({ url: url(path) }), 'etag'));
      for (const query of ['', '?thumbnail', '?thumbnail=1']) {
        const allowed = await canister.accepted({ method: 'OPTIONS', url: url(path, query) });
        expect(allowed.status).toBe(204);
      }
    }
  });

  test('asks for an update in every other form, which the file cannot answer either', async () => {
    const file = await canister.accepted({ url: url('a') });
    const small = await canister.accepted({ url: url('a', '?thumbnail') });
    for (const query of [
      '?thumbnail=1',
      '?Thumbnail',
      '?thumbnail&thumbnail',
      '?thumbnail&a&THUMBNAIL=',
    ]) {
      const request = { url: url('a', query) };
      expect((await canister.ask(request)).isUpgrade, query).toBe(true);
      for (const answer of [file, small]) {
        expect(verdictOn(request, answer, canister.context()).refusal, query).toBeDefined();
      }
      const updated = await canister.change({ url: request.url });
      expect(Buffer.compare(updated.body, picture)).toBe(0);
    }
  });

  test('is 404 by an update for a file without one, and certified where no file is', async () => {
    await expectNone('plain');
    await expect(canister.change({ url: url('plain', '?thumbnail') })).rejects.toThrow(
      'NoSuchFile',
    );
    const missing = await canister.accepted({ url: url('none', '?thumbnail') });
    expect(missing.status).toBe(404);
  });

  test('1,000 forged and swapped answers are refused', async () => {
    await setThumbnail('a', other);
    const request = { url: url('a', '?thumbnail') };
    const outdated: Exchange = { request, answer: await canister.accepted(request) };
    await setThumbnail('a');
    const exchanges: Exchange[] = [];
    for (const path of ['a', 'large', 'empty']) {
      for (const each of await requestsOf(path)) {
        exchanges.push({ request: each, answer: await canister.accepted(each) });
      }
    }
    const missing = { url: url('none', '?thumbnail') };
    exchanges.push({ request: missing, answer: await canister.accepted(missing) });
    const isFixed = (asked: AskedRequest) => asked.url === missing.url;
    const isRight = (asked: AskedRequest, answered: AskedRequest) => {
      const isSame =
        asked.url === answered.url && (asked.method ?? 'GET') === (answered.method ?? 'GET');
      const isWhole = asked.headers?.[0]?.[0] === 'Range' && !asked.url.endsWith('large');
      return isSame && (asked === answered || answered.headers === undefined || isWhole);
    };
    expectRefusals(
      { exchanges, outdated, isRight, isFixed },
      { seed: 20_261_129, count: 1_000, context: canister.context },
    );
    for (const { request: asked } of exchanges) {
      for (const { request: from, answer } of exchanges) {
        if (isOfThumbnail(asked) === isOfThumbnail(from)) continue;
        if (isFixed(asked) && isFixed(from)) continue;
        const { refusal } = verdictOn(asked, answer, canister.context());
        expect(refusal, JSON.stringify([asked, from])).toBeDefined();
      }
    }
  });
});

describe('GET /cloud/{bucket}/{path}?thumbnail follows a change', () => {
  /** Expects that the former answers verify no more, with the present certificate. */
  async function expectGone(formers: readonly Exchange[]): Promise<void> {
    const now = await canister.ask({ url: '/' });
    const pattern = /certificate=:[^:]*:/;
    const certificate =
      pattern.exec(field(now, 'ic-certificate') ?? '')?.[0] ?? expect.fail('none');
    for (const { request, answer } of formers) {
      const headers = answer.headers.map(([name, value]): Field => {
        return [name, name === 'IC-Certificate' ? value.replace(pattern, certificate) : value];
      });
      const { refusal } = verdictOn(request, { ...answer, headers }, canister.context());
      expect(refusal, JSON.stringify(request)).toBeDefined();
    }
  }

  async function answersAt(path: string): Promise<Exchange[]> {
    const exchanges: Exchange[] = [];
    for (const request of await requestsOf(path)) {
      exchanges.push({ request, answer: await canister.accepted(request) });
    }
    return exchanges;
  }

  const json = (path: string, value: object, method = 'POST') =>
    canister.change({
      method,
      url: `/api/v1/bucket/demo/${path}`,
      body: Buffer.from(JSON.stringify(value)),
    });

  test.each([
    ['one part', () => canister.put('r', Buffer.from('new')), Buffer.from('new')],
    ['several parts', () => canister.putParts('r', parts), parts[0]],
    ['no bytes', () => canister.put('r', Buffer.from('')), Buffer.from('')],
  ])('by a new version of %s, which has none', async (_, replace, file) => {
    const formerParts = [sampleBytes('third', 65_536), sampleBytes('second', 400)];
    for (const isLarge of [false, true]) {
      await (isLarge ? canister.putParts('r', formerParts) : canister.put('r', body));
      await setThumbnail('r');
      const formers = await answersAt('r');
      await replace();
      await expectNone('r', file);
      await expectGone(formers);
    }
  });

  test('by another picture, a deletion, and a copy and a move, which keep it', async () => {
    await canister.put('c', body);
    await setThumbnail('c', other);
    const formers = (await answersAt('c')).filter(({ request }) => isOfThumbnail(request));
    await setThumbnail('c');
    await expectPicture('c');
    await expectGone(formers);
    await json('copy', { from: 'c', to: { path: 'dir/copy' } });
    await expectPicture('dir/copy');
    const moved = await answersAt('c');
    await canister.move('c', 'moved');
    await expectPicture('moved');
    await expectGone(moved);
    const deleted = await answersAt('moved');
    await canister.remove('moved');
    await expectGone(deleted);
    expect((await canister.accepted({ url: url('moved', '?thumbnail') })).status).toBe(404);
  });

  test('by other tags, type and headers of the file, a site, and an upgrade', async () => {
    await canister.put('m', body, [['content-type', 'image/png']]);
    await setThumbnail('m');
    const change = { contentType: 'text/html', headers: { 'Cache-Control': 'no-cache' } };
    await json('files/m', change, 'PATCH');
    await expectPicture('m');
    const answer = await canister.accepted({ url: url('m', '?thumbnail') });
    expect(field(answer, 'cache-control')).toBe('no-cache');
    expect(field(answer, 'content-type')).toBe('image/webp');
    await canister.setSite('demo', true);
    for (let turn = 0; turn < 2; turn++) {
      await expectPicture('m');
      await expectPicture('large');
      expect((await canister.accepted({ url: url('m') })).status).toBe(200);
      await canister.upgrade();
    }
    await canister.put('page.html', body, [['content-type', 'text/html']]);
    await setThumbnail('page.html');
    await expectPicture('page.html');
    // At the address of the site, which is not the file's own
    const clean = await canister.accepted({ url: url('page', '?thumbnail') });
    expect(Buffer.compare(clean.body, body)).toBe(0);
    await canister.setSite('demo', false);
    await expectPicture('m');
  });

  test('by a bucket that is made private, where only a key reads it, and public again', async () => {
    const formers = await answersAt('a');
    await canister.showBucket('demo', false);
    await expectGone(formers);
    expect((await canister.accepted({ url: url('a', '?thumbnail') })).status).toBe(404);
    const headers: Field[] = [['authorization', `Bearer ${canister.apiKey}`]];
    const keyed = await canister.ask({ url: url('a', '?thumbnail'), headers });
    expect([keyed.status, field(keyed, 'cache-control')]).toEqual([200, 'private, no-store']);
    expect(Buffer.compare(keyed.body, picture)).toBe(0);
    const tag: Field = ['if-none-match', field(keyed, 'etag') ?? ''];
    const again = await canister.ask({ url: url('a', '?thumbnail'), headers: [...headers, tag] });
    expect([again.status, again.body.length]).toEqual([304, 0]);
    const none = await canister.ask({ url: url('plain', '?thumbnail'), headers });
    expect(none.status).toBe(404);
    await setThumbnailPrivately();
    await canister.showBucket('demo', true);
    await expectPicture('a', other);
    await expectPicture('large');
  });

  async function setThumbnailPrivately(): Promise<void> {
    const headers: Field[] = [['if-match', `"${sha256Hex(body)}"`]];
    const thumbnails = '/api/v1/bucket/demo/thumbnails/a';
    await canister.change({ method: 'PUT', url: thumbnails, body: other, headers });
  }

  test('by a link, at whose address the file has none', async () => {
    const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
    const created = await json('links', { path: 'm', expiresAt });
    const { url: link } = JSON.parse(Buffer.from(created.body).toString());
    const shown = await canister.accepted({ url: `${link}&thumbnail` });
    expect(Buffer.compare(shown.body, body)).toBe(0);
    await expectPicture('m');
  });
});
