// A front: every path at its address has a certified answer, and the official verifier refuses
// every forged answer of one node.

import { readFile } from 'node:fs/promises';
import { IDL } from '@dfinity/candid';
import { Principal } from '@dfinity/principal';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { encodeUpdateRequest } from '../../packages/replica/src/gateway/candid-messages.ts';
import { buildCanister } from '../../scripts/build.ts';
import { manage } from '../replica/conformance/management-client.ts';
import { type Exchange, expectRefusals } from '../support/certification/lies.ts';
import {
  type OpenedFront,
  openFront,
  roleArgument,
  unzippedText,
} from '../support/certification/opened-front.ts';
import { sendReport } from '../support/certification/public-reports.ts';
import type { AskedRequest, Field } from '../support/certification/verdict.ts';
import { installForwarderAt } from '../support/forwarder/forwarder.ts';
import { longUrls, oddPaths } from '../support/hostile-paths.ts';
import { KeyNetwork } from '../support/key-network.ts';
import { onlyOnOurReplica } from '../support/network/elsewhere.ts';
import { principalOf } from '../support/network/replica-network.ts';
import { ownReplica } from '../support/network/test-network.ts';
import { seedsOr } from '../support/seed.ts';

let front: OpenedFront;
let assets: string[];

beforeAll(async () => {
  front = await openFront();
  const page = await unzippedText(await front.accepted({ url: '/' }));
  assets = [...page.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(([, url = '']) => url);
  expect(assets.length).toBeGreaterThan(1);
});

afterAll(() => front?.stop());

const link = `/s/rrkah-fqaaa-aaaaa-aaaaq-cai/${'a'.repeat(16)}/report.pdf?k=${'b'.repeat(22)}`;
const nowhere = [
  '/api/v1/status',
  '/api/v1/bucket/demo/end-to-end',
  '/api/v1/bucket/demo/files/a',
  '/cloud/demo/a',
  '/x',
  '/b/demo/a',
  '/b/none',
  '/%zz',
  '/a%00b',
  '/assets/none.js',
  '/.well-known/none',
  '//api//v1',
];

describe('http_request: GET', () => {
  test('/ and its assets are the console, which registers no worker', async () => {
    for (const url of ['/', ...assets]) {
      const { status, headers } = await front.accepted({ url });
      expect([url, status]).toEqual([url, 200]);
      const policy = headers.find(([name]) => name === 'Content-Security-Policy')?.[1];
      expect(policy).toContain("worker-src 'none'");
    }
  });

  test('/s/… is the page that opens links, with and without a query', async () => {
    const page = await front.accepted({ url: '/' });
    for (const url of [
      link,
      '/s',
      '/s/',
      '/s/x',
      '//s//x',
      '/s/a/b/c/d/e',
      '/s/%C3%A4',
      '/s/%zz',
    ]) {
      const shown = await front.accepted({ url });
      expect(shown.status).toBe(200);
      expect(Buffer.compare(shown.body, page.body)).toBe(0);
    }
  });

  test('/.well-known/efs-service lists the volumes as they are added and removed', async () => {
    const shown = async () => {
      const { body } = await front.accepted({ url: '/.well-known/efs-service' });
      return JSON.parse(Buffer.from(body).toString());
    };
    const [one = '', two = ''] = ['rrkah-fqaaa-aaaaa-aaaaq-cai', 'ryjl3-tyaaa-aaaaa-aaaba-cai'];
    const canisterId = front.canisterId.toText();
    expect(await shown()).toEqual({ role: 'front', canisterId, volumes: [] });
    await front.call('addVolume', [IDL.Principal], [Principal.fromText(one)]);
    await front.call('addVolume', [IDL.Principal], [Principal.fromText(two)]);
    await front.call('removeVolume', [IDL.Principal], [Principal.fromText(one)]);
    const sizes = { stableBytes: 0, limitBytes: 429_496_729_600, reservedCycles: 0 };
    const volume = { canisterId: two, state: 'unknown', reportedAt: null, ...sizes };
    expect(await shown()).toEqual({ role: 'front', canisterId, volumes: [volume] });
    await front.upgrade();
    expect(await shown()).toEqual({ role: 'front', canisterId, volumes: [volume] });
  });

  test('/.well-known/ii-alternative-origins lists the other gateways, or the text that was set', async () => {
    const url = '/.well-known/ii-alternative-origins';
    const shown = async () => Buffer.from((await front.accepted({ url })).body).toString();
    const id = front.canisterId.toText();
    const alternativeOrigins = [`https://${id}.icp0.io`, `https://${id}.ic0.app`];
    expect(JSON.parse(await shown())).toEqual({ alternativeOrigins });
    const Content = IDL.Opt(IDL.Record({ body: IDL.Text }));
    const Change = IDL.Record({ name: IDL.Text, content: Content });
    // The domains of the front follow; other lines are left out
    const domains = ' files.example.org\r\n\n*.example.com\nhttps://x.example\n';
    const set = (body: string) =>
      front.call('setWellKnown', [Change], [{ name: 'ic-domains', content: [{ body }] }]);
    await set(domains);
    const own = [...alternativeOrigins, 'https://files.example.org'];
    expect(JSON.parse(await shown())).toEqual({ alternativeOrigins: own });
    await set(Array.from({ length: 20 }, (_, at) => `d${at}.example`).join('\n'));
    expect(JSON.parse(await shown()).alternativeOrigins).toHaveLength(10);
    await front.call('setWellKnown', [Change], [{ name: 'ic-domains', content: [] }]);
    const name = 'ii-alternative-origins';
    await front.call('setWellKnown', [Change], [{ name, content: [{ body: '{}' }] }]);
    expect(await shown()).toBe('{}');
    await front.upgrade();
    expect(await shown()).toBe('{}');
    await front.call('setWellKnown', [Change], [{ name, content: [] }]);
    expect(JSON.parse(await shown())).toEqual({ alternativeOrigins });
  });

  test('an address with empty segments gets the answer of the address without them', async () => {
    for (const url of ['//', `/${assets[0]}`, '//.well-known//efs-service']) {
      expect([url, (await front.accepted({ url })).status]).toEqual([url, 200]);
    }
  });

  test.each(nowhere)('%s gets the certified 404', async (url) => {
    for (const method of ['GET', 'HEAD', 'PUT', 'DELETE']) {
      const body = method === 'PUT' ? Buffer.from('x') : undefined;
      expect((await front.accepted({ method, url, ...(body && { body }) })).status).toBe(404);
    }
  });

  test('/ with a range or unusual conditions gets the whole page and no update', async () => {
    const fields: Field[] = [
      ['Range', 'bytes=1-3'],
      ['If-None-Match', '"x", "y"'],
      ['If-Match', '*'],
    ];
    for (const field of fields) {
      expect((await front.accepted({ url: '/', headers: [field] })).status).toBe(200);
    }
    const { headers } = await front.accepted({ url: '/' });
    const tag = headers.find(([name]) => name === 'ETag')?.[1] ?? '';
    expect((await front.accepted({ url: link, headers: [['If-None-Match', tag]] })).status).toBe(
      304,
    );
  });
});

test('http_request: OPTIONS gets a preflight answer at every path', async () => {
  const odd = [...oddPaths, longUrls['a URL of 15 kB'] ?? '', longUrls['a URL of 60 kB'] ?? ''];
  for (const url of ['/', link, ...assets, ...nowhere, ...odd]) {
    const { status, headers, body } = await front.accepted({ method: 'OPTIONS', url });
    expect([url.slice(0, 80), status, body.length]).toEqual([url.slice(0, 80), 204, 0]);
    expect(headers.map(([name]) => name)).toContain('Access-Control-Allow-Origin');
  }
});

describe('http_request: an update', () => {
  test('is never requested by an answer', async () => {
    const methods = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH'];
    for (const method of methods) {
      for (const url of ['/', link, ...nowhere]) {
        const answer = await front.ask({ method, url, headers: [['Range', 'bytes=5-']] });
        expect([method, url, answer.isUpgrade]).toEqual([method, url, false]);
      }
    }
  });

  test('over HTTP is refused before it costs anything', async () => {
    const sent = { method: 'GET', url: '/', headers: [], body: new Uint8Array(0) };
    const argument = encodeUpdateRequest(sent);
    await expect(
      front.network.call(`${front.canisterId}`, 'http_request_update', argument),
    ).rejects.toThrow('MethodNotAllowed: This canister is a front and stores no files');
  });
});

test.each(['rotateBucketKey', 'listBuckets'])(
  'http_request: %s is refused with a reason',
  async (name) => {
    const types = name === 'rotateBucketKey' ? [IDL.Text] : [];
    const argument = new Uint8Array(
      IDL.encode(
        types,
        types.map(() => 'demo'),
      ),
    );
    const { call, query } = front.network;
    const send = name === 'rotateBucketKey' ? call : query;
    const words = 'MethodNotAllowed: This canister is a front and stores no files';
    const reply = await send(`${front.canisterId}`, name, argument).catch(
      (error: unknown) => error,
    );
    expect(
      reply instanceof Error ? reply.message : Buffer.from(reply as Uint8Array).toString(),
    ).toContain(words);
  },
);

describe('http_request: the role of a canister', () => {
  test('cannot change', async (context) => {
    onlyOnOurReplica('an argument of an upgrade')(context);
    const { wasmPath } = await buildCanister({ force: false });
    const wasm = new Uint8Array(await readFile(wasmPath));
    const asked = roleArgument({ volume: { front: [] } });
    await expect(ownReplica(front).upgrade(front.canisterId, wasm, asked)).rejects.toThrow(
      'The argument names the role volume, but this canister is a front',
    );
  });
});

test('http_request: an idle front runs no timers and makes no calls', async () => {
  const network = new KeyNetwork();
  await network.install(roleArgument({ front: null }));
  // Azle fetches its seed once
  await network.wait(0);
  network.reports.length = 0;
  for (let day = 0; day < 3; day++) await network.wait(86_400);
  expect(network.reports).toEqual([]);
});

test('http_request: an idle front costs at most 0.1 T cycles a year', async (context) => {
  onlyOnOurReplica('canister_status')(context);
  const replica = ownReplica(front);
  const sender = principalOf(front.identityPem, 'owner');
  const asked = { canister_id: front.canisterId, sender };
  const { idle_cycles_burned_per_day: perDay } = await manage(replica, 'canister_status', asked);
  expect(perDay * 365n).toBeLessThanOrEqual(100_000_000_000n);
});

const forgeries = Number(process.env.EFS_FORGERIES ?? 1_000);

test.each(seedsOr(29))(
  `http_request: ${forgeries} forged answers are refused, seed %i`,
  async (seed) => {
    const forwarder = await installForwarderAt(front.network);
    await front.call('addVolume', [IDL.Principal], [forwarder.id]);
    await sendReport(forwarder, front.canisterId, { buckets: ['demo', 'other'] });
    const redirects = ['/b/demo', '/b/other'];
    const urls = [...nowhere, ...redirects, '/', link, ...assets];
    const requests: AskedRequest[] = urls.flatMap((url) => [{ url }, { method: 'OPTIONS', url }]);
    const volume = Principal.fromText('rdmx6-jaaaa-aaaaa-aaadq-cai');
    await front.call('removeVolume', [IDL.Principal], [volume]);
    const url = '/.well-known/efs-service';
    const outdated = { request: { url }, answer: await front.accepted({ url }) };
    await front.call('addVolume', [IDL.Principal], [volume]);
    const isFixed = (request: AskedRequest) =>
      request.method !== 'OPTIONS' && nowhere.includes(request.url);
    const isRight = (request: AskedRequest, answered: AskedRequest) => {
      const areNowhere = nowhere.includes(request.url) && nowhere.includes(answered.url);
      if (areNowhere && (isFixed(answered) || request.method === answered.method)) return true;
      // The redirect of a public bucket is certified for every method
      const isRedirect = redirects.includes(answered.url) && answered.method !== 'OPTIONS';
      return request.url === answered.url && (isRedirect || request.method === answered.method);
    };
    const { context } = front;
    const exchanges: Exchange[] = [];
    for (const request of requests) {
      exchanges.push({ request, answer: await front.accepted(request) });
    }
    const truth = { exchanges, outdated, isFixed, isRight };
    expectRefusals(truth, { seed, count: forgeries, context });
  },
);
