// Bodies that streaming callbacks deliver, as the network's gateways forward them; above all the
// answer of an update to a range request.

import { connect } from 'node:net';
import { Principal } from '@dfinity/principal';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Answer, Field, Token } from '../../support/gateway-canister/certified-site.ts';
import {
  encodeAnswer,
  encodePart,
  encodeToken,
} from '../../support/gateway-canister/certified-site.ts';
import { openSite, type Site } from '../../support/gateway-canister/site.ts';

const text = (value: string) => new TextEncoder().encode(value);
const range = { range: 'bytes=100-' };

let site: Site;
beforeAll(async () => {
  site = await openSite();
});
afterAll(() => site.replica.stop());
beforeEach(() => site.forgetRules());

/** A token like the service's: a record with sealed bytes. */
function tokenOf(index: number): Token {
  return { content: Uint8Array.of(0, 255, 128, index), offset: 2n ** 63n + BigInt(index) };
}

/** Serves the parts `-1`, `-2` …, each by a callback; one of them may fail. */
async function serveParts(count: number, failing?: number): Promise<void> {
  for (let index = 1; index <= count; index += 1) {
    const next = index === count ? undefined : tokenOf(index + 1);
    const fails = index === failing;
    await site.addRule({
      method: 'stream',
      action: fails ? 'trap' : 'reply',
      pattern: encodeToken(tokenOf(index)),
      reply: fails ? 'gone' : encodePart(text(`-${index}`), next),
    });
  }
}

/** Any request is answered by an update with a first part and a strategy for the others. */
async function answerByUpdate(answer: Answer): Promise<void> {
  await site.addRule({ method: 'query', pattern: '', reply: encodeAnswer({ upgrade: true }) });
  const canisterId = Principal.fromText(site.canisterId);
  const streamed = { status: 206, ...answer, stream: { canisterId, token: tokenOf(1) } };
  await site.addRule({ method: 'update', pattern: '', reply: encodeAnswer(streamed) });
}

/** A 206 response with `0` and the parts up to `-count`, from byte 100 to the end of a file. */
function partial(count: number, length = 1 + 2 * count): { headers: Field[]; body: Uint8Array } {
  const headers: Field[] = [
    ['Content-Range', `bytes 100-${99 + length}/${100 + length}`],
    ['Content-Length', String(length)],
    ['ETag', '"1"'],
  ];
  return { headers, body: text('0') };
}

function bodyOf(count: number): string {
  return Array.from({ length: count + 1 }, (_, index) => String(-index)).join('');
}

function queries(): number {
  return site.replica.reports.filter(({ method }) => method === 'stream').length;
}

describe('a range that an update answers with a strategy', () => {
  it.each([1, 4, 5, 9])('passes whole with its own head, with %i callbacks', async (count) => {
    await answerByUpdate(partial(count));
    await serveParts(count);
    const before = queries();
    const received = await site.send({ path: '/big', headers: range });
    expect(received).toMatchObject({ status: 206, isComplete: true });
    expect(received.body.toString()).toBe(bodyOf(count));
    const length = 1 + 2 * count;
    expect(received.headers).toMatchObject({
      'content-range': `bytes 100-${99 + length}/${100 + length}`,
      'content-length': String(length),
      etag: '"1"',
    });
    expect(queries() - before).toBe(count);
  });

  it('passes its head for HEAD', async () => {
    await answerByUpdate({ ...partial(9), body: new Uint8Array(0) });
    await serveParts(9);
    const received = await site.send({ path: '/big', method: 'HEAD', headers: range });
    expect([received.status, received.headers['content-length']]).toEqual([206, '19']);
    expect(received.body.length).toBe(0);
  });

  it('is refused as an answer to a request without a range', async () => {
    await answerByUpdate(partial(9));
    await serveParts(9);
    const { status, body } = await site.send({ path: '/big' });
    expect([status, JSON.parse(body.toString()).error_type]).toEqual([503, 'backend_http_gateway']);
  });

  it('is cut off when a later callback fails, and refused when one of the first does', async () => {
    await answerByUpdate(partial(9));
    await serveParts(9, 7);
    const later = await site.send({ path: '/big', headers: range });
    expect(later).toMatchObject({ status: 206, isComplete: false });
    expect(later.body.toString()).toBe(bodyOf(6));
    await site.forgetRules();
    await answerByUpdate(partial(9));
    await serveParts(9, 2);
    const first = await site.send({ path: '/big', headers: range });
    expect([first.status, JSON.parse(first.body.toString()).error_type]).toEqual([
      503,
      'canister_error',
    ]);
  });

  it.each([
    [3, 1],
    [3, -1],
    [9, 1],
    [9, -1],
  ])('of %i callbacks is cut off if its declared length is wrong by %i', async (count, error) => {
    const told = 1 + 2 * count + error;
    await answerByUpdate(partial(count, told));
    await serveParts(count);
    const received = await site.send({ path: '/big', headers: range });
    expect(received).toMatchObject({ status: 206, isComplete: false });
    expect(received.body.length).toBeLessThan(told);
    // The next answer on the connection does not mix with this one.
    expect(await answersOfOneConnection(range)).toBe(1);
  });

  it('ends after 1,000 parts, cut off if a length was declared', async () => {
    const endless = encodePart(text('.'), tokenOf(1));
    const rule = { method: 'stream', pattern: encodeToken(tokenOf(1)), reply: endless } as const;
    await answerByUpdate(partial(1, 2_000));
    await site.addRule(rule);
    const told = await site.send({ path: '/big', headers: range });
    expect([told.body.length, told.isComplete]).toEqual([1 + 4 + 999, false]);
    await site.forgetRules();
    await answerByUpdate({ body: text('0') });
    await site.addRule(rule);
    const untold = await site.send({ path: '/big', headers: range });
    expect([untold.body.length, untold.isComplete]).toEqual([1 + 4 + 999, true]);
  });

  it('is fetched no faster than the client reads, and no further after it disconnects', async () => {
    const size = 1_900_000;
    const count = 40;
    await answerByUpdate(partial(0, 1 + count * size));
    const reply = encodePart(new Uint8Array(size), tokenOf(1));
    await site.addRule({ method: 'stream', pattern: encodeToken(tokenOf(1)), reply });
    const before = queries();
    const socket = connect(site.replica.port, '127.0.0.1');
    socket.write(
      `GET /x HTTP/1.1\r\nHost: ${site.canisterId}.localhost\r\nRange: bytes=100-\r\n\r\n`,
    );
    socket.pause();
    await expect.poll(() => queries() - before).toBeGreaterThanOrEqual(4);
    await sleep(1_500);
    const held = queries() - before;
    // Four collected, two ahead, and the parts in the system's buffers on both sides.
    expect(held).toBeLessThan(12);
    socket.destroy();
    await sleep(300);
    expect(queries() - before).toBeLessThanOrEqual(held + 1);
  });
});

describe('the joining of parts', () => {
  const host = () => `${site.canisterId}.raw.localhost`;
  const part = (begin: number, body: string): Answer => ({
    status: 206,
    headers: [['Content-Range', `bytes ${begin}-${begin + body.length - 1}/10`]],
    body: text(body),
  });
  const reply = (pattern: string, answer: Answer) =>
    site.addRule({ method: 'query', pattern, reply: encodeAnswer(answer) });

  it('sends `Range` capitalized, while header names of clients arrive in lower case', async () => {
    await reply('\x05Range\x08bytes=5-', part(5, 'fghij'));
    await reply('\x05range\x08bytes=5-', { status: 206, body: text('own') });
    await reply('/big', part(0, 'abcde'));
    const joined = await site.send({ path: '/big', host: host() });
    expect([joined.status, joined.body.toString()]).toEqual([200, 'abcdefghij']);
    const own = await site.send({ path: '/big', host: host(), headers: { Range: 'bytes=5-' } });
    expect([own.status, own.body.toString()]).toEqual([206, 'own']);
  });

  it.each(['Range', 'If-Range'])('does not happen for a client that sent %s', async (name) => {
    await reply('/big', part(0, 'abcde'));
    const headers = { [name]: name === 'Range' ? 'bytes=0-' : '"1"' };
    const received = await site.send({ path: '/big', host: host(), headers });
    expect([received.status, received.body.toString()]).toEqual([206, 'abcde']);
  });
});

/** Returns the number of answers to two requests that are sent at once. */
async function answersOfOneConnection(headers: { readonly range: string }): Promise<number> {
  const socket = connect(site.replica.port, '127.0.0.1');
  let received = '';
  socket.on('data', (bytes) => {
    received += bytes.toString('latin1');
  });
  const closed = new Promise((resolve) => socket.on('close', resolve));
  const request = `GET /big HTTP/1.1\r\nHost: ${site.canisterId}.localhost\r\nRange: ${headers.range}\r\n\r\n`;
  socket.write(request + request);
  await closed;
  return received.split('HTTP/1.1 ').length - 1;
}

function sleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
