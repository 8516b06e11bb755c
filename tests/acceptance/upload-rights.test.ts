// The right to an upload session: a session begun over HTTP continues over HTTP with a key, one
// begun by a call continues as before, and both end when the right that began them is withdrawn.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { canSetTime } from '../support/network/elsewhere.ts';
import { changeOf, keyFor, type Person, personOf } from '../support/people.ts';
import { exchangeWith, type RawAnswer } from '../support/raw-exchange.ts';
import { openService, type Service } from '../support/service.ts';

interface Key {
  readonly id: string;
  readonly secret: string;
}

let service: Service;
let owner: Person;
let member: Person;
let nobody: Person;
let stranger: Person;
const bytes = Uint8Array.of(1, 2, 3, 4, 5);
/** Open sessions that one key or caller can have in a bucket. */
const share = 25;

beforeAll(async () => {
  service = await openService();
  owner = personOf(service, 'owner');
  member = personOf(service, 41);
  stranger = personOf(service, 42);
  nobody = personOf(service, 'nobody');
});

afterAll(() => service?.stop());

interface Sent {
  readonly key?: string;
  readonly body?: Uint8Array | string;
}

/** Uses the host that needs no certificates, because moving the clock would invalidate them. */
function http(method: string, path: string, { key, body = '' }: Sent = {}): Promise<RawAnswer> {
  const headers = {
    'Content-Type': 'application/json',
    ...(key !== undefined && { Authorization: `Bearer ${key}` }),
  };
  const host = `${service.canisterId}.raw.localhost`;
  return exchangeWith(service.base, host, {
    method,
    path: `/api/v1/bucket/${path}`,
    headers,
    body,
  });
}

const codeOf = ({ status, body }: RawAnswer) =>
  status < 400 ? status : `${status} ${JSON.parse(body.toString()).error.code}`;

function begin(bucket: string, key: string, path = 'a'): Promise<RawAnswer> {
  const body = JSON.stringify({ path, size: bytes.length, contentType: 'a/b' });
  return http('POST', `${bucket}/upload/start`, { key, body });
}

async function begun(bucket: string, key: string, path?: string): Promise<string> {
  const answer = await begin(bucket, key, path);
  expect(codeOf(answer)).toBe(201);
  return JSON.parse(answer.body.toString()).sessionId;
}

const newBucket = (id: string) => owner.get('createBucket', id, []);
const newKey = (bucket: string, permissions?: string[]) =>
  owner.get<Key>('createApiKey', keyFor([bucket], permissions));

async function openUploads(bucket: string): Promise<bigint> {
  return (await owner.get<{ openUploads: bigint }>('getBucket', bucket, [])).openUploads;
}

/** Waits until upkeep has ended all sessions by timers. */
async function allEnded(bucket: string): Promise<void> {
  await expect.poll(() => openUploads(bucket), { interval: 50 }).toBe(0n);
}

describe('a session that began over HTTP', () => {
  let key: string;
  beforeAll(async () => {
    await newBucket('web');
    key = (await newKey('web')).secret;
  });

  test('is unknown to actor calls, except those of owners, who can read and cancel it', async () => {
    const id = await begun('web', key);
    const writer = { principal: member.principal, role: 'writer' };
    await owner.get('updateBucket', changeOf('web', { addMembers: [[writer]] }));
    for (const person of [member, stranger, nobody]) {
      const answers = [
        await person.ask('getUpload', id),
        await person.ask('uploadFileChunkIndexed', id, 0n, bytes),
        await person.ask('completeFileUpload', id, []),
        await person.ask('completeFileUpload', id, [key]),
        await person.ask('cancelUpload', id),
      ];
      for (const { err } of answers) expect(err).toMatch(/^NoSuchUpload: /);
    }
    expect(codeOf(await http('GET', `web/upload/${id}`, { key }))).toBe(200);
    expect(await owner.get('getUpload', id)).toMatchObject({ status: 'active', uploadedSize: 0n });
    for (const { err } of [
      await owner.ask('uploadFileChunkIndexed', id, 0n, bytes),
      await owner.ask('completeFileUpload', id, []),
    ]) {
      expect(err).toMatch(/^AccessDenied: .+ over HTTP/);
    }
    expect(await owner.get('cancelUpload', id)).toBe(null);
    expect(await openUploads('web')).toBe(0n);
  });

  test('requires a key for each step, also for the repeated completion', async () => {
    const id = await begun('web', key);
    const { secret: reads } = await newKey('web', ['read']);
    const steps: [string, string, Sent][] = [
      ['PUT', `web/upload/${id}/chunk/0`, { body: bytes }],
      ['POST', `web/upload/${id}/complete`, {}],
      ['POST', `web/upload/${id}/complete`, {}],
    ];
    for (const [method, path, sent] of steps) {
      expect(codeOf(await http(method, path, sent))).toBe('401 Unauthorized');
      const poor = await http(method, path, { ...sent, key: reads });
      expect(codeOf(poor)).toBe('403 AccessDenied');
      const other = await http(method, path, { ...sent, key: service.apiKey });
      expect(codeOf(other)).toBe('403 AccessDenied');
      expect((await http(method, path, { ...sent, key })).status).toBeLessThan(300);
    }
    for (const apiKey of [[], [key]]) {
      const repeated = await stranger.ask('completeFileUpload', id, apiKey);
      expect(repeated.err).toMatch(/^NoSuchUpload: /);
    }
  });
});

describe('a session that began with an actor call and a key', () => {
  test('can be continued by calls with its id, and over HTTP with a key', async () => {
    await newBucket('given');
    const { secret } = await newKey('given');
    const start = () =>
      nobody.get<string>('beginFileUpload', 'given', 'a', 'a/b', BigInt(bytes.length), [secret]);
    const first = await start();
    expect(await stranger.get('uploadFileChunkIndexed', first, 0n, bytes)).toBe(5n);
    expect(await nobody.get('getUpload', first)).toMatchObject({ status: 'ready' });
    const fileId = await nobody.get('completeFileUpload', first, []);
    expect(await stranger.get('completeFileUpload', first, [])).toBe(fileId);
    const second = await start();
    const chunk = `given/upload/${second}/chunk/0`;
    expect(codeOf(await http('PUT', chunk, { body: bytes }))).toBe('401 Unauthorized');
    expect(codeOf(await http('PUT', chunk, { key: secret, body: bytes }))).toBe(200);
    const complete = `given/upload/${second}/complete`;
    expect(codeOf(await http('POST', complete, { key: secret }))).toBe(200);
    const third = await start();
    expect(await stranger.get('cancelUpload', third)).toBe(null);
    expect(await openUploads('given')).toBe(0n);
  });
});

/** Begins as many sessions as the key can have, and expects a refusal of the next one. */
async function exhaust(bucket: string, key: string): Promise<string[]> {
  const ids = await Promise.all(Array.from({ length: share }, () => begun(bucket, key)));
  expect(codeOf(await begin(bucket, key))).toBe('429 SlowDown');
  return ids;
}

describe('the sessions of one key or member', () => {
  test("take at most half of the bucket's sessions, and end when the key is revoked", async () => {
    await newBucket('crowd');
    const [one, other] = [await newKey('crowd', ['write']), await newKey('crowd', ['write'])];
    const [id] = await exhaust('crowd', one.secret);
    await exhaust('crowd', other.secret);
    const third = await newKey('crowd');
    expect(codeOf(await begin('crowd', third.secret)), 'the bucket is full').toBe('429 SlowDown');
    await owner.get('revokeApiKey', one.id);
    await expect.poll(() => openUploads('crowd')).toBe(BigInt(share));
    expect(codeOf(await begin('crowd', third.secret))).toBe(201);
    const gone = await http('GET', `crowd/upload/${id}`, { key: third.secret });
    expect(codeOf(gone)).toMatch(/^4\d\d UploadCancelled$/);
    await owner.get('revokeApiKey', other.id);
    await owner.get('revokeApiKey', third.id);
    await allEnded('crowd');
    await owner.get('deleteBucket', 'crowd', []);
  });

  test('end when the member is removed', async () => {
    await newBucket('club');
    const { principal } = member;
    await owner.get(
      'updateBucket',
      changeOf('club', { addMembers: [[{ principal, role: 'writer' }]] }),
    );
    for (let count = 0; count < share; count++) {
      await member.get('beginFileUpload', 'club', 'a', 'a/b', 5n, []);
    }
    const more = await member.ask('beginFileUpload', 'club', 'a', 'a/b', 5n, []);
    expect(more.err).toMatch(/^SlowDown: /);
    await owner.get('updateBucket', changeOf('club', { removeMembers: [[principal]] }));
    await allEnded('club');
    expect(await owner.get('listUploads', 'club', [])).toEqual([]);
  });
});

describe('owners', () => {
  test('list the sessions of a bucket, by call and with a key that has every permission', async () => {
    await newBucket('seen');
    const all = (await newKey('seen')).secret;
    const web = await begun('seen', all, 'web');
    const own = await owner.get<string>('beginFileUpload', 'seen', 'own', 'a/b', 5n, []);
    const listed = await owner.get<{ uploadId: string }[]>('listUploads', 'seen', []);
    expect(listed.map(({ uploadId }) => uploadId)).toEqual([web, own]);
    expect(await nobody.get('listUploads', 'seen', [all])).toHaveLength(2);
    const { total, items } = JSON.parse(
      (await http('GET', 'seen/upload', { key: all })).body.toString(),
    );
    expect([total, items[0]]).toMatchObject([2, { sessionId: web, path: 'web', status: 'active' }]);
    for (const permissions of [['read', 'write'], ['write', 'delete'], ['read']]) {
      const { secret: key } = await newKey('seen', permissions);
      expect(codeOf(await http('GET', 'seen/upload', { key }))).toBe('403 AccessDenied');
      expect((await nobody.ask('listUploads', 'seen', [key])).err).toMatch(/^AccessDenied: /);
    }
    expect((await stranger.ask('listUploads', 'seen', [])).err).toMatch(/^NoSuchBucket: /);
    await owner.get('cancelUpload', own);
    expect(codeOf(await http('DELETE', `seen/upload/${web}`, { key: all }))).toBe(204);
    expect(await openUploads('seen')).toBe(0n);
  });

  test('cancel the sessions of others', async () => {
    await newBucket('other');
    const { principal } = member;
    await owner.get(
      'updateBucket',
      changeOf('other', { addMembers: [[{ principal, role: 'writer' }]] }),
    );
    const id = await member.get<string>('beginFileUpload', 'other', 'a', 'a/b', 5n, []);
    expect((await stranger.ask('cancelUpload', id)).err).toMatch(/^AccessDenied: /);
    expect(await owner.get('cancelUpload', id)).toBe(null);
    const key = (await newKey('other', ['write'])).secret;
    const web = await begun('other', key);
    const { secret: another } = await newKey('other');
    expect(codeOf(await http('DELETE', `other/upload/${web}`, { key: another }))).toBe(204);
    expect(await openUploads('other')).toBe(0n);
  });

  test('delete a bucket with open uploads only by force', async () => {
    const status = async () => owner.get<Record<string, bigint>>('getStatus');
    const before = await status();
    await newBucket('forced');
    const { secret } = await newKey('forced');
    const id = await begun('forced', secret);
    await http('PUT', `forced/upload/${id}/chunk/0`, { key: secret, body: bytes });
    await owner.get('beginFileUpload', 'forced', 'a', 'a/b', 5n, []);
    for (const options of [[], [{ force: [] }], [{ force: [false] }]]) {
      const refused = await owner.ask('deleteBucket', 'forced', options);
      expect(refused.err).toMatch(/^BucketNotEmpty: .* 2 open uploads/);
    }
    expect(await owner.get('deleteBucket', 'forced', [{ force: [true] }])).toBe(null);
    expect(codeOf(await http('GET', 'forced/upload', { key: secret }))).toBe('401 InvalidApiKey');
    await newBucket('forced');
    expect(await owner.get('getBucket', 'forced', [])).toMatchObject({
      openUploads: 0n,
      fileCount: 0n,
      byteCount: 0n,
      overheadBytes: 0n,
    });
    expect(await owner.get('listUploads', 'forced', [])).toEqual([]);
    await owner.get('deleteBucket', 'forced', []);
    const { buckets, files, bytesStored } = await status();
    expect({ buckets, files, bytesStored }).toMatchObject({
      buckets: before.buckets,
      files: before.files,
      bytesStored: before.bytesStored,
    });
  });
});

// The last test, because it moves the clock.
test('sessions of a key end when the key expires, without another request', async ({ skip }) => {
  skip(!canSetTime, 'the clock of this network cannot be set');
  await newBucket('brief');
  const expiresAt = BigInt(Date.now() + 60_000) * 1_000_000n;
  const request = { ...keyFor(['brief'], ['write']), expiresAt: [expiresAt] };
  const { secret } = await owner.get<Key>('createApiKey', request);
  await exhaust('brief', secret);
  await service.network.setTime(61_000_000_000n);
  expect(codeOf(await begin('brief', secret))).toBe('401 InvalidApiKey');
  // Upkeep runs every ten minutes.
  await service.network.setTime(600_000_000_000n);
  await allEnded('brief');
  await exhaust('brief', (await newKey('brief')).secret);
});
