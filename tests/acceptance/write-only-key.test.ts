// A key with `write` but without `read` reveals nothing about stored files: no refused condition
// shows the entity tag, which begins with the SHA-256 of the bytes.

import { createHash } from 'node:crypto';
import { inspect } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sendCall, sendRequest } from '../support/keyed-calls.ts';
import { actorRows, httpRows, type Spot } from '../support/keyed-operations.ts';
import { canSetTime } from '../support/network/elsewhere.ts';
import { keyFor, type Person, personOf } from '../support/people.ts';
import { exchangeWith, type RawAnswer } from '../support/raw-exchange.ts';
import { openService, type Service } from '../support/service.ts';

let service: Service;
let owner: Person;
let nobody: Person;
let writes: string;
let deletes: string;
let uploadId: string;
const bucket = 'blind';
const bytes = Buffer.alloc(18_471, 'what only readers know');
const digest = createHash('sha256').update(bytes).digest();
const past = 'Sat, 29 Oct 1994 19:43:31 GMT';

beforeAll(async () => {
  service = await openService();
  owner = personOf(service, 'owner');
  nobody = personOf(service, 'nobody');
  await owner.get('createBucket', bucket, []);
  const newKey = async (permissions: string[]) =>
    (await owner.get<{ secret: string }>('createApiKey', keyFor([bucket], permissions))).secret;
  writes = await newKey(['write']);
  deletes = await newKey(['delete']);
  // The session begins before the file exists, and the tests try to complete it with conditions.
  const body = JSON.stringify({ path: 'a', size: 1, contentType: 'a/b' });
  const started = await http('POST', 'upload/start', { key: writes, body });
  uploadId = JSON.parse(started.body.toString()).sessionId;
  await http('PUT', `upload/${uploadId}/chunk/0`, { key: writes, body: 'x' });
  expect((await http('PUT', 'files/a', { key: writes, body: bytes })).status).toBe(201);
});

afterAll(() => service?.stop());

interface Sent {
  readonly key: string;
  readonly body?: Buffer | string;
  readonly headers?: Record<string, string>;
}

function http(method: string, path: string, { key, body = '', headers = {} }: Sent) {
  const fields = { 'Content-Type': 'a/b', Authorization: `Bearer ${key}`, ...headers };
  const target = `/api/v1/bucket/${bucket}/${path}`;
  return exchangeWith(service.base, 'localhost', { method, path: target, headers: fields, body });
}

/**
 * Expects neither the beginning of the digest, in any encoding, nor the size of the file. Five
 * digits are rarely part of a random id.
 */
function expectNoDigest(text: string): void {
  for (const encoding of ['hex', 'base64', 'base64url'] as const) {
    expect(text.toLowerCase()).not.toContain(digest.toString(encoding).slice(0, 8).toLowerCase());
  }
  expect(text).not.toContain('18471');
}

function expectBlind({ status, headers, body }: RawAnswer): void {
  expect(status).toBe(412);
  const { etag, 'last-modified': modified, 'ic-certificate': _, ...rest } = headers;
  expect([etag, modified]).toEqual([undefined, undefined]);
  const { error } = JSON.parse(body.toString());
  expect(error).toMatchObject({ code: 'PreconditionFailed' });
  expect(error.details).toBeUndefined();
  const { date, 'x-request-id': id = '', 'content-length': length, ...shown } = rest;
  expectNoDigest(
    JSON.stringify(shown) + body.toString().replaceAll(error.requestId, '').replace(id, ''),
  );
}

describe('a 412 does not reveal the entity tag', () => {
  test.each<[string, Record<string, string>]>([
    ['for If-Match', { 'If-Match': '"x"' }],
    ['for a list of tags', { 'If-Match': `"x", "${'00'.repeat(32)}"` }],
    ['for a weak tag', { 'If-Match': 'W/"x"' }],
    ['for If-None-Match', { 'If-None-Match': '*' }],
    ['for a date', { 'If-Unmodified-Since': past }],
  ])('%s', async (_, headers) => {
    expectBlind(await http('PUT', 'files/a', { key: writes, body: 'y', headers }));
    if (headers['If-None-Match'] === undefined) {
      expectBlind(await http('DELETE', 'files/a', { key: deletes, headers }));
    }
    const complete = `upload/${uploadId}/complete`;
    expectBlind(await http('POST', complete, { key: writes, headers }));
  });

  test('when a session begins', async () => {
    for (const condition of [{ ifMatch: '"x"' }, { ifNoneMatch: '*' }]) {
      const body = JSON.stringify({ path: 'a', size: 1, ...condition });
      expectBlind(await http('POST', 'upload/start', { key: writes, body }));
    }
  });

  test('to actor calls', async () => {
    const conditions = [
      { ifMatch: ['"x"'], ifNoneMatch: [] },
      { ifMatch: [], ifNoneMatch: ['*'] },
    ];
    for (const condition of conditions) {
      const file = { bucketId: bucket, path: 'a', tags: [], sha256: [], apiKey: [writes] };
      const whole = { ...file, ...condition, contentType: 'a/b', bytes: Uint8Array.of(1) };
      const session = {
        ...file,
        ...condition,
        contentType: [],
        size: [1n],
        chunkSize: [],
        headers: [],
      };
      for (const { err = '' } of [
        await nobody.ask('uploadFile', whole),
        await nobody.ask('beginFileUploadWith', session),
      ]) {
        expect(err).toMatch(/^PreconditionFailed: /);
        expectNoDigest(err);
      }
    }
  });
});

test('GET with a key without `read` is refused', async () => {
  for (const path of ['files/a', 'files', `upload/${uploadId}`]) {
    const answer = await http('GET', path, { key: deletes });
    expect(answer.status, path).toBe(403);
  }
  expect((await http('GET', 'files/a', { key: writes })).status).toBe(403);
  const file = await owner.get<{ etag: string }>('getFile', bucket, 'a', []);
  expect(file.etag, 'the file is unchanged').toContain(digest.toString('hex'));
});

describe('a response to a key that may only write has no data of others:', () => {
  const secrets = { tag: 'tag-of-others', note: 'note-of-others', type: 'type/of-others' };
  const rows = [...actorRows, ...httpRows].map((row, index) => {
    const spot = spotOf(index);
    const named = 'url' in row ? row.url(spot) : inspect(row.values(spot), { breakLength: 1e9 });
    return [`${row.method} ${named}`, row, index] as const;
  });
  /** Records of the files in the rows by path, after others have stored them. */
  const before = new Map<string, { createdAt: bigint; updatedAt: bigint }>();

  function spotOf(index: number): Spot {
    const [path, own] = [`others/${index}`, `own/${index}`];
    return { bucket, key: writes, path, uploadId: '00'.repeat(16), own, fresh: `new/${index}` };
  }

  beforeAll(async () => {
    const change = { bucketId: bucket, keepVersionsDays: [1n] };
    await owner.get('updateBucket', change);
    const file = { bytes, contentType: [secrets.type], tags: [[secrets.tag]] };
    const noted = { ...file, metadata: [[['note', secrets.note]]] };
    // Stores each file twice, so that each has a former version
    for (let round = 0; round < 2; round++) {
      const files = rows.map((_, index) => ({ ...noted, path: `others/${index}` }));
      await owner.get('uploadFiles', { bucketId: bucket, files });
    }
    for (const [, , index] of rows) {
      const path = `others/${index}`;
      before.set(path, await owner.get('getFile', bucket, path, []));
    }
    // Times of new records differ from those of others by more than a clock's resolution
    if (canSetTime) await service.network.setTime(60_000_000_000n);
  });

  test.each(rows)('%s', async (_, row, index) => {
    const spot = spotOf(index);
    const answer =
      'url' in row
        ? await sendRequest(service, row, spot)
        : await sendCall(service, { name: row.method, values: row.values(spot) });
    const shown =
      'text' in (answer as object)
        ? inspectResponse(answer as Awaited<ReturnType<typeof sendRequest>>)
        : inspect(answer, { depth: 9 });
    expectNoDigest(shown);
    for (const secret of Object.values(secrets)) expect(shown).not.toContain(secret);
    const { createdAt, updatedAt } = before.get(spot.path) ?? expect.fail(spot.path);
    for (const time of [createdAt, updatedAt]) {
      expect(shown).not.toContain(`${time}`);
      expect(shown).not.toContain(new Date(Number(time / 1_000_000n)).toISOString());
    }
  });

  test('PATCH returns only the fields of the request and the version', async () => {
    const body = '{"tags":["mine"]}';
    const {
      status,
      headers,
      body: answered,
    } = await http('PATCH', 'files/others/0', { key: writes, body });
    expect([status, headers.etag]).toEqual([200, undefined]);
    expect(JSON.parse(answered.toString())).toMatchObject({ path: 'others/0', tags: ['mine'] });
    expect(Object.keys(JSON.parse(answered.toString())).sort()).toEqual([
      'bucketId',
      'id',
      'name',
      'path',
      'tags',
      'updatedAt',
      'url',
      'version',
    ]);
  });

  test('updateFile returns the record to a caller who may read', async () => {
    const update = { bucketId: bucket, path: 'others/1', tags: [['ours']] };
    expect(await owner.get('updateFile', update)).toMatchObject({ size: 18_471n, tags: ['ours'] });
  });
});

function inspectResponse({ headers, text }: Awaited<ReturnType<typeof sendRequest>>): string {
  const fields = [...headers].filter(
    ([name]) => !['ic-certificate', 'x-request-id', 'date'].includes(name),
  );
  return JSON.stringify(fields) + text.replace(/"requestId":"[^"]*"/, '');
}

describe('a key with a budget of updates', () => {
  const put = (key: string) => http('PUT', 'files/budget', { key, body: 'x' });
  const budgeted = async (permissions: string[], updates: bigint) => {
    const fields = { ...keyFor([bucket], permissions), updatesPerHour: [updates] };
    return (await owner.get<{ secret: string }>('createApiKey', fields)).secret;
  };
  const updateCount = () =>
    service.replica?.reports.filter(({ method }) => method === 'http_request_update').length;

  test('PUT over the budget is refused by a query, with the seconds to wait', async () => {
    const key = await budgeted(['write'], 2n);
    expect([(await put(key)).status, (await put(key)).status]).toEqual([201, 200]);
    const paid = updateCount();
    const { status, headers, body } = await put(key);
    expect([status, JSON.parse(body.toString()).error.code]).toEqual([429, 'SlowDown']);
    expect(Number(headers['retry-after'])).toBeGreaterThan(1_700);
    expect(updateCount()).toBe(paid);
    const file = { bucketId: bucket, path: 'budget', apiKey: [key] };
    const change = { ...file, tags: [['t']] };
    expect((await nobody.ask('updateFile', change)).err).toMatch(/^SlowDown: /);
  });

  test('GET works when the budget is empty', async () => {
    const key = await budgeted(['read', 'write'], 1n);
    await put(key);
    expect((await put(key)).status).toBe(429);
    expect((await http('GET', 'files/budget', { key })).status).toBe(200);
  });

  test('uploadFile takes from the same budget as HTTP requests', async () => {
    const key = await budgeted(['write'], 2n);
    await put(key);
    const file = { bucketId: bucket, path: 'budget', contentType: 'a/b', bytes: Uint8Array.of(1) };
    const upload = () => nobody.ask('uploadFile', { ...file, apiKey: [key] });
    expect((await upload()).err).toBeUndefined();
    expect((await upload()).err).toMatch(/^SlowDown: .* 2 updates an hour/);
    expect((await put(key)).status).toBe(429);
  });
});
