// Lists of a bucket with `isListed` by callers without a key or an identity: queries answer them
// and cost the canister nothing; no update lists.

import { IDL } from '@dfinity/candid';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { serviceInterface } from '../../packages/client/src/actor/candid-interface.ts';
import { createHttpStorage } from '../../packages/client/src/http-storage.ts';
import { createStorage } from '../../packages/client/src/index.ts';
import type { MessageReport } from '../../packages/replica/src/core.ts';
import type { Replica } from '../../packages/replica/src/replica.ts';
import { type Forwarder, installForwarder } from '../support/forwarder/forwarder.ts';
import { refusedAs } from '../support/method-reports.ts';
import { changeOf, type Person, personOf } from '../support/people.ts';
import { openService, type Service } from '../support/service.ts';

const reports: MessageReport[] = [];
let service: Service;
let replica: Replica;
let forwarder: Forwarder;
let owner: Person;
let anybody: Person;
const tails = [
  '',
  '?delimiter=/',
  '?limit=1',
  '?sort=date_desc&pageSize=2',
  '?page=0',
  '?cursor=x',
];
const list = '/api/v1/bucket/gallery/files';

beforeAll(async () => {
  service = await openService({ onReport: (report) => void reports.push(report) });
  replica = service.replica ?? expect.fail('this suite needs the local replica');
  owner = personOf(service, 'owner');
  anybody = personOf(service, 'nobody');
  await owner.get('createBucket', 'gallery', [{ isPublic: [true], isListed: [true] }]);
  await owner.get('createBucket', 'plain', [{ isPublic: [true] }]);
  for (const path of ['a/1', 'a/2', 'b']) await store('gallery', path);
  await store('plain', 'a');
  forwarder = await installForwarder(replica);
  const spent = { burst: 0n, perMinute: 0n };
  const budgets = { anonymousUpdates: [spent], linkUpdates: [spent], refusals: [spent] };
  await owner.get('updateAccess', { allow: [], disallow: [], ...budgets });
});

afterAll(() => service?.stop());

async function store(bucketId: string, path: string): Promise<void> {
  const none = { tags: [['sea']], sha256: [], ifMatch: [], ifNoneMatch: [], apiKey: [] };
  const file = { bucketId, path, contentType: 'text/plain', bytes: Uint8Array.of(65) };
  await owner.get('uploadFile', { ...file, ...none, metadata: [[['by', 'me']]] });
}

/** Returns the messages that the canister has executed meanwhile as updates. */
async function updatesOf(run: () => Promise<unknown>): Promise<string[]> {
  const first = reports.length;
  await run();
  return reports.slice(first).flatMap(({ canisterId, kind, method }) => {
    // The canister's timers ask for its status by themselves
    const isByTimer = /timer|canister_status/i.test(method);
    const isOwn = canisterId === service.canisterId && method !== '' && !isByTimer;
    return isOwn && kind !== 'query' ? [`${kind} ${method}`] : [];
  });
}

function encoded(method: string, ...values: unknown[]): Uint8Array {
  const types = new Map(serviceInterface()._fields).get(method)?.argTypes ?? expect.fail(method);
  return new Uint8Array(IDL.encode(types as never, values));
}

const none = { tag: [], sort: [], prefix: [], apiKey: [] };
const paged = { bucketId: 'gallery', page: [], pageSize: [], ...none };
const folder = {
  bucketId: 'gallery',
  delimiter: [],
  cursor: [],
  limit: [],
  startAfter: [],
  ...none,
};
const request = { method: 'GET', url: list, headers: [], body: new Uint8Array(0) };
const HttpUpdate = IDL.Record({
  method: IDL.Text,
  url: IDL.Text,
  headers: IDL.Vec(IDL.Tuple(IDL.Text, IDL.Text)),
  body: IDL.Vec(IDL.Nat8),
});

describe('GET /api/v1/bucket/{bucket}/files without a key', () => {
  test.each(['GET', 'HEAD'])(
    '%s is answered by the query while all budgets are spent',
    async (method) => {
      for (const tail of tails) {
        const updates = await updatesOf(async () => {
          const { status } = await fetch(`${service.base}${list}${tail}`, { method });
          expect([tail, status]).toEqual([tail, /page=0|cursor=x/.test(tail) ? 400 : 200]);
        });
        expect(updates).toEqual([]);
      }
    },
  );

  test('of any other bucket is refused by the query', async () => {
    for (const bucket of ['plain', 'none', 'demo']) {
      const updates = await updatesOf(async () => {
        const { status } = await fetch(`${service.base}/api/v1/bucket/${bucket}/files`);
        expect([bucket, status]).toEqual([bucket, 401]);
      });
      expect(updates).toEqual([]);
    }
  });

  test('needs no preflight, and pages of other origins may read it', async () => {
    const headers = { Origin: 'https://example.org' };
    const response = await fetch(`${service.base}${list}`, { headers });
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
    expect(await response.json()).toMatchObject({
      items: [{ path: 'a/1', tags: ['sea'], metadata: { by: 'me' } }, {}, {}],
    });
  });

  test('is refused as an update, by the inspection and to another canister', async () => {
    const argument = new Uint8Array(IDL.encode([HttpUpdate], [request]));
    const { canisterId } = service;
    const sent = replica.call(canisterId, 'http_request_update', argument);
    await expect(sent).rejects.toThrow('http_request_update');
    const reply = await forwarder.call(canisterId, 'http_request_update', argument);
    expect(Buffer.from(reply).toString('latin1')).toMatch(/SlowDown|Unauthorized/);
    expect(Buffer.from(reply).toString('latin1')).not.toContain('a/1');
  });
});

describe('listFiles and listFolder by the anonymous principal', () => {
  test('list, as queries', async () => {
    const page = await anybody.get<{ total: bigint }>('listFiles', paged);
    expect(page).toMatchObject({ total: 3n, items: [{ path: 'a/1' }, {}, {}] });
    const shown = await anybody.get('listFolder', { ...folder, delimiter: ['/'] });
    expect(shown).toMatchObject({ items: [{ path: 'b' }], folders: [{ path: 'a/' }] });
    const stranger = personOf(service, 7);
    expect(await stranger.get('listFiles', paged)).toMatchObject({ total: 3n });
  });

  test('are refused for a public bucket without isListed', async () => {
    const other = { ...paged, bucketId: 'plain' };
    expect(await anybody.ask('listFiles', other)).toEqual(refusedAs('AccessDenied'));
  });

  test('are refused as updates, by the inspection and to another canister', async () => {
    for (const [method, value] of Object.entries({ listFiles: paged, listFolder: folder })) {
      const argument = encoded(method, value);
      await expect(replica.call(service.canisterId, method, argument)).rejects.toThrow(method);
      const reply = await forwarder.call(service.canisterId, method, argument);
      expect(Buffer.from(reply).toString('latin1')).toContain('AccessDenied');
    }
  });

  test('the other reads of the bucket stay refused', async () => {
    for (const [method, ...values] of [
      ['getBucket', 'gallery', []],
      ['getUsage', 'gallery', [], []],
      ['listVersions', { bucketId: 'gallery', path: [], cursor: [], limit: [], ...none }],
      ['listLinks', 'gallery', [], [], [], []],
    ] as const) {
      const answer = await anybody.ask(method, ...values).catch((error: Error) => error);
      expect(JSON.stringify(answer), method).not.toContain('"ok"');
    }
  });
});

describe('the library without a key or an identity', () => {
  test('lists by actor calls and over HTTP', async () => {
    const anonymous = createStorage({ url: service.base, canisterId: service.canisterId });
    const bucket = 'gallery';
    expect((await anonymous.listFolder({ bucket, delimiter: '/' })).folders).toHaveLength(1);
    const http = createHttpStorage({ url: service.base });
    const paths: string[] = [];
    for await (const { path } of http.list({ bucket })) paths.push(path);
    expect(paths).toEqual(['a/1', 'a/2', 'b']);
  });
});

test('updateBucket that makes the bucket private ends its lists', async () => {
  await owner.get('updateBucket', changeOf('gallery', { isPublic: [false] }));
  expect((await fetch(`${service.base}${list}`)).status).toBe(401);
  expect(await anybody.ask('listFiles', paged)).toEqual(refusedAs('NoSuchBucket'));
  await owner.get('updateBucket', changeOf('gallery', { isPublic: [true] }));
  expect((await fetch(`${service.base}${list}`)).status).toBe(401);
});
