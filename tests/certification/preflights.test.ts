// OPTIONS at a volume, with and without a front: for every path, host and budget, gateways verify
// and pass on the query's answer. Otherwise a gateway would answer every OPTIONS itself for a day,
// and then allow no page to send a key.

import { IDL } from '@dfinity/candid';
import { Principal } from '@dfinity/principal';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type CertifiedCanister,
  openCertifiedCanister,
} from '../support/certification/certified-canister.ts';
import type { AskedRequest } from '../support/certification/verdict.ts';
import { longUrls, oddPaths, unprovablePaths } from '../support/hostile-paths.ts';
import { instructionsMax } from '../support/refusal-checks.ts';

let volume: CertifiedCanister;
const links: Record<string, string> = {};
const front = Principal.fromText('ryjl3-tyaaa-aaaaa-aaaba-cai');

async function createLink(path: string, more: object = {}): Promise<string> {
  const made = await volume.change({
    method: 'POST',
    url: '/api/v1/bucket/demo/links',
    body: Buffer.from(JSON.stringify({ path, ...more })),
  });
  return JSON.parse(Buffer.from(made.body).toString()).url;
}

beforeAll(async () => {
  volume = await openCertifiedCanister();
  await volume.put('small', Buffer.from('hello'));
  await volume.put('empty', Buffer.alloc(0));
  const age = Buffer.from('age-encryption.org/v1\n-> X25519 abc\n');
  await volume.put('letter', age, [['content-type', 'application/age']]);
  const part = Buffer.alloc(65_536, 'x');
  await volume.putParts('large', [part, part, Buffer.from('y')]);
  for (const path of ['small', 'empty', 'letter', 'large']) links[path] = await createLink(path);
  links.named = await createLink('small', { downloadName: 'Ä {?}.txt' });
  await volume.showBucket('demo', false);
  await volume.createBucket('open');
});

afterAll(() => volume?.stop());

const pathOf = (url: string) => url.split('?', 1)[0] ?? '';

/**
 * The official verifier takes minutes for thousands of segments, so it does not check such answers.
 */
function answerOf(request: AskedRequest) {
  return request.url.split('/').length > 2_000 ? volume.ask(request) : volume.accepted(request);
}

/** Expects the answer to OPTIONS that browsers and gateways require. */
async function preflight(request: AskedRequest): Promise<void> {
  const asked = { ...request, method: 'OPTIONS' };
  const first = volume.replica?.reports.length;
  const { status, headers, body } = await answerOf(asked);
  const shown = asked.url.slice(0, 60);
  expect([shown, status, body.length]).toEqual([shown, 204, 0]);
  const allowed = headers.find(([name]) => name === 'Access-Control-Allow-Headers')?.[1];
  expect(allowed, shown).toMatch(/Authorization, .*Prefer/);
  if (volume.replica === undefined) return;
  const [report] = volume.replica.reports.slice(first);
  expect(Number(report?.instructions), shown).toBeLessThan(instructionsMax);
}

describe.each(['without a front', 'with a front'])(
  'http_request: OPTIONS at a volume %s',
  (kind) => {
    beforeAll(async () => {
      const Setting = IDL.Record({ front: IDL.Principal, url: IDL.Opt(IDL.Text) });
      const value = kind === 'with a front' ? [{ front, url: [] }] : [];
      await volume.call('setFront', [IDL.Opt(Setting)], [value]);
    });

    test.each(oddPaths)('%s', (url) => preflight({ url }));

    // No gateway accepts a longer URL
    const long = Object.entries(longUrls).filter(([, url]) => url.length < 65_535);
    test.each(long)('%s', (_, url) => preflight({ url }));

    test.each(unprovablePaths)(
      '%s: an update answers, because no verifier can parse it',
      async (url) => {
        expect((await volume.ask({ method: 'OPTIONS', url })).isUpgrade).toBe(true);
      },
    );

    test.each(['small', 'empty', 'letter', 'large', 'named'])('the link of %s', async (name) => {
      const url = links[name] ?? '';
      await preflight({ url });
      const folder = pathOf(url).split('/').slice(0, 3).join('/');
      for (const below of [
        '',
        '/',
        '/other',
        '/%3C*%3E',
        '/%3C*%3E/x',
        '/%3C$%3E',
        '/%zz',
        '/a/b/',
        '//a',
      ]) {
        await preflight({ url: folder + below });
      }
      await preflight({ url: `/${url}` });
    });
  },
);

test('http_request: OPTIONS in a site, for folders and for paths that 404.html answers', async () => {
  const html = [['content-type', 'text/html']] as const;
  await volume.showBucket('demo', true);
  await volume.setSite('demo', true);
  await volume.put('docs/index.html', Buffer.from('<p>docs'), html);
  await volume.put('404.html', Buffer.from('<p>lost'), html);
  for (const path of [
    '',
    '/',
    '/%zz',
    '/docs',
    '/docs/',
    '//docs',
    '/none',
    '/small',
    '/docs/%3C*%3E',
  ]) {
    await preflight({ url: `/cloud/demo${path}` });
  }
});

const spent = IDL.Opt(IDL.Record({ burst: IDL.Nat, perMinute: IDL.Nat }));

test('http_request: OPTIONS with empty budgets, at any host, with long headers and a key', async () => {
  const fields = { anonymousUpdates: spent, linkUpdates: spent, refusals: spent };
  const none = [{ burst: 0n, perMinute: 0n }];
  const lists = { allow: IDL.Vec(IDL.Principal), disallow: IDL.Vec(IDL.Principal) };
  const change = {
    allow: [],
    disallow: [],
    anonymousUpdates: none,
    linkUpdates: none,
    refusals: none,
  };
  await volume.call('updateAccess', [IDL.Record({ ...lists, ...fields })], [change]);
  const id = volume.canisterId;
  const hosts = [`${id}.raw.icp.net`, `${id}.icp.net`, 'raw', '%zz', ''];
  const heads = [
    ...hosts.map((host) => ['Host', host] as const),
    ['Authorization', `Bearer ${'A'.repeat(8_800)}`] as const,
    ['X', 'v'.repeat(60_000)] as const,
  ];
  const urls = [...oddPaths, ...Object.values(links)];
  for (const head of heads) {
    for (const url of urls) await preflight({ url, headers: [head] });
  }
  const many = Array.from({ length: 2_000 }, (_, index) => [`X-${index}`, 'v'] as const);
  await preflight({ url: '/cloud/open/x', headers: many });
  for (const url of unprovablePaths) {
    expect((await volume.ask({ method: 'OPTIONS', url })).isUpgrade).toBe(false);
  }
});
