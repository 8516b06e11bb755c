// Rules of a site's `_redirects` on the real Wasm, checked by the official verifier.

import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  type CanisterAnswer,
  decodeAnswer,
  encodeUpdateRequest,
} from '../../packages/replica/src/gateway/candid-messages.ts';
import { whole } from '../support/certification/asked-canister.ts';
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

beforeAll(async () => {
  canister = await openCertifiedCanister();
  await canister.setSite('demo', true);
  for (const path of ['index.html', 'new.html', 'gone.html', '404.html', 'app/index.html']) {
    await canister.put(path, Buffer.from(`<p>${path}`), html);
  }
});

afterAll(() => canister?.stop());

const textOf = ({ body }: CanisterAnswer) => Buffer.from(body).toString();
const field = ({ headers }: CanisterAnswer, sought: string) =>
  headers.find(([name]) => name.toLowerCase() === sought)?.[1];
const rules = (...lines: readonly string[]) =>
  canister.put('_redirects', Buffer.from(lines.join('\n')));

/** Returns status and location or text of the certified answer. */
async function certified(path: string, more: Partial<AskedRequest> = {}): Promise<string> {
  const answer = await canister.accepted({ url: `/cloud/demo${path}`, ...more });
  return `${answer.status} ${field(answer, 'location') ?? textOf(answer)}`;
}

/** Returns the same of the answer by an update; fails unless the query asks for one. */
async function computed(path: string): Promise<string> {
  const request = { url: `/cloud/demo${path}` };
  expect(await canister.ask(request)).toMatchObject({ isUpgrade: true });
  const argument = encodeUpdateRequest(whole(request));
  const { network, canisterId } = canister;
  const answer = decodeAnswer(await network.call(canisterId, 'http_request_update', argument));
  return `${answer.status} ${field(answer, 'location') ?? textOf(answer)}`;
}

test('_redirects: exact rules answer both forms of the address', async () => {
  await rules(
    '# moved',
    '/old /new 302',
    '/there https://new.example/x?y#z',
    '/lost /gone.html 410',
  );
  expect(await certified('/old')).toBe('302 /cloud/demo/new');
  expect(await certified('/old/')).toBe('302 /cloud/demo/new');
  expect(await certified('/old?a=b', { method: 'HEAD' })).toBe('302 /cloud/demo/new');
  expect(await certified('/there')).toBe('301 https://new.example/x?y#z');
  expect(await certified('/lost')).toBe('410 <p>gone.html');
  expect(await certified('/old/x')).toBe('404 <p>404.html');
  for (const path of ['/old', '/old/', '/lost', '/none']) {
    expect(await certified(path, { method: 'OPTIONS' })).toBe('204 ');
  }
});

/** Returns the instructions of the last query or update over HTTP, in millions. */
function lastCost(kind: 'query' | 'update'): number {
  const report = ownReplica(canister).reports.findLast((each) => each.kind === kind);
  return Number(report?.instructions ?? Number.NaN) / million;
}

/** Returns code and message with which a query refuses the upload. */
async function refusalOf(text: string): Promise<string> {
  const headers = [
    ['content-type', 'text/plain'],
    ['authorization', `Bearer ${canister.apiKey}`],
  ] as const;
  const url = '/api/v1/bucket/demo/files/_redirects';
  const answer = await canister.accepted({ method: 'PUT', url, headers, body: Buffer.from(text) });
  const { code, message } = JSON.parse(textOf(answer)).error;
  return `${code}: ${message}`;
}

const hundred = (line: (index: number) => string) =>
  rules(...Array.from({ length: 100 }, (_, index) => line(index)));

test('_redirects: a redirect takes 2 M instructions, among 100 rules', async (context) => {
  onlyOnOurReplica('its meter')(context);
  await hundred((index) => `/old/${index} /new 301`);
  expect(lastCost('update')).toBeLessThan(500);
  expect(await certified('/old/77')).toBe('301 /cloud/demo/new');
  // 2.0 M on average; collections of garbage differ
  expect(lastCost('query')).toBeLessThan(2.2);
  await hundred((index) => `/old/${index}/* /new 301`);
  expect(await certified('/old/77/x/y')).toBe('301 /cloud/demo/new');
  expect(lastCost('query')).toBeLessThan(2.6);
  await hundred((index) => `/old/${index} /new.html 200`);
  expect(lastCost('update')).toBeLessThan(600);
  await canister.put('new.html', Buffer.from('<p>newer'), html);
  expect(lastCost('update')).toBeLessThan(500);
  expect(await certified('/old/99/')).toBe('200 <p>newer');
  await canister.put('new.html', Buffer.from('<p>new.html'), html);
});

test('_redirects: an upload with a fault is refused with its line, and the former rules stay', async () => {
  await rules('/old /new 302');
  const long = '/a'.repeat(17);
  const faults: readonly (readonly [line: string, words: string])[] = [
    ['/x', '"from to status"'],
    ['/x?a=b /y', 'query'],
    ['/x /y 303', 'status "303" is not one of'],
    ['/x /y 301!', 'remove the "!"'],
    ['/x id=:id /y', 'is a condition, which is not supported'],
    ['/x /y 301 Country=de', 'condition'],
    ['/x //evil.example', 'begins with one "/"'],
    ['/x http://a.example', 'https://'],
    ['/x/* https://:splat', 'https://'],
    ['/x/* https://a.example:splat', 'https://'],
    ['/x /y/:splat', 'does not define'],
    ['/x/*/y /z', '"*"'],
    ['/x/:a-b /z', 'placeholder'],
    ['/x/../y /z', 'segment'],
    ['/x /../y', 'segment'],
    ['/x https://a.example/y 200', 'other sites are not fetched'],
    ['/x/* /:splat 200', 'fixed'],
    ['https://a.example/x /y', 'begins with "/"'],
    [`${long} /y`, 'too long'],
    ['/%ff /y', 'percent-encoding'],
  ];
  for (const [line, words] of faults) {
    const refused = await refusalOf(`# comment\n\n${line}`);
    expect(refused, line).toContain('InvalidArgument: The file _redirects has a fault in line 3');
    expect(refused, line).toContain(words);
  }
  const lines = Array.from({ length: 101 }, (_, index) => `/a${index} /b`);
  expect(await refusalOf(lines.join('\n'))).toContain('has 101 rules; at most 100');
  expect(await refusalOf('#'.repeat(32_769))).toContain('32768 bytes');
  expect(await refusalOf('\n'.repeat(1_001))).toContain('1000 lines');
  const { message } = (await canister.putParts('_redirects', [Buffer.from('/x')]).catch((error) => {
    return error as Error;
  })) ?? { message: 'stored' };
  expect(message).toContain('does not accept');
  expect(await certified('/old')).toBe('302 /cloud/demo/new');
});

test('_redirects: lines with faults have no effect where no upload could be refused', async () => {
  await canister.put('draft', Buffer.from('/x\n/moved /new 302'));
  await canister.move('draft', '_redirects');
  expect(await certified('/moved')).toBe('302 /cloud/demo/new');
  expect(await certified('/x')).toBe('404 <p>404.html');
  await canister.showBucket('demo', false);
  await canister.put('_redirects', Buffer.from('/hidden /new 302'));
  await canister.showBucket('demo', true);
  expect(await certified('/hidden')).toBe('302 /cloud/demo/new');
  await canister.upgrade();
  expect(await certified('/hidden')).toBe('302 /cloud/demo/new');
});

test('_redirects: a node cannot prove another answer than that of the rule', async () => {
  await rules('/docs/* /new 302', '/old/* https://new.example/:splat');
  const asked = { url: '/cloud/demo/docs/x' };
  const honest = await canister.accepted(asked);
  const verdict = (request: AskedRequest, answer: CanisterAnswer) =>
    verdictOn(request, answer, canister.context()).refusal;
  const elsewhere = honest.headers.map(([name, value]) =>
    name === 'Location' ? ([name, '/evil'] as const) : ([name, value] as const),
  );
  expect(verdict(asked, { ...honest, headers: elsewhere })).toBeDefined();
  expect(verdict(asked, { ...honest, status: 301 })).toBeDefined();
  // The 404 page, the redirect or a file at an address below another rule
  const missing = await canister.accepted({ url: '/cloud/demo/none' });
  const preflight = await canister.accepted({ method: 'OPTIONS', url: '/cloud/demo/old/x' });
  for (const lie of [missing, honest, preflight]) {
    expect(verdict({ url: '/cloud/demo/old/x' }, lie)).toBeDefined();
  }
  expect(verdict(asked, missing)).toBeDefined();
  expect(verdict({ url: '/cloud/demo/none' }, honest)).toBeDefined();
});

test('_redirects: wildcards, rewrites and a fallback for all missing paths', async () => {
  await rules('/docs/* /new 301', '/app/* /app/index.html 200', '/* /index.html 200');
  expect(await certified('/docs')).toBe('301 /cloud/demo/new');
  expect(await certified('/docs/a/b')).toBe('301 /cloud/demo/new');
  expect(await certified('/app/x')).toBe('200 <p>app/index.html');
  expect(await certified('/x/y/')).toBe('200 <p>index.html');
  expect(await certified('/new')).toBe('200 <p>new.html');
  await canister.put('index.html', Buffer.from('<p>second'), html);
  const answer = await canister.accepted({ url: '/cloud/demo/x' });
  expect(textOf(answer)).toBe('<p>second');
  const headers = [['if-none-match', field(answer, 'etag') ?? '']] as const;
  expect(await certified('/x', { headers })).toBe('304 ');
  expect(await certified('/x', { method: 'HEAD' })).toBe('200 ');
  for (const path of ['/x', '/docs/y', '/app', '/app/z']) {
    expect(await certified(path, { method: 'OPTIONS' })).toBe('204 ');
  }
  await canister.remove('index.html');
  expect(await certified('/x')).toBe('404 <p>404.html');
  await canister.put('index.html', Buffer.from('<p>index.html'), html);
});

test('_redirects: updates answer where the target depends on the path', async () => {
  await rules('/blog/:year/:slug /news/:slug?y=:year', '/old/* https://new.example/:splat 302');
  expect(await computed('/blog/2020/a%20b')).toBe('301 /cloud/demo/news/a%20b?y=2020');
  expect(await computed('/blog/x')).toBe('404 <p>404.html');
  expect(await computed('/old//evil.example/%5C')).toBe('302 https://new.example/evil.example/%5C');
  expect(await computed('/old/a%2F..%2Fb')).toBe('404 <p>404.html');
  expect(await certified('/else')).toBe('404 <p>404.html');
  expect(await certified('/old/x', { method: 'OPTIONS' })).toBe('204 ');
  await rules('/* https://new.example/:splat');
  expect(await computed('/x/y')).toBe('301 https://new.example/x/y');
  expect(await certified('/')).toBe('200 <p>index.html');
  await canister.remove('_redirects');
  expect(await certified('/x/y')).toBe('404 <p>404.html');
});
