// Header fields of a site's `_headers` on the real Wasm, checked by the official verifier.

import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { CanisterAnswer } from '../../packages/replica/src/gateway/candid-messages.ts';
import {
  type CertifiedCanister,
  openCertifiedCanister,
} from '../support/certification/certified-canister.ts';
import { type AskedRequest, verdictOn } from '../support/certification/verdict.ts';
import { onlyOnOurReplica } from '../support/network/elsewhere.ts';
import { ownReplica } from '../support/network/test-network.ts';

let canister: CertifiedCanister;
const million = 1_000_000;
const html = [['content-type', 'text/html']] as const;
const pages = Array.from({ length: 70 }, (_, index) => `p/${index}.html`);
const bigParts = [Buffer.alloc(65_536, 1), Buffer.from('end')];

beforeAll(async () => {
  canister = await openCertifiedCanister();
  await canister.setSite('demo', true);
  for (const path of ['index.html', 'about.html', '404.html', 'docs/index.html', ...pages]) {
    await canister.put(path, Buffer.from(`<p>${path}`), html);
  }
  await canister.put('data.json', Buffer.from('{}'), [['content-type', 'application/json']]);
  await canister.putParts('big', bigParts);
}, 120_000);

afterAll(() => canister?.stop());

const field = ({ headers }: CanisterAnswer, sought: string) =>
  headers.find(([name]) => name.toLowerCase() === sought)?.[1];
const store = (...lines: readonly string[]) =>
  canister.put('_headers', Buffer.from(lines.join('\n')));

/** Returns the field of the certified answer. */
async function served(path: string, name: string, more: Partial<AskedRequest> = {}) {
  return field(await canister.accepted({ url: `/cloud/demo${path}`, ...more }), name);
}

/** Waits until upkeep has renewed the file; every answer on the way is certified. */
async function settled(path: string, name: string, value: string | undefined): Promise<void> {
  for (let turn = 0; (await served(path, name)) !== value; turn++) {
    expect(turn).toBeLessThan(2_000);
    await setTimeout(5);
  }
}

test('_headers: fields belong to files at all their addresses, in all answers', async () => {
  await store('/*', '  X-Site: all', '/about', '  X-Page: about', '/docs/*', '  X-Page: docs');
  await settled('/p/9.html', 'x-site', 'all');
  await settled('/big', 'x-site', 'all');
  for (const path of ['/about', '/about.html']) expect(await served(path, 'x-page')).toBe('about');
  for (const path of ['/docs/', '/docs/index.html']) {
    expect(await served(path, 'x-page')).toBe('docs');
  }
  expect(await served('/', 'x-page')).toBeUndefined();
  expect(await served('/none', 'x-site')).toBe('all');
  expect(await served('/about', 'x-page', { method: 'HEAD' })).toBe('about');
  expect((await canister.accepted({ method: 'OPTIONS', url: '/cloud/demo/about' })).status).toBe(
    204,
  );
  const headers = [['if-none-match', (await served('/about', 'etag')) ?? '']] as const;
  const unchanged = await canister.accepted({ url: '/cloud/demo/about', headers });
  expect(unchanged.status).toBe(304);
  expect(field(unchanged, 'x-page')).toBe('about');
  const range = [['range', 'bytes=65536-']] as const;
  expect(await served('/big', 'x-site', { headers: range })).toBe('all');
});

test('_headers: a policy of the site is added to the sandbox', async () => {
  const policy = "default-src 'self', sandbox allow-same-origin allow-scripts";
  await store('/*', `  Content-Security-Policy: ${policy}`, '  Cache-Control: max-age=5');
  await settled('/about', 'cache-control', 'max-age=5');
  expect(await served('/about', 'content-security-policy')).toMatch(
    /^default-src 'self', sandbox allow-same-origin allow-scripts, sandbox allow-scripts [a-z -]+$/,
  );
  await settled('/data.json', 'content-security-policy', policy);
  const { headers } = await canister.accepted({ url: '/cloud/demo/about' });
  const names = headers.map(([name]) => name.toLowerCase());
  expect(new Set(names).size).toBe(names.length);
  const own = [...html, ['cache-control', 'no-store']] as const;
  await canister.put('own.txt', Buffer.from('x'), own);
  expect(await served('/own.txt', 'cache-control')).toBe('no-store');
});

test('_headers: a change renews all files, and every answer on the way is certified', async () => {
  await store('/*', '  X-Site: first');
  await settled('/p/9.html', 'x-site', 'first');
  await store('/*', '  X-Site: second');
  await canister.put('new.html', Buffer.from('<p>new'), html);
  expect(await served('/new.html', 'x-site')).toBe('second');
  await canister.upgrade();
  for (const path of pages) {
    expect(['first', 'second']).toContain(await served(`/${path}`, 'x-site'));
  }
  await settled('/p/9.html', 'x-site', 'second');
  await canister.upgrade();
  expect(await served('/p/9.html', 'x-site')).toBe('second');
  await canister.move('_headers', 'other');
  await settled('/p/9.html', 'x-site', undefined);
  await canister.move('other', '_headers');
  await settled('/p/9.html', 'x-site', 'second');
  await canister.setSite('demo', false);
  await settled('/p/9.html', 'x-site', undefined);
  expect(await served('/p/9.html', 'content-security-policy')).toBe('sandbox');
  await canister.setSite('demo', true);
  await settled('/p/9.html', 'x-site', 'second');
});

test('_headers: a node can neither change, add nor leave out a field', async () => {
  await store('/*', '  X-Frame-Options: DENY');
  await settled('/about', 'x-frame-options', 'DENY');
  const asked = { url: '/cloud/demo/about' };
  const honest = await canister.accepted(asked);
  const refusal = (headers: CanisterAnswer['headers']) =>
    verdictOn(asked, { ...honest, headers }, canister.context()).refusal;
  const isFrame = (name: string) => name === 'X-Frame-Options';
  const changed = honest.headers.map(([name, value]) =>
    isFrame(name) ? ([name, 'SAMEORIGIN'] as const) : ([name, value] as const),
  );
  expect(refusal(changed)).toBeDefined();
  expect(refusal(honest.headers.filter(([name]) => !isFrame(name)))).toBeDefined();
  expect(refusal([...honest.headers, ['X-Robots-Tag', 'noindex']])).toBeDefined();
  expect(refusal(honest.headers)).toBeUndefined();
});

test('_headers: an upload with a fault is refused with its line', async () => {
  const faults: readonly (readonly [line: string, words: string])[] = [
    ['  Set-Cookie: a=b', 'is not accepted. Accepted are Cache-Control'],
    ['  X-IC-Test: a', 'is not accepted'],
    ['  Content-Type: text/html', 'Set the type of a file itself'],
    ['  Access-Control-Allow-Origin: https://a.example', 'can only have the value "*"'],
    ['  X-A', 'is not "Name: value"'],
    ['  X-A: é', 'visible ASCII'],
    ['/:a/b', 'placeholder'],
    ['https://a.example/*', 'begins with "/"'],
    ['/*/b', '"*"'],
  ];
  for (const [line, words] of faults) {
    const headers = [
      ['content-type', 'text/plain'],
      ['authorization', `Bearer ${canister.apiKey}`],
    ] as const;
    const url = '/api/v1/bucket/demo/files/_headers';
    const body = Buffer.from(`# comment\n/*\n  X-Fine: 1\n${line}`);
    const answer = await canister.accepted({ method: 'PUT', url, headers, body });
    const { code, message } = JSON.parse(Buffer.from(answer.body).toString()).error;
    expect(code).toBe('InvalidArgument');
    expect(message).toContain('The file _headers has a fault in line 4: ');
    expect(message, line).toContain(words);
  }
});

/** Returns the instructions of the last query, in millions, on average. */
async function queryCost(path: string): Promise<number> {
  const count = 12;
  for (let turn = 0; turn < count; turn++) await canister.ask({ url: `/cloud/demo${path}` });
  const reports = ownReplica(canister)
    .reports.filter(({ kind }) => kind === 'query')
    .slice(-count);
  const sum = reports.reduce((total, { instructions }) => total + Number(instructions), 0);
  return sum / count / million;
}

test('_headers: fields add at most 1 M instructions to an answer', async (context) => {
  onlyOnOurReplica('its meter')(context);
  await canister.remove('_headers');
  await settled('/about', 'x-frame-options', undefined);
  const before = await queryCost('/about.html');
  await store('/*', '  X-A: 1', '  X-B: 2', '  Referrer-Policy: no-referrer', '  X-C: 3');
  await settled('/about', 'x-a', '1');
  const after = await queryCost('/about.html');
  // 3.3 M without fields
  expect(after - before).toBeLessThan(1);
});
