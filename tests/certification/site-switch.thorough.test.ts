// A switch of a site on the real Wasm: the official verifier accepts each address before and after.

import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  type CertifiedCanister,
  openCertifiedCanister,
} from '../support/certification/certified-canister.ts';

let canister: CertifiedCanister;
const html = [['content-type', 'text/html']] as const;

beforeAll(async () => {
  canister = await openCertifiedCanister();
  await canister.setSite('demo', true);
});
afterAll(() => canister?.stop());

async function put(prefix: string, site: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, text] of Object.entries(site)) {
    await canister.put(prefix + path, Buffer.from(text), path.includes('.') ? html : undefined);
  }
}

async function change(deletes: readonly string[]): Promise<void> {
  const body = Buffer.from(JSON.stringify({ fromPrefix: '.efs-deploy/', toPrefix: '', deletes }));
  await canister.change({ method: 'POST', url: '/api/v1/bucket/demo/switch', body });
}

/** Returns status, location or text, and the own field of the certified answer. */
async function certified(path: string): Promise<string> {
  const { status, headers, body } = await canister.accepted({ url: `/cloud/demo${path}` });
  const field = (sought: string) =>
    headers.find(([name]) => name.toLowerCase() === sought)?.[1] ?? '';
  return `${status} ${field('location') || Buffer.from(body)} ${field('x-site')}`.trim();
}

test('switchFiles(): each address of the former and of the new site is certified', async () => {
  const addresses = ['', '/', '/a', '/a/', '/b', '/b/', '/c', '/same', '/none', '/moved', '/gone'];
  const all = async () => Object.fromEntries(await Promise.all(addresses.map(answerAt)));
  const answerAt = async (path: string) => [path, await certified(path)] as const;
  const former = { 'index.html': '1', 'a/index.html': '1a', 'b.html': '1b', '404.html': '1x' };
  const rules = { _redirects: '/moved /b 302\n/gone /404.html 410', _headers: '/*\n  X-Site: 1' };
  await put('', { ...rules, ...former, same: 'same' });
  const before = await all();
  expect(before).toEqual({
    ...{ '': '308 ./demo/', '/': '200 1 1', '/a': '308 ./a/', '/a/': '200 1a 1' },
    ...{ '/b': '200 1b 1', '/b/': '404 1x 1', '/c': '404 1x 1', '/same': '200 same 1' },
    ...{ '/none': '404 1x 1', '/moved': '302 /cloud/demo/b', '/gone': '410 1x 1' },
  });
  const staged = { 'index.html': '2', 'a.html': '2a', 'b/index.html': '2b', '404.html': '2x' };
  const newRules = { _redirects: '/c /a 302\n/gone /a.html 200', _headers: '/*\n  X-Site: 2' };
  await put('.efs-deploy/', { ...staged, ...newRules });
  expect(await all()).toEqual(before);
  for (const path of ['/.efs-deploy/', '/.efs-deploy/a', '/.efs-deploy/b/']) {
    expect(await certified(path)).toBe('404 1x 1');
  }
  await change(['a/index.html', 'b.html']);
  expect(await all()).toEqual({
    ...{ '': '308 ./demo/', '/': '200 2 2', '/a': '200 2a 2', '/a/': '404 2x 2' },
    ...{ '/b': '308 ./b/', '/b/': '200 2b 2', '/c': '302 /cloud/demo/a', '/same': '200 same 2' },
    ...{ '/none': '404 2x 2', '/moved': '404 2x 2', '/gone': '200 2a 2' },
  });
  for (const path of Object.keys(staged)) {
    expect(await certified(`/.efs-deploy/${path}`)).toBe('404 2x 2');
  }
  await change(['index.html', '404.html', '_redirects', '_headers', 'a.html', 'b/index.html']);
  for (const path of addresses.filter((each) => each !== '/same')) {
    expect(await certified(path)).toMatch(/^404 .*[^2]$/s);
  }
  expect(await certified('/same')).toBe('200 same');
});
