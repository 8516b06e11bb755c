// Requests of strangers through the verifying gateway: a request without a valid key for its bucket
// causes an update only within a budget, and one that needs no update causes none. No gateway shows
// the text of a trap. Only our own replica reports the messages that a canister runs, so elsewhere
// the number of updates is not compared.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { longUrls, oddPaths, unprovablePaths } from '../support/hostile-paths.ts';
import { onlyOnOurReplica, reported } from '../support/network/elsewhere.ts';
import { changeOf, keyFor, type Person, personOf } from '../support/people.ts';
import { exchangeWith, type RawAnswer } from '../support/raw-exchange.ts';
import { instructionsMax } from '../support/refusal-checks.ts';
import { openService, type Service, sampleBytes } from '../support/service.ts';

let service: Service;
let owner: Person;
let demoKey: string;
let siteKey: string;
let linkUrl: string;
const small = sampleBytes('small', 5_000);
const unlimited = { burst: 1_000n, perMinute: 0n };
const spent = { burst: 0n, perMinute: 0n };

beforeAll(async () => {
  service = await openService();
  owner = personOf(service, 'owner');
  demoKey = service.apiKey;
  const nothing = { quotaBytes: [], quotaFiles: [], keepVersionsDays: [], endToEnd: [] };
  await owner.get('createBucket', 'site', [{ ...nothing, isPublic: [true], isSite: [true] }]);
  siteKey = (await owner.get<{ secret: string }>('createApiKey', keyFor(['site']))).secret;
  await put('site', '404.html', Buffer.alloc(65_536, 'x'), siteKey);
  await put('demo', 'small', small, demoKey);
  await put('site', 'small', small, siteKey);
  await owner.get('updateBucket', changeOf('demo', { isPublic: [true] }));
  const body = JSON.stringify({ path: 'small' });
  const made = await send('POST', '/api/v1/bucket/demo/links', bearer(demoKey), body);
  linkUrl = JSON.parse(made.body.toString()).url;
});

beforeEach(() => setBudgets({}));

afterAll(() => service?.stop());

const bearer = (key: string) => ({ Authorization: `Bearer ${key}` });

function send(
  method: string,
  path: string,
  headers: Record<string, string> = {},
  body: Uint8Array | string = '',
): Promise<RawAnswer> {
  const host = `${service.canisterId}.localhost`;
  return exchangeWith(service.base, host, { method, path, headers, body });
}

async function put(bucket: string, path: string, bytes: Uint8Array, key: string): Promise<void> {
  const headers = { ...bearer(key), 'Content-Type': 'text/html' };
  const { status } = await send('PUT', `/api/v1/bucket/${bucket}/files/${path}`, headers, bytes);
  expect(status).toBe(201);
}

type Sizes = typeof unlimited;

function setBudgets(sizes: Readonly<Partial<Record<string, Sizes>>>): Promise<unknown> {
  const budgets = { anonymousUpdates: unlimited, linkUpdates: unlimited, refusals: unlimited };
  const change = Object.entries({ ...budgets, ...sizes }).map(([name, size]) => [name, [size]]);
  return owner.get('updateAccess', { allow: [], disallow: [], ...Object.fromEntries(change) });
}

/** Returns the answer, and the messages that the canister ran for it as far as they are known. */
async function measured(...sent: Parameters<typeof send>) {
  const first = service.replica?.reports.length;
  const answer = await send(...sent);
  const reports = (service.replica?.reports ?? []).slice(first).filter(({ canisterId }) => {
    return canisterId === service.canisterId;
  });
  // A volume also calls its front, by itself.
  const updates = reports.filter(({ kind, method }) => {
    return kind === 'update' && method.startsWith('http');
  });
  return { ...answer, reports, updates: reported(updates.length) };
}

describe('an unreadable URL', () => {
  beforeEach(onlyOnOurReplica('it reports the messages that a canister runs'));

  const paths = [
    '/api/%zz',
    '/api/%00',
    '/api/v1/bucket/x/files/%C3%28',
    '/%zz',
    '/%00',
    '/cloud/demo/%zz',
    '/cloud/site/%zz',
    '/cloud/private/%zz',
    '/s/AAAAAAAAAAAAAAAA/%zz',
  ];

  test.each(paths)('%s causes no update', async (path) => {
    const long = bearer('A'.repeat(8_800));
    const sent: [method: string, headers: Record<string, string>][] = [
      ['GET', {}],
      ['GET', long],
      ['PUT', bearer(demoKey)],
      ['POST', long],
    ];
    // Bytes that are not UTF-8 have no proof, see the test of OPTIONS below
    if (!unprovablePaths.includes(path)) sent.push(['OPTIONS', {}]);
    for (const [method, headers] of sent) {
      const { updates, reports, body } = await measured(method, path, headers);
      expect(updates, method).toBe(0);
      expect(body.toString()).not.toContain('ic0.trap');
      for (const { kind, instructions } of reports) {
        expect(Number(instructions), kind).toBeLessThan(instructionsMax);
      }
    }
  });
});

/** Sends a preflight. An answer of the gateway itself would not allow `Prefer`. */
async function preflight(path: string) {
  const asked = { Origin: 'https://example.org', 'Access-Control-Request-Method': 'PUT' };
  const answer = await measured('OPTIONS', path, asked);
  const allowed = answer.headers['access-control-allow-headers'] ?? '';
  return [
    answer.status,
    answer.body.length,
    /authorization.*prefer/i.test(allowed),
    answer.updates,
  ];
}

describe('OPTIONS', () => {
  // Node's server takes heads of 64 KiB, and the gateway verifies paths of 1,000 segments
  const isTaken = (url: string) => url.length <= 64_000 && url.split('/').length <= 1_000;
  const urls = [...oddPaths, ...Object.values(longUrls)];
  const paths = urls.filter((url) => url.startsWith('/') && isTaken(url));

  test.each(['full', 'spent'])('is answered at each path with %s budgets', async (kind) => {
    if (kind === 'spent') {
      await setBudgets({ anonymousUpdates: spent, linkUpdates: spent, refusals: spent });
    }
    const folder = linkUrl.split('/').slice(0, 3).join('/');
    for (const path of [...paths, linkUrl, folder, `${folder}/other`]) {
      const shown = path.slice(0, 80);
      expect([shown, ...(await preflight(path))]).toEqual([shown, 204, 0, true, 0]);
    }
  });

  test.each(unprovablePaths)(
    'at %s, which no certified answer covers, takes an update from the budget of refusals',
    async (path) => {
      expect(await preflight(path)).toEqual([204, 0, true, 1]);
    },
  );
});

describe('a request that cannot succeed', () => {
  test.each([
    ['GET', '/api/%zz', 400],
    ['GET', '/%zz', 404],
    ['GET', '/cloud/demo/%zz', 404],
    ['GET', '/cloud/site/%zz', 404],
    ['OPTIONS', '/%zz', 204],
    ['OPTIONS', '/cloud/demo/%zz', 204],
    ['GET', '/s/AAAAAAAAAAAAAAAA/none?k=AAAAAAAAAAAAAAAAAAAAAA', 404],
  ])('%s %s is answered %i by the query', async (method, path, status) => {
    const answer = await measured(method, path);
    expect([answer.status, answer.updates]).toEqual([status, 0]);
  });

  test('a browser that opens an unknown link is answered 404 by the query', async () => {
    const path = '/s/AAAAAAAAAAAAAAAA/none?k=AAAAAAAAAAAAAAAAAAAAAA';
    const answer = await measured('GET', path, { 'Sec-Fetch-Dest': 'document' });
    expect([answer.status, answer.updates]).toEqual([404, 0]);
  });
});

describe('while the budget of requests without a key is empty', () => {
  const range = { Range: 'bytes=10-19' };

  beforeEach(() => setBudgets({ anonymousUpdates: spent }));

  test('GET of a range of a small file gets the certified whole file', async () => {
    const answer = await measured('GET', '/cloud/demo/small', range);
    expect([answer.status, answer.updates]).toEqual([200, 0]);
    expect(answer.body.equals(small)).toBe(true);
  });

  test('GET of a range with a valid key for the bucket gets the range', async () => {
    const answer = await send('GET', '/cloud/demo/small', { ...range, ...bearer(demoKey) });
    expect([answer.status, answer.body.length]).toEqual([206, 10]);
  });

  test("GET of a range with another bucket's key gets no update", async () => {
    const answer = await measured('GET', '/cloud/demo/small', { ...range, ...bearer(siteKey) });
    expect([answer.status, answer.updates]).toEqual([200, 0]);
  });

  test('GET of a range by a link gets the range, paid for by the budget of links', async () => {
    const answer = await send('GET', linkUrl, range);
    expect([answer.status, answer.body.length]).toEqual([206, 10]);
  });

  test('GET that only an update can answer gets 429, paid for by the budget of refusals', async () => {
    const failing = { 'If-Match': '"other"' };
    const { status, headers } = await send('GET', '/cloud/demo/small', failing);
    expect([status, headers['retry-after']]).toEqual([429, '10']);
    await setBudgets({ anonymousUpdates: spent, refusals: spent });
    const answer = await measured('GET', '/cloud/demo/small', failing);
    expect(answer.updates).toEqual(0);
    expect(answer.body.toString()).not.toContain('ic0.trap');
  });
});

test('the budget of links is unaffected by requests that empty the other budgets', async () => {
  await setBudgets({ anonymousUpdates: { burst: 3n, perMinute: 0n }, refusals: spent });
  for (let count = 0; count < 6; count++) {
    await send('GET', '/cloud/demo/small', { Range: 'bytes=1-2' });
    await send('GET', '/s/AAAAAAAAAAAAAAAA/none?k=A', { 'Sec-Fetch-Dest': 'document' });
    await send('GET', linkUrl.replace(/k=.*/, 'k=wrong'), { Range: 'bytes=1-2' });
  }
  const answer = await send('GET', linkUrl, { Range: 'bytes=10-19' });
  expect([answer.status, answer.body.length]).toEqual([206, 10]);
});
