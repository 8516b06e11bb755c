// Upgrades to updates, size limits, failures of canisters and of clients, over the real engine.

import { connect } from 'node:net';
import { Principal } from '@dfinity/principal';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { encodeAnswer } from '../../support/gateway-canister/certified-site.ts';
import { openSite, type Site } from '../../support/gateway-canister/site.ts';

const text = (value: string) => new TextEncoder().encode(value);
const upgrade = encodeAnswer({ upgrade: true });

let site: Site;
beforeAll(async () => {
  site = await openSite();
});
afterAll(() => site.replica.stop());
beforeEach(() => site.forgetRules());

function outcomeOf(received: { readonly status: number; readonly body: Uint8Array }) {
  const { error_type: cause, details: message } = JSON.parse(
    new TextDecoder().decode(received.body),
  );
  return { outcome: `${received.status} ${cause}`, message };
}

/**
 * Writes bytes to the server and returns the head of its answer, or all bytes received until the
 * time is over if no answer is expected.
 */
async function exchange(bytes: string, waitMilliseconds = 300_000): Promise<string> {
  const socket = connect(site.replica.port, '127.0.0.1');
  let answer = '';
  socket.on('data', (chunk) => {
    answer += chunk.toString('latin1');
    if (answer.includes('\r\n\r\n')) socket.destroy();
  });
  socket.on('error', () => undefined);
  const closed = new Promise<void>((resolve) => socket.on('close', () => resolve()));
  socket.write(Buffer.from(bytes, 'latin1'));
  const timeout = setTimeout(() => socket.destroy(), waitMilliseconds);
  await closed;
  clearTimeout(timeout);
  return answer;
}

describe('an upgrade to an update', () => {
  it('calls the update once, and passes its answer with every header, unverified', async () => {
    await site.addRule({ method: 'query', pattern: '/put', reply: upgrade });
    const headers = [
      ['x-first', '1'],
      ['set-cookie', 'a=1'],
      ['set-cookie', 'b=2'],
    ] as const;
    const reply = encodeAnswer({ status: 201, headers, body: text('stored'), upgrade: true });
    await site.addRule({ method: 'update', pattern: 'content', reply });
    const before = await site.countUpdates();
    const received = await site.send({ path: '/put', method: 'PUT', body: text('the content') });
    expect([received.status, received.body.toString()]).toEqual([201, 'stored']);
    expect(received.headers['set-cookie']).toEqual(['a=1', 'b=2']);
    expect(await site.countUpdates()).toBe(before + 1);
  });

  it('accepts a body of 2,096,000 bytes and refuses one of 2,097,152', async () => {
    await site.addRule({ method: 'query', pattern: '/put', reply: upgrade });
    const reply = encodeAnswer({ body: text('ok') });
    await site.addRule({ method: 'update', pattern: '/put', reply });
    const put = (size: number) =>
      site.send({ path: '/put', method: 'PUT', body: new Uint8Array(size) });
    expect((await put(2_096_000)).status).toBe(200);
    const { outcome, message } = outcomeOf(await put(2_097_152));
    expect(outcome).toBe('503 backend_http_gateway');
    expect(message).toMatch(
      /status 413 Payload Too Large, .*http_request_update.* allowed 2097152/,
    );
  });
});

describe('a body', () => {
  it('above 5 MiB is too large for the query that carries it', async () => {
    const body = new Uint8Array(5 * 1_048_576);
    const { outcome, message } = outcomeOf(await site.send({ method: 'POST', body }));
    expect(outcome).toBe('503 backend_http_gateway');
    expect(message).toMatch(/status 413 Payload Too Large, .* allowed 5242880/);
  });

  it('above 10 MiB is refused, with or without a declared length', async () => {
    const body = new Uint8Array(10 * 1_048_576 + 1);
    const announced = await site.send({ method: 'POST', body });
    expect(outcomeOf(announced)).toMatchObject({ outcome: '413 client_body_too_large' });
    const chunked = await site.send({
      method: 'POST',
      body,
      headers: { 'transfer-encoding': 'chunked' },
    });
    expect(outcomeOf(chunked)).toMatchObject({ outcome: '413 client_body_too_large' });
  });

  it('whose declared length is refused is not requested by 100 Continue', async () => {
    const head = `PUT / HTTP/1.1\r\nHost: ${site.canisterId}.localhost\r\n`;
    const answer = await exchange(
      `${head}Content-Length: 99999999\r\nExpect: 100-continue\r\n\r\n`,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 413 /);
  });

  it('that ends early reaches no canister', async () => {
    const anything = { method: 'query', pattern: '', reply: upgrade } as const;
    await site.addRule(anything);
    await site.addRule({ ...anything, method: 'update' });
    const before = [await site.countUpdates(), site.replica.reports.length];
    const host = `Host: ${site.canisterId}.localhost`;
    await exchange(`PUT / HTTP/1.1\r\n${host}\r\nContent-Length: 100\r\n\r\nonly this`, 100);
    await exchange(
      `PUT / HTTP/1.1\r\n${host}\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nonly `,
      100,
    );
    const reports = site.replica.reports.slice(before[1]);
    expect(await site.countUpdates()).toBe(before[0]);
    expect(reports.filter(({ method }) => method.startsWith('http_request'))).toEqual([]);
  });
});

describe('a URL', () => {
  const proven = async (): Promise<void> => {
    const page = { path: ['<*>'], status: 404, body: text('no such page') };
    await site.certify([page]);
    const reply = encodeAnswer(await site.prove(page));
    await site.addRule({ method: 'query', pattern: '', reply });
  };

  it.each([
    ['of 8,193 bytes', `/${'x'.repeat(8_192)}`, 404],
    ['of 20,000 bytes', `/${'x'.repeat(19_999)}`, 404],
    ['with 1,000 segments', '/a'.repeat(1_000), 404],
    ['with 1,001 segments', '/a'.repeat(1_001), 503],
    ['with 20,000 segments', '/a'.repeat(20_000), 503],
    ['with slashes in its query', `/a?${'/'.repeat(20_000)}`, 404],
  ])('%s reaches the canister, and a verifier up to 1,000 segments', async (_, path, status) => {
    await proven();
    const before = site.replica.reports.length;
    const received = await site.send({ path });
    expect(received.status).toBe(status);
    expect(site.replica.reports.length - before).toBe(1);
    if (status === 404) return;
    const { outcome, message } = outcomeOf(received);
    expect(outcome).toBe('503 backend_response_verification');
    expect(message).toMatch(/the path has \d+ segments, and the limit is 1000$/);
  });

  it('of 20,000 bytes whose answer nothing certifies is a 503', async () => {
    const reply = encodeAnswer({ status: 414, body: text('too long') });
    await site.addRule({ method: 'query', pattern: '', reply });
    const path = `/${'x'.repeat(19_999)}`;
    expect(outcomeOf(await site.send({ path })).outcome).toBe('503 backend_response_verification');
    const host = `${site.canisterId}.raw.localhost`;
    expect((await site.send({ path, host })).status).toBe(414);
  });
});

describe('a failure', () => {
  it('of a missing canister is a 404', async () => {
    const host = 'ryjl3-tyaaa-aaaaa-aaaba-cai.localhost';
    expect(outcomeOf(await site.send({ host })).outcome).toBe('404 canister_not_found');
  });

  it('of a canister that traps is a 503 with its reason', async () => {
    await site.addRule({ method: 'query', action: 'trap', pattern: '/x', reply: 'out of cheese' });
    const { outcome, message } = outcomeOf(await site.send({ path: '/x' }));
    expect(outcome).toBe('503 canister_error');
    expect(message).toContain('out of cheese');
  });

  it('of a canister that rejects the query or the update is a 503 with its reason', async () => {
    await site.addRule({
      method: 'query',
      action: 'reject',
      pattern: '/query',
      reply: 'not today',
    });
    await site.addRule({ method: 'query', pattern: '/update', reply: upgrade });
    await site.addRule({
      method: 'update',
      action: 'reject',
      pattern: '/update',
      reply: 'not today',
    });
    for (const path of ['/query', '/update']) {
      const { outcome, message } = outcomeOf(await site.send({ path }));
      expect(outcome).toBe('503 canister_reject');
      expect(message).toContain('not today');
    }
  });

  it('of a canister without code is a 503', async () => {
    const id = await site.replica.createCanister();
    const { outcome } = outcomeOf(await site.send({ host: `${id.toText()}.localhost` }));
    expect(outcome).toBe('503 canister_error');
  });

  it.each<[string, Uint8Array]>([
    ['bytes that are not Candid', text('nonsense')],
    ['an invalid HTTP status', encodeAnswer({ status: 99 })],
    ['a status that is not final', encodeAnswer({ status: 100 })],
    ['a header name with a space', encodeAnswer({ headers: [['a b', 'c']] })],
    ['a header value with a line break', encodeAnswer({ headers: [['a', 'b\r\nc: d']] })],
  ])('of a canister that answers with %s is a 503', async (_, reply) => {
    await site.addRule({ method: 'query', pattern: '/x', reply });
    const host = `${site.canisterId}.raw.localhost`;
    const { outcome } = outcomeOf(await site.send({ path: '/x', host }));
    expect(outcome).toBe('503 backend_http_gateway');
  });

  it('of an answer that exceeds the gateway limit with its signature is a 503', async () => {
    const largest = 3_145_728 - 400;
    for (const [size, status] of [
      [largest, 200],
      [largest + 220, 503],
    ] as const) {
      const reply = encodeAnswer({ body: new Uint8Array(size) });
      await site.forgetRules();
      await site.addRule({ method: 'query', pattern: '/x', reply });
      const host = `${site.canisterId}.raw.localhost`;
      const received = await site.send({ path: '/x', host });
      expect(received.status).toBe(status);
      if (status === 503) expect(outcomeOf(received).outcome).toBe('503 backend_http_gateway');
    }
  });

  const chrome =
    'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 ' +
    'Safari/537.36';
  const robot = 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)';

  it.each([
    ['curl/8.7.1', 'application/json'],
    [robot, 'application/json'],
    ['', 'application/json'],
    [chrome, 'text/html; charset=utf-8'],
  ])('is explained to the User-Agent "%s" as %s', async (userAgent, type) => {
    const headers = { 'user-agent': userAgent };
    const received = await site.send({ host: 'nonsense.localhost', headers });
    expect(received.status).toBe(400);
    expect(received.headers).toMatchObject({
      'content-type': type,
      'x-ic-error-cause': 'canister_id_incorrect',
    });
    const page = received.body.toString();
    if (type === 'application/json') {
      expect(Object.keys(JSON.parse(page))).toEqual(['error_type', 'description', 'details']);
    } else expect(page).toContain('<title>Incorrect Canister ID - 400 | Internet Computer</title>');
  });

  it.each([
    ['a trap', { action: 'trap', reply: '<b>' }, 'canister_error', 'Canister Error'],
    ['a reject', { action: 'reject', reply: '<b>' }, 'canister_reject', 'Request Rejected'],
    ['nothing certified', {}, 'backend_response_verification', 'Response Verification Error'],
    ['no HttpResponse', { reply: text('x') }, 'backend_http_gateway', 'Upstream Unavailable'],
  ] as const)('after %s has the page of ic-gateway', async (_, rule, cause, title) => {
    const reply = encodeAnswer({ body: text('<b>') });
    await site.addRule({ method: 'query', pattern: '', reply, ...rule } as never);
    const received = await site.send({ path: '/<b>', headers: { 'user-agent': chrome } });
    expect([received.status, received.headers['x-ic-error-cause']]).toEqual([503, cause]);
    const page = received.body.toString();
    expect(page).toContain(`<title>${title} - 503 | Internet Computer</title>`);
    expect(page).not.toContain('<b>');
  });
});

describe('a canister that sends framing headers', () => {
  it('does not break the connection', async () => {
    const headers = [
      ['content-length', '3'],
      ['transfer-encoding', 'chunked'],
      ['connection', 'close'],
    ] as const;
    await site.addRule({
      method: 'query',
      pattern: '/x',
      reply: encodeAnswer({ headers, body: text('longer than told') }),
    });
    const host = `${site.canisterId}.raw.localhost`;
    const received = await site.send({ path: '/x', host });
    expect(received.body.toString()).toBe('longer than told');
    expect(received.headers['transfer-encoding']).toBeUndefined();
  });
});

describe('Strict-Transport-Security', () => {
  const wanted = 'max-age=31536000; includeSubDomains';

  it('is in answers, refusals and agent endpoints, once, whatever the canister sends', async () => {
    const headers = [['Strict-Transport-Security', 'max-age=1']] as const;
    await site.addRule({ method: 'query', pattern: '/x', reply: encodeAnswer({ headers }) });
    const host = `${site.canisterId}.raw.localhost`;
    for (const asked of [
      { path: '/x', host },
      { path: '/x' },
      { path: '/api/v2/status', host: 'localhost' },
    ]) {
      const received = await site.send(asked);
      expect([asked, received.headers['strict-transport-security']]).toEqual([asked, wanted]);
    }
  });
});

describe('a 304', () => {
  it('has a content-length of 0, unless the canister declares one', async () => {
    const host = `${site.canisterId}.raw.localhost`;
    const lengthOf = async (answer: Parameters<typeof encodeAnswer>[0]) => {
      await site.forgetRules();
      await site.addRule({ method: 'query', pattern: '/x', reply: encodeAnswer(answer) });
      const received = await site.send({ path: '/x', host });
      return [received.status, received.headers['content-length'], received.body.length];
    };
    expect(await lengthOf({ status: 304 })).toEqual([304, '0', 0]);
    const headers = [['content-length', '19']] as const;
    expect(await lengthOf({ status: 304, headers })).toEqual([304, '19', 0]);
    expect(await lengthOf({ status: 204 })).toEqual([204, undefined, 0]);
  });
});

describe('OPTIONS', () => {
  const host = () => `${site.canisterId}.raw.localhost`;

  it('is answered by the canister if its answer is a valid preflight response', async () => {
    const headers = [['access-control-allow-methods', 'GET, BREW']] as const;
    const reply = encodeAnswer({ status: 204, headers });
    await site.addRule({ method: 'query', pattern: 'OPTIONS', reply });
    const received = await site.send({ method: 'OPTIONS', host: host() });
    expect(received.status).toBe(204);
    expect(received.headers['access-control-allow-methods']).toBe('GET, BREW');
    expect(received.headers['access-control-allow-origin']).toBe('*');
  });

  it('is answered by the gateway otherwise', async () => {
    const unfit = encodeAnswer({ status: 405, headers: [['access-control-max-age', '1']] });
    await site.addRule({ method: 'query', pattern: '/unfit', reply: unfit });
    for (const path of ['/unfit', '/unknown']) {
      const received = await site.send({ method: 'OPTIONS', path, host: host() });
      expect(received.status).toBe(200);
      expect(received.headers['access-control-max-age']).toBe('7200');
      expect(received.headers['access-control-allow-methods']).toContain('PUT');
    }
  });

  it('is answered by the gateway for a day after an invalid response to OPTIONS, and then passed on again', async () => {
    const own = await openSite({ now: () => 1_800_000_000_000_000_000n });
    const unfit = encodeAnswer({ status: 405, headers: [['access-control-max-age', '1']] });
    const fit = encodeAnswer({ status: 204, headers: [['access-control-max-age', '1']] });
    await own.addRule({ method: 'query', pattern: '/unfit', reply: unfit });
    await own.addRule({ method: 'query', pattern: '/fit', reply: fit });
    const host = `${own.canisterId}.raw.localhost`;
    const ageAt = async (path: string) =>
      (await own.send({ method: 'OPTIONS', path, host })).headers['access-control-max-age'];
    expect([await ageAt('/fit'), await ageAt('/unfit'), await ageAt('/fit')]).toEqual([
      '1',
      '7200',
      '7200',
    ]);
    own.replica.advanceTime(86_400_000_000_001n);
    expect(await ageAt('/fit')).toBe('1');
    await own.replica.stop();
  });
});

describe('preflights: answered', () => {
  it("replaces the CORS headers of the canister's answers", async () => {
    const own = await openSite({ preflights: 'answered' });
    const headers = [
      ['access-control-allow-headers', 'authorization'],
      ['access-control-expose-headers', 'etag'],
      ['access-control-allow-origin', 'https://a.example'],
      ['etag', '"x"'],
    ] as const;
    for (const pattern of ['OPTIONS', 'GET']) {
      const reply = encodeAnswer({ status: 202, headers });
      await own.addRule({ method: 'query', pattern, reply });
    }
    const host = `${own.canisterId}.raw.localhost`;
    const preflight = await own.send({ method: 'OPTIONS', path: '/x', host });
    expect([preflight.status, preflight.body.length]).toEqual([200, 0]);
    const named = (value: string | string[] | undefined) => String(value).split(', ').sort();
    expect(named(preflight.headers['access-control-allow-headers'])).toEqual(
      [
        ...['cache-control', 'content-type', 'cookie', 'dnt', 'if-modified-since'],
        ...['if-none-match', 'range', 'user-agent', 'x-ic-canister-id', 'x-oc-api-key'],
        ...['x-oc-jwt', 'x-requested-with'],
      ].sort(),
    );
    const answer = await own.send({ method: 'GET', path: '/x', host });
    expect([answer.status, answer.headers.etag]).toEqual([202, '"x"']);
    expect(named(answer.headers['access-control-expose-headers'])).toEqual(
      [
        ...['accept-ranges', 'content-length', 'content-range', 'x-ic-canister-id'],
        'x-request-id',
      ].sort(),
    );
    expect(answer.headers['access-control-allow-origin']).toBe('*');
    await own.replica.stop();
  });
});

describe('garbage', () => {
  const good = 'GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n';

  it.each([
    ['no HTTP at all', '\x16\x03\x01\x02\x00\x01\x00', 400],
    ['no host', 'GET / HTTP/1.1\r\n\r\n', 400],
    ['a target that is not a path', 'GET nonsense HTTP/1.1\r\nHost: localhost\r\n\r\n', 400],
    ['a header that is not ASCII', 'GET / HTTP/1.1\r\nHost: localhost\r\nX: \xe9\r\n\r\n', 400],
    [
      'two different lengths',
      `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n`,
      400,
    ],
    ['endless headers', `GET / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(70_000)}\r\n\r\n`, 431],
    ['a bad chunk', 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n', 0],
    ['half a request', 'GET / HT', 0],
    ['an unknown host', 'GET / HTTP/1.1\r\nHost: example.org\r\n\r\n', 400],
    ['CONNECT', 'CONNECT example.org:80 HTTP/1.1\r\nHost: example.org\r\n\r\n', 0],
  ])(
    'such as %s is answered or disconnected, and the server continues',
    async (_, bytes, status) => {
      const answer = await exchange(bytes, status === 0 ? 300 : undefined);
      expect(Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1] ?? 0)).toBe(status);
      expect(await exchange(good)).toMatch(/^HTTP\/1\.1 200 /);
    },
  );

  it('in the path reaches the verifier unchanged', async () => {
    await site.addRule({ method: 'query', pattern: '', reply: encodeAnswer({ body: text('x') }) });
    for (const path of ['/%', '/%ff%fe', '//../..', `/${'a/'.repeat(900)}`, '/?%%%=&&&']) {
      const received = await site.send({ path });
      expect(outcomeOf(received).outcome).toBe('503 backend_response_verification');
    }
  });

  it('may be an absolute target', async () => {
    const principal = Principal.fromText(site.canisterId).toText();
    await site.addRule({
      method: 'query',
      pattern: '/abs?x',
      reply: encodeAnswer({ status: 204 }),
    });
    const target = `http://${principal}.raw.localhost:1/abs?x`;
    expect(await exchange(`GET ${target} HTTP/1.1\r\nHost: a\r\n\r\n`)).toMatch(/^HTTP\/1\.1 204 /);
  });
});
