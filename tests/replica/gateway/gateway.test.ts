// The HTTP gateway on the real engine, with a canister whose answers each test sets.

import { connect, type Socket } from 'node:net';
import { Principal } from '@dfinity/principal';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Answer, Page } from '../../support/gateway-canister/certified-site.ts';
import { encodeAnswer, encodePart } from '../../support/gateway-canister/certified-site.ts';
import { openSite, type Site } from '../../support/gateway-canister/site.ts';

const text = (value: string) => new TextEncoder().encode(value);
const hello: Page = {
  path: ['hello', '<$>'],
  headers: [['content-type', 'text/plain']],
  body: text('hello world'),
};

let site: Site;
beforeAll(async () => {
  site = await openSite();
});
afterAll(() => site.replica.stop());
beforeEach(() => site.forgetRules());

/** Makes the canister answer `/hello` with the certified page, changed by `lie`. */
async function serveHello(lie: (answer: Answer) => Answer = (answer) => answer): Promise<void> {
  await site.certify([hello]);
  await site.addRule({
    method: 'query',
    pattern: '/hello',
    reply: encodeAnswer(lie(await site.prove(hello))),
  });
}

async function reply(pattern: string, answer: Answer): Promise<void> {
  await site.addRule({ method: 'query', pattern, reply: encodeAnswer(answer) });
}

function errorOf(body: Uint8Array): { readonly error_type: string; readonly details: string } {
  return JSON.parse(new TextDecoder().decode(body));
}

describe('a request', () => {
  const raw = () => `${site.canisterId}.raw.localhost`;

  it('reaches the canister with method, target, body and headers in lower case', async () => {
    for (const pattern of ['PATCH', '/p%20q?r=s&t', 'the body', 'x-own', 'Its Value']) {
      await site.forgetRules();
      await reply(pattern, { status: 204 });
      const headers = { 'X-Own': 'Its Value' };
      const sent = { method: 'PATCH', path: '/p%20q?r=s&t', body: text('the body'), headers };
      expect((await site.send({ ...sent, host: raw() })).status).toBe(204);
    }
  });

  it('reaches the canister with `identity` as an accepted encoding, and without its request id', async () => {
    await reply('x-request-id', { status: 500 });
    await reply('gzip, br, identity', { status: 204 });
    const headers = { 'accept-encoding': 'gzip,br', 'x-request-id': '1' };
    expect((await site.send({ headers, host: raw() })).status).toBe(204);
  });
});

describe('a certified answer', () => {
  it('passes with its body, its certified headers and the proof', async () => {
    await serveHello();
    const received = await site.send({ path: '/hello?x=1' });
    expect(received.status).toBe(200);
    expect(received.body.toString()).toBe('hello world');
    expect(received.headers).toMatchObject({
      'content-type': 'text/plain',
      'content-length': '11',
      'x-ic-canister-id': site.canisterId,
      'access-control-allow-origin': '*',
      'ic-certificate': expect.stringContaining('version=2'),
      'x-request-id': expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
  });

  it('passes also if query, Referer, plain localhost or a prefixed host names the canister', async () => {
    await serveHello();
    const { canisterId } = site;
    const byQuery = { host: 'localhost', path: `/hello?canisterId=${canisterId}` };
    const referer = `http://${canisterId}.localhost/`;
    const byReferer = { host: 'localhost', path: '/hello', headers: { referer } };
    const plain = { host: '127.0.0.1', path: '/hello' };
    const prefixed = { host: `x--${canisterId}.localhost`, path: '/hello' };
    for (const sent of [byQuery, byReferer, plain, prefixed]) {
      expect((await site.send(sent)).status).toBe(200);
    }
  });

  it.each<[string, (answer: Answer) => Answer]>([
    ['body', (answer) => ({ ...answer, body: text('hello w0rld') })],
    ['status', (answer) => ({ ...answer, status: 201 })],
    [
      'header',
      ({ headers = [], ...rest }) => ({
        ...rest,
        headers: headers.map(([name, value]) => [name, value.replace('text/plain', 'text/html')]),
      }),
    ],
    [
      'added header',
      ({ headers = [], ...rest }) => ({ ...rest, headers: [...headers, ['a', 'b']] }),
    ],
    ['proof', ({ headers = [], ...rest }) => ({ ...rest, headers: headers.slice(0, -1) })],
  ])('is refused with another %s, and passes unverified on a raw host', async (_, lie) => {
    await serveHello(lie);
    const received = await site.send({ path: '/hello' });
    expect(received.status).toBe(503);
    expect(errorOf(received.body).error_type).toBe('backend_response_verification');
    const raw = await site.send({ path: '/hello', host: `${site.canisterId}.raw.localhost` });
    expect([200, 201]).toContain(raw.status);
  });

  it('is refused for another method and another path', async () => {
    await serveHello();
    expect((await site.send({ path: '/hello', method: 'POST' })).status).toBe(503);
    expect((await site.send({ path: '/hello/more' })).status).toBe(503);
  });

  it('is refused if its tree is not the one that the canister certified', async () => {
    await site.certify([hello]);
    await site.replica.call(site.canisterId, 'certify', new Uint8Array(32));
    await reply('/hello', await site.prove(hello));
    const { status, body } = await site.send({ path: '/hello' });
    expect([status, errorOf(body).error_type]).toEqual([503, 'backend_response_verification']);
    expect(errorOf(body).details).toContain('InvalidTreeRootHash');
  });

  it('loses headers that are not certified', async () => {
    const page: Page = {
      ...hello,
      headers: [
        ['content-type', 'text/plain'],
        ['set-cookie', 'a=b'],
      ],
      certifiedHeaders: ['content-type'],
    };
    await site.certify([page]);
    await reply('/hello', await site.prove(page));
    const received = await site.send({ path: '/hello' });
    expect([received.status, received.headers['set-cookie']]).toEqual([200, undefined]);
    expect(received.headers['content-type']).toBe('text/plain');
    const raw = await site.send({ path: '/hello', host: `${site.canisterId}.raw.localhost` });
    expect(raw.headers['set-cookie']).toEqual(['a=b']);
  });

  it('passes whole if the canister certified that its path needs no certification', async () => {
    const page: Page = { path: ['api', '<*>'], isUncertified: true, body: text('any') };
    await site.certify([page]);
    const proven = await site.prove(page);
    const headers = [...(proven.headers ?? []), ['x-any', '1']] as const;
    await reply('/api/', { ...proven, status: 418, headers, body: text('anything') });
    const received = await site.send({ path: '/api/v1/x' });
    expect([received.status, received.headers['x-any']]).toEqual([418, '1']);
    expect(received.body.toString()).toBe('anything');
  });

  it('to HEAD keeps its declared length', async () => {
    const page: Page = {
      ...hello,
      method: 'HEAD',
      headers: [['content-length', '11']],
      body: new Uint8Array(0),
    };
    await site.certify([page]);
    await reply('/hello', await site.prove(page));
    const received = await site.send({ path: '/hello', method: 'HEAD' });
    expect(received.status).toBe(200);
    expect([received.headers['content-length'], received.body.length]).toEqual(['11', 0]);
  });
});

describe('a file in parts', () => {
  const parts = ['first part, ', 'second part, ', 'third'].map(text);
  const whole = Buffer.concat(parts);

  function pageOfPart(index: number): Page {
    const begin = Buffer.concat(parts.slice(0, index)).length;
    const body = parts[index] ?? new Uint8Array(0);
    const range = `bytes ${begin}-${begin + body.length - 1}/${whole.length}`;
    return {
      path: ['big', '<$>'],
      status: 206,
      headers: [
        ['content-range', range],
        ['etag', '"1"'],
      ],
      ...(index === 0 ? {} : { requestHeaders: [['range', `bytes=${begin}-`]] }),
      body,
    };
  }

  async function serveParts(change: (answer: Answer, index: number) => Answer): Promise<void> {
    const pages = parts.map((_, index) => pageOfPart(index));
    await site.certify(pages);
    for (const index of [2, 1, 0]) {
      const page = pageOfPart(index);
      const [range] = page.requestHeaders ?? [['', '/big'] as const];
      await reply(range?.[1] ?? '', change(await site.prove(page), index));
    }
  }

  it('is joined into one 200', async () => {
    await serveParts((answer) => answer);
    const received = await site.send({ path: '/big' });
    expect(received).toMatchObject({ status: 200, isComplete: true });
    expect(received.body).toEqual(whole);
    expect(received.headers).toMatchObject({ 'content-length': '30', etag: '"1"' });
    expect(received.headers['content-range']).toBeUndefined();
  });

  it('is passed part by part if the client requests ranges', async () => {
    await serveParts((answer) => answer);
    const received = await site.send({ path: '/big', headers: { range: 'bytes=12-' } });
    expect([received.status, received.body.toString()]).toEqual([206, 'second part, ']);
    expect(received.headers['content-range']).toBe('bytes 12-24/30');
  });

  it.each<[string, (answer: Answer) => Answer]>([
    ['body', (answer) => ({ ...answer, body: text('second p4rt, ') })],
    ['place', () => ({ status: 206, headers: [['content-range', 'bytes 13-24/30']] })],
    ['length', (answer) => ({ ...answer, body: text('second') })],
  ])('breaks off if the second part has a wrong %s', async (_, lie) => {
    await serveParts((answer, index) => (index === 1 ? lie(answer) : answer));
    const received = await site.send({ path: '/big' });
    expect(received).toMatchObject({ status: 200, isComplete: false });
    expect(received.body.toString()).toBe('first part, ');
  });

  it('breaks off if the canister traps meanwhile, raw or not', async () => {
    await site.addRule({ method: 'query', action: 'trap', pattern: 'bytes=', reply: 'gone' });
    await serveParts((answer) => answer);
    for (const host of ['localhost', `${site.canisterId}.raw.localhost`]) {
      const received = await site.send({ path: '/big', host });
      expect(received).toMatchObject({ status: 200, isComplete: false });
    }
  });

  it('is refused at once if the first part does not begin at byte 0', async () => {
    await reply('/big', {
      status: 206,
      headers: [['content-range', 'bytes 5-6/7']],
      body: text('ab'),
    });
    const received = await site.send({ path: '/big', host: `${site.canisterId}.raw.localhost` });
    expect([received.status, errorOf(received.body).error_type]).toEqual([
      503,
      'backend_http_gateway',
    ]);
  });

  it('is fetched no faster than the client reads, and no further after it disconnects', async () => {
    const size = 1_900_000;
    const count = 14;
    for (let index = count - 1; index >= 0; index -= 1) {
      const begin = index * size;
      const range = `bytes ${begin}-${begin + size - 1}/${count * size}`;
      const body = new Uint8Array(size).fill(index);
      const pattern = index === 0 ? '/slow' : `bytes=${begin}-`;
      await reply(pattern, { status: 206, headers: [['content-range', range]], body });
    }
    const queries = () => site.replica.reports.filter(({ kind }) => kind === 'query').length;
    const before = queries();
    const leaving = ask('/slow');
    await sleep(700);
    expect(queries() - before).toBeLessThan(count - 2);
    leaving.destroy();
    await sleep(300);
    expect(queries() - before).toBeLessThan(count - 2);
    const staying = ask('/slow');
    const beforeStaying = queries();
    let received = 0;
    staying.on('data', (chunk) => {
      received += chunk.length;
      if (received > count * size) staying.end();
    });
    staying.resume();
    await new Promise((resolve) => staying.on('close', resolve));
    expect(queries() - beforeStaying).toBe(count);
  });
});

/** Sends a GET to the raw host without reading the answer. */
function ask(path: string): Socket {
  const socket = connect(site.replica.port, '127.0.0.1');
  socket.write(`GET ${path} HTTP/1.1\r\nHost: ${site.canisterId}.raw.localhost\r\n\r\n`);
  socket.pause();
  return socket;
}

function sleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

describe('a streamed body', () => {
  const stream = () => ({ canisterId: Principal.fromText(site.canisterId), token: 'token-1' });

  async function servePartsByToken(count: number): Promise<void> {
    for (let index = 1; index <= count; index += 1) {
      const next = index === count ? undefined : `token-${index + 1}`;
      const part = encodePart(text(`-${index}`), next);
      await site.addRule({ method: 'stream', pattern: `token-${index}`, reply: part });
    }
  }

  it('is verified as a whole up to four callbacks', async () => {
    await site.certify([{ ...hello, body: text('0-1-2-3-4') }]);
    const proven = await site.prove({ ...hello, body: text('0-1-2-3-4') });
    await reply('/hello', { ...proven, body: text('0'), stream: stream() });
    await servePartsByToken(4);
    const received = await site.send({ path: '/hello' });
    expect([received.status, received.body.toString()]).toEqual([200, '0-1-2-3-4']);
    expect(received.headers['content-length']).toBe('9');
    await reply('/lie', { ...proven, body: text('1'), stream: stream() });
    expect((await site.send({ path: '/lie' })).status).toBe(503);
  });

  it('is streamed unverified with more than four callbacks', async () => {
    await reply('/hello', { headers: [['x-any', '1']], body: text('0'), stream: stream() });
    await servePartsByToken(7);
    const received = await site.send({ path: '/hello' });
    expect(received).toMatchObject({ status: 200, isComplete: true });
    expect(received.body.toString()).toBe('0-1-2-3-4-5-6-7');
    expect(received.headers['x-any']).toBe('1');
  });

  it('breaks off if a callback fails', async () => {
    await reply('/hello', { body: text('0'), stream: stream() });
    await site.addRule({ method: 'stream', action: 'trap', pattern: 'token-6', reply: 'gone' });
    await servePartsByToken(7);
    const received = await site.send({ path: '/hello' });
    expect(received).toMatchObject({ status: 200, isComplete: false });
    expect(received.body.toString()).toBe('0-1-2-3-4-5');
  });
});
