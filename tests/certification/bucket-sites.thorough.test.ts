// Addresses of a site on the real Wasm, checked by the official verifier: an index of several
// parts, conditions, requests that are too large, pages that are too long, and many files at once.

import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { CanisterAnswer } from '../../packages/replica/src/gateway/candid-messages.ts';
import {
  type CertifiedCanister,
  openCertifiedCanister,
} from '../support/certification/certified-canister.ts';
import { onlyOnOurReplica } from '../support/network/elsewhere.ts';
import { ownReplica } from '../support/network/test-network.ts';
import { sampleBytes } from '../support/service.ts';

let canister: CertifiedCanister;
const million = 1_000_000;
const html = [['content-type', 'text/html']] as const;

beforeAll(async () => {
  canister = await openCertifiedCanister();
  await canister.setSite('demo', true);
  await settled('/cloud/demo/', 404);
});

afterAll(() => canister?.stop());

const textOf = ({ body }: CanisterAnswer) => Buffer.from(body).toString();
const field = ({ headers }: CanisterAnswer, sought: string) =>
  headers.find(([name]) => name.toLowerCase() === sought)?.[1];

/** Waits until timers have changed the status to that value. */
async function settled(url: string, status: number): Promise<CanisterAnswer> {
  for (let turn = 0; turn < 200; turn++) {
    await setTimeout(5);
    const answer = await canister.accepted({ url });
    if (answer.status === status) return answer;
  }
  return expect.fail(`${url} has never had the status ${status}`);
}

test('CertifiedSite: the index of a folder answers both addresses, also with conditions and HEAD', async () => {
  await canister.put('docs/index.html', Buffer.from('<p>docs'), html);
  const url = '/cloud/demo/docs/';
  const [own, answer] = [
    await canister.accepted({ url: `${url}index.html` }),
    await canister.accepted({ url }),
  ];
  const shown = ({ status, headers, body }: CanisterAnswer) => {
    return { status, headers: headers.filter(([name]) => name !== 'IC-Certificate'), body };
  };
  expect(shown(answer)).toEqual(shown(own));
  const tag = field(answer, 'etag') ?? expect.fail('no tag');
  const again = await canister.accepted({ url, headers: [['if-none-match', tag]] });
  expect(again.status).toBe(304);
  expect(field(again, 'content-security-policy')).toContain('allow-scripts');
  const head = await canister.accepted({ method: 'HEAD', url });
  expect(field(head, 'content-length')).toBe('7');
  expect((await canister.accepted({ url: '/cloud/demo/docs?x=1' })).status).toBe(308);
  expect((await canister.accepted({ method: 'HEAD', url: '/cloud/demo/docs' })).status).toBe(308);
});

test('CertifiedSite: an index of several parts is served part by part', async () => {
  const parts = [sampleBytes('one', 65_536), sampleBytes('two', 5)];
  await canister.putParts('large/index.html', parts);
  const url = '/cloud/demo/large/';
  const first = await canister.accepted({ url });
  expect(first.status).toBe(206);
  expect(Buffer.from(first.body)).toEqual(Buffer.from(parts[0] ?? []));
  const rest = await canister.accepted({ url, headers: [['Range', 'bytes=65536-']] });
  expect(Buffer.from(rest.body)).toEqual(Buffer.from(parts[1] ?? []));
  await canister.remove('large/index.html');
  expect((await canister.accepted({ url })).status).toBe(404);
  expect((await canister.accepted({ url: '/cloud/demo/large' })).status).toBe(404);
});

test('404.html is the certified answer for any missing path, if it is short enough', async () => {
  await canister.put('404.html', Buffer.from('<p>lost'), html);
  const missing = ['x', 'docs/x', 'docs/x/', 'a//b', 'x//', '%3C*%3E'];
  for (const path of missing) {
    const url = `/cloud/demo/${path}`;
    const answer = await canister.ask({ url });
    if (answer.isUpgrade) continue;
    expect(`${path}: ${textOf(await canister.accepted({ url }))}`).toBe(`${path}: <p>lost`);
  }
  const url = '/cloud/demo/x';
  const lost = await canister.accepted({ url });
  expect(lost.status).toBe(404);
  expect(field(lost, 'cache-control')).toBe('private, no-store');
  expect(field(lost, 'content-type')).toBe('text/html');
  expect(field(lost, 'content-security-policy')).toContain('allow-scripts');
  expect(field(lost, 'etag')).toBeUndefined();
  // Too large to be repeated as an update
  const large = { method: 'POST', url, body: new Uint8Array(5_000) };
  expect(textOf(await canister.accepted(large))).toBe('<p>lost');
  expect((await canister.accepted({ method: 'OPTIONS', url })).status).toBe(204);
  expect(textOf(await canister.accepted({ url, headers: [['range', 'bytes=0-']] }))).toBe(
    '<p>lost',
  );

  for (const address of ['/cloud//demo/x', '//cloud/demo/x', '/%63loud/demo/x', '/cloud/demo']) {
    const answer = await canister.ask({ url: address });
    if (!answer.isUpgrade) expect((await canister.accepted({ url: address })).status).toBe(404);
  }
  await canister.put('404.html', new Uint8Array(65_537).fill(65), html);
  expect(textOf(await canister.accepted({ url }))).toContain('NoSuchFile');
  await canister.put('404.html', new Uint8Array(65_536).fill(65), html);
  expect(textOf(await canister.accepted({ url })).length).toBe(65_536);
  await canister.put('404.html', new Uint8Array(0), html);
  expect(textOf(await canister.accepted({ url }))).toBe('');
  await canister.remove('404.html');
  expect(textOf(await canister.accepted({ url }))).toContain('NoSuchFile');
});

test('CertifiedSite: a public bucket that is not a site serves no folders', async () => {
  await canister.createBucket('plain');
  for (const path of ['', '/', '/a', '/a/']) {
    expect((await canister.accepted({ url: `/cloud/plain${path}` })).status).toBe(404);
  }
});

test('CertifiedSite: hundreds of files are certified again in steps of under 300 M instructions', async (context) => {
  onlyOnOurReplica('its meter')(context);
  for (let index = 0; index < 120; index++) {
    await canister.put(`many/${index}.html`, Buffer.from(`<p>${index}`), html);
  }
  await canister.put('zz/index.html', Buffer.from('<p>last'), html);
  const first = ownReplica(canister).reports.length;
  await canister.setSite('demo', false);
  for (let index = 0; index < 120; index += 7) {
    await canister.accepted({ url: `/cloud/demo/many/${index}.html` });
  }
  await settled('/cloud/demo/zz/', 404);
  await canister.upgrade();
  for (let index = 0; index < 120; index++) {
    const answer = await canister.accepted({ url: `/cloud/demo/many/${index}.html` });
    expect(field(answer, 'content-security-policy')).toBe('sandbox');
  }
  await canister.setSite('demo', true);
  expect(textOf(await settled('/cloud/demo/zz/', 200))).toBe('<p>last');
  const reports = ownReplica(canister).reports.slice(first);
  const steps = reports.filter(({ kind }) => kind === 'update' || kind === 'timer');
  for (const { instructions } of steps) expect(Number(instructions)).toBeLessThan(300 * million);
  expect(reports.filter(({ error }) => error !== undefined)).toEqual([]);
});
