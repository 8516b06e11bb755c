// `/b/{bucket}` at a front, through the verifying gateway: it exists exactly while the bucket is
// public at a volume of the front. The clock stands still, and timers run when a test advances it.

import { readFile } from 'node:fs/promises';
import { IDL } from '@dfinity/candid';
import { Principal } from '@dfinity/principal';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { MessageReport } from '../../packages/replica/src/core.ts';
import {
  decodeAnswer,
  encodeQueryRequest,
} from '../../packages/replica/src/gateway/candid-messages.ts';
import type { Replica } from '../../packages/replica/src/replica.ts';
import { buildCanister } from '../../scripts/build.ts';
import { principalOf } from '../../scripts/local-service.ts';
import { manage } from '../replica/conformance/management-client.ts';
import { reportOf, sendReport } from '../support/certification/public-reports.ts';
import { type Forwarder, installForwarder } from '../support/forwarder/forwarder.ts';
import { exchangeWith } from '../support/raw-exchange.ts';
import { openService, type Service } from '../support/service.ts';

const nsPerSecond = 1_000_000_000n;
const Options = IDL.Opt(IDL.Record({ isPublic: IDL.Opt(IDL.Bool) }));
const Change = IDL.Record({ bucketId: IDL.Text, isPublic: IDL.Opt(IDL.Bool) });
const FrontSetting = IDL.Opt(IDL.Record({ front: IDL.Principal, url: IDL.Opt(IDL.Text) }));
const Outcome = IDL.Variant({ ok: IDL.Reserved, err: IDL.Text });

let nowNs = BigInt(Date.now()) * 1_000_000n;
let service: Service;
let replica: Replica;
let forwarder: Forwarder;
let owner: Principal;
let volume: Principal;
let front: Principal;
let frontHost: string;
/** The volume's origin at the gateway of the front. */
let origin: string;

beforeAll(async () => {
  service = await openService({
    hasFront: true,
    now: () => nowNs,
    onReport: (message) => messages.push(message),
  });
  replica = service.replica ?? expect.fail('no local replica');
  owner = principalOf(service.identityPem);
  volume = Principal.fromText(service.canisterId);
  frontHost = new URL(service.frontUrl ?? '').hostname;
  front = Principal.fromText(frontHost.split('.')[0] ?? '');
  origin = `http://${volume}.localhost:${replica.port}`;
  forwarder = await installForwarder(replica);
  await wait(0);
});
afterAll(() => service?.stop());

async function wait(seconds: number): Promise<void> {
  nowNs += BigInt(seconds) * nsPerSecond;
  await replica.tick();
}

/** Waits until a failed report is repeated, with the turns of upkeep in between. */
async function waitForRetry(): Promise<void> {
  for (let turn = 0; turn < 6; turn++) await wait(600);
}

/** Waits until the volume reports all its public buckets. */
async function waitForContact(): Promise<void> {
  await wait(86_400);
  await wait(pauseSeconds);
}

async function call(canisterId: Principal, method: string, types: IDL.Type[], values: unknown[]) {
  const argument = new Uint8Array(IDL.encode(types, values));
  const reply = await replica.call(canisterId, method, argument, { sender: owner });
  const [outcome] = IDL.decode([Outcome], reply) as unknown as [{ err?: string }];
  expect(outcome.err).toBeUndefined();
}

const createBucket = (id: string, isPublic: boolean) =>
  call(front, 'createBucket', [IDL.Text, Options], [id, [{ isPublic: [isPublic] }]]);
const showBucket = (id: string, isPublic: boolean) =>
  call(volume, 'updateBucket', [Change], [{ bucketId: id, isPublic: [isPublic] }]);
const listVolume = (method: 'addVolume' | 'removeVolume', id: Principal) =>
  call(front, method, [IDL.Principal], [id]);

/** Seconds after which a change is reported, also if another one was reported just before. */
const pauseSeconds = 6;

async function answerAt(path: string, method = 'GET') {
  const answer = await exchangeWith(service.host, frontHost, { method, path });
  const { status, headers, body } = answer;
  return { status, location: headers.location, bytes: body.length };
}

const missing = { status: 404, location: undefined };
const redirectTo = (id: string, from = origin) => {
  return { status: 307, location: `${from}/cloud/${id}/`, bytes: 0 };
};

const report = (fields: object) => sendReport(forwarder, front, fields);

/** Reports of all messages. */
const messages: MessageReport[] = [];
const reportsOfFront = () =>
  messages.filter(
    ({ kind, method, canisterId }) =>
      kind === 'update' && method === 'reportPublicBuckets' && canisterId === front.toText(),
  );

describe('GET /b/{bucket}', () => {
  test('redirects to a public bucket that existed before the front', async () => {
    for (const path of ['/b/demo', '/b/demo/', '//b//demo', '/b/d%65mo', '/b/demo?a=b']) {
      expect([path, await answerAt(path)]).toEqual([path, redirectTo('demo')]);
    }
    for (const path of ['/b', '/b/', '/b/demo/a', '/b/demo/%3C*%3E', '/b/Demo', '/b/demo%00']) {
      expect([path, await answerAt(path)]).toEqual([path, expect.objectContaining(missing)]);
    }
  });

  test('leads to the page of a site, and to the 404 of another public bucket', async () => {
    const shown = () =>
      exchangeWith(service.host, `${volume}.localhost`, { method: 'GET', path: '/cloud/demo/' });
    expect((await shown()).status).toBe(404);
    const SiteChange = IDL.Record({ bucketId: IDL.Text, isSite: IDL.Opt(IDL.Bool) });
    await call(volume, 'updateBucket', [SiteChange], [{ bucketId: 'demo', isSite: [true] }]);
    const headers = { authorization: `Bearer ${service.apiKey}`, 'content-type': 'text/html' };
    const path = '/api/v1/bucket/demo/files/index.html';
    const sent = { method: 'PUT', path, headers, body: '<p>hello' };
    expect((await exchangeWith(service.host, 'localhost', sent)).status).toBe(201);
    expect((await shown()).body.toString()).toBe('<p>hello');
  });

  test('answers every method with the redirect, and OPTIONS with the answer to preflights', async () => {
    for (const method of ['HEAD', 'POST', 'PUT', 'DELETE']) {
      expect(await answerAt('/b/demo', method)).toEqual(redirectTo('demo'));
    }
    for (const path of ['/b/demo', '/b/demo/', '/b/none']) {
      expect((await answerAt(path, 'OPTIONS')).status).toBe(204);
    }
  });

  test('exists exactly while the bucket is public', async () => {
    await createBucket('one', true);
    await wait(pauseSeconds);
    expect(await answerAt('/b/one')).toEqual(redirectTo('one'));
    await showBucket('one', false);
    await wait(pauseSeconds);
    expect(await answerAt('/b/one')).toMatchObject(missing);
    await showBucket('one', true);
    await wait(pauseSeconds);
    expect(await answerAt('/b/one/')).toEqual(redirectTo('one'));
    await call(volume, 'deleteBucket', [IDL.Text], ['one']);
    await wait(pauseSeconds);
    expect(await answerAt('/b/one')).toMatchObject(missing);
    expect(await answerAt('/b/demo')).toEqual(redirectTo('demo'));
  });

  test('survives upgrades of the front and of the volume', async () => {
    const { wasmPath } = await buildCanister({ force: false });
    const wasm = new Uint8Array(await readFile(wasmPath));
    await replica.upgrade(front, wasm, undefined, { sender: owner });
    expect(await answerAt('/b/demo')).toEqual(redirectTo('demo'));
    await replica.upgrade(volume, wasm, undefined, { sender: owner });
    await wait(pauseSeconds);
    expect(await answerAt('/b/demo')).toEqual(redirectTo('demo'));
    await createBucket('later', true);
    await wait(pauseSeconds);
    expect(await answerAt('/b/later')).toEqual(redirectTo('later'));
  });

  test('is repaired within an hour after a notice was lost', async () => {
    await createBucket('lost', false);
    await manage(replica, 'stop_canister', { canister_id: front, sender: owner });
    await showBucket('lost', true);
    await showBucket('later', false);
    await wait(pauseSeconds);
    await manage(replica, 'start_canister', { canister_id: front, sender: owner });
    await wait(pauseSeconds);
    expect(await answerAt('/b/lost')).toMatchObject(missing);
    expect(await answerAt('/b/later')).toEqual(redirectTo('later'));
    await waitForRetry();
    expect(await answerAt('/b/lost')).toEqual(redirectTo('lost'));
    expect(await answerAt('/b/later')).toMatchObject(missing);
  });

  test('returns within seconds when the volume is added again', async () => {
    await listVolume('removeVolume', volume);
    expect(await answerAt('/b/demo')).toMatchObject(missing);
    await listVolume('addVolume', volume);
    await wait(pauseSeconds);
    expect(await answerAt('/b/demo')).toEqual(redirectTo('demo'));
  });

  test('is repaired within a day after the front has lost it', async () => {
    await listVolume('removeVolume', volume);
    // The volume does not hear that it is added
    await manage(replica, 'stop_canister', { canister_id: volume, sender: owner });
    await listVolume('addVolume', volume);
    await manage(replica, 'start_canister', { canister_id: volume, sender: owner });
    const reports = reportsOfFront().length;
    await waitForRetry();
    expect(reportsOfFront().length).toBe(reports);
    expect(await answerAt('/b/demo')).toMatchObject(missing);
    await waitForContact();
    expect(await answerAt('/b/demo')).toEqual(redirectTo('demo'));
  });

  test('shows no private bucket, not even in a proof that a path is absent', async () => {
    await createBucket('private-m', false);
    await createBucket('public-m', true);
    await waitForRetry();
    expect(await answerAt('/b/public-m')).toEqual(redirectTo('public-m'));
    for (const url of ['/b/private-m', '/b/private-l', '/b/private-n']) {
      const sent = { method: 'GET', url, headers: [], body: new Uint8Array(0) };
      const reply = await replica.query(front, 'http_request', encodeQueryRequest(sent));
      const { status, headers } = decodeAnswer(reply);
      const [, proof = ''] = headers.find(([name]) => name === 'IC-Certificate') ?? [];
      const tree = Buffer.from(/tree=:([^:]+):/.exec(proof)?.[1] ?? '', 'base64');
      expect([url, status, tree.includes('private-m')]).toEqual([url, 404, false]);
      expect(tree.includes('public-m'), 'the neighbour in the proof').toBe(true);
    }
  });
});

describe('reportPublicBuckets', () => {
  test('is refused to a canister that is not in the list', async () => {
    const { err } = await report({ buckets: ['demo'] });
    expect(err).toMatch(/^AccessDenied: Only volumes in the list of this front/);
    expect((await sendReport(forwarder, volume, {})).err).toMatch(/^AccessDenied/);
  });

  test.each(['a stranger', 'a controller'])(
    'is refused as ingress of %s, by the inspection and at no cost',
    async (name) => {
      const argument = reportOf(volume);
      const sender = name === 'a controller' ? owner : Principal.anonymous();
      const before = reportsOfFront().length;
      for (const id of [front, volume]) {
        await expect(replica.call(id, 'reportPublicBuckets', argument, { sender })).rejects.toThrow(
          'reportPublicBuckets does not accept this message',
        );
      }
      expect(reportsOfFront().length).toBe(before);
    },
  );

  test('lets no volume take a name of another one, or redirect to another host', async () => {
    await listVolume('addVolume', forwarder.id);
    expect(await report({ buckets: ['demo', 'second'] })).toHaveProperty('ok');
    const foreign = `https://${forwarder.id}.icp.net`;
    expect(await answerAt('/b/demo')).toEqual(redirectTo('demo'));
    expect(await answerAt('/b/second')).toEqual(redirectTo('second', foreign));
    for (const wrong of ['https://evil.example', origin, `https://${forwarder.id}.evil.example`]) {
      const { err } = await report({ origin: wrong, buckets: ['third'] });
      expect(err).toMatch(/^InvalidArgument: The origin/);
    }
    const invalid = await report({ buckets: ['fine', '../cloud'] });
    expect(invalid.err).toMatch(/^InvalidBucketId/);
    for (const path of ['/b/third', '/b/fine']) {
      expect(await answerAt(path)).toMatchObject(missing);
    }
    await call(volume, 'setFront', [FrontSetting], [[]]);
    await call(volume, 'createBucket', [IDL.Text, Options], ['second', [{ isPublic: [true] }]]);
    const setting = { front, url: [service.frontUrl] };
    await call(volume, 'setFront', [FrontSetting], [[setting]]);
    await wait(pauseSeconds);
    expect(await answerAt('/b/second')).toEqual(redirectTo('second', foreign));
  });

  test('of a removed volume leaves nothing, and frees its names', async () => {
    await listVolume('removeVolume', forwarder.id);
    expect(await answerAt('/b/second')).toMatchObject(missing);
    await waitForContact();
    expect(await answerAt('/b/second')).toEqual(redirectTo('second'));
    expect((await report({ buckets: ['fourth'] })).err).toMatch(/^AccessDenied/);
    await listVolume('removeVolume', volume);
    expect(await answerAt('/b/demo')).toMatchObject(missing);
    await listVolume('addVolume', volume);
    await waitForContact();
    expect(await answerAt('/b/demo')).toEqual(redirectTo('demo'));
  });

  test('takes a bounded number of instructions, whatever the number of buckets', async () => {
    await listVolume('addVolume', forwarder.id);
    const costOf = async (change: object) => {
      expect(await report(change)).toHaveProperty('ok');
      return Number(reportsOfFront().at(-1)?.instructions);
    };
    const pageOf = (page: number) => {
      const prefix = `p${page}`;
      const buckets = Array.from({ length: 200 }, (_, index) => `${prefix}-${index}`);
      return { after: prefix, through: [`p${page + 1}`], buckets };
    };
    const single = { after: 'o', through: ['one'], buckets: ['one'] };
    expect(await costOf(single)).toBeLessThan(8_000_000);
    expect(await costOf(single), 'unchanged').toBeLessThan(4_100_000);
    await costOf({ ...single, buckets: [] });
    expect(await costOf(pageOf(1)), '200 buckets').toBeLessThan(600_000_000);
    expect(await costOf(pageOf(1)), '200 unchanged ones').toBeLessThan(40_000_000);
    for (const page of [2, 3, 4]) await costOf(pageOf(page));
    expect(await costOf(single), 'beside 800 others').toBeLessThan(8_000_000);
    expect(await answerAt('/b/p4-199')).toMatchObject({ status: 307 });
    expect(await costOf({}), 'removal of 801').toBeLessThan(1_000_000_000);
    expect(await answerAt('/b/p4-199')).toMatchObject(missing);
  });

  test('is sent once for many changes, and at most every five seconds', async () => {
    const before = reportsOfFront().length;
    for (let turn = 0; turn < 10; turn++) {
      await showBucket('lost', turn % 2 === 0);
      await wait(0);
    }
    expect(reportsOfFront().length - before).toBeLessThanOrEqual(1);
    await wait(pauseSeconds);
    expect(reportsOfFront().length - before).toBeLessThanOrEqual(2);
    expect(await answerAt('/b/lost')).toMatchObject(missing);
  });
});

describe('setFront', () => {
  test('with another address of the front gives the volume the default one', async () => {
    const setting = { front, url: ['https://files.example.com'] };
    await call(volume, 'setFront', [FrontSetting], [[setting]]);
    await wait(pauseSeconds);
    expect(await answerAt('/b/demo')).toEqual(redirectTo('demo', `https://${volume}.icp.net`));
  });

  test('without a front ends the reports, and the former front keeps the names', async () => {
    await call(volume, 'setFront', [FrontSetting], [[]]);
    const before = reportsOfFront().length;
    await showBucket('demo', false);
    await waitForRetry();
    expect(reportsOfFront().length).toBe(before);
    expect((await answerAt('/b/demo')).status).toBe(307);
    await listVolume('removeVolume', volume);
    expect(await answerAt('/b/demo')).toMatchObject(missing);
  });
});
