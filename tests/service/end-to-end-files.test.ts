// An end-to-end bucket accepts only age files by every route of upload, and stores them with the
// type of such files: tested on the built canister, through the gateway.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { MessageReport } from '../../packages/replica/src/core.ts';
import { formBody } from '../support/forms.ts';
import { keyFor, type Person, personOf } from '../support/people.ts';
import { exchangeWith } from '../support/raw-exchange.ts';
import { openService, type Service } from '../support/service.ts';

const bucket = 'safe';
const recipient = `age1${'q'.repeat(58)}`;
const age = Buffer.from(`age-encryption.org/v1\n-> X25519 ${'A'.repeat(43)}\n${'B'.repeat(200)}`);
const clear = Buffer.from('a letter that somebody forgot to encrypt'.repeat(10));
const notAge = [clear, Buffer.alloc(0), age.subarray(0, 24), age.subarray(1)];
const refused = { err: expect.stringMatching(/^NotEncrypted: .*efs put.*age -r/) };
const reports: MessageReport[] = [];
let service: Service;
let owner: Person;
let whole: string;
let drop: string;

beforeAll(async () => {
  service = await openService({ onReport: (report) => void reports.push(report) });
  owner = personOf(service, 'owner');
  const options = { keepVersionsDays: [1n], endToEnd: [{ recipients: [[recipient]] }] };
  await owner.get('createBucket', bucket, [options]);
  await owner.get('createBucket', 'plain', []);
  const newKey = async (key: object) =>
    (await owner.get<{ secret: string }>('createApiKey', key)).secret;
  whole = await newKey(keyFor([bucket]));
  drop = await newKey({ ...keyFor([bucket], ['write']), prefix: ['in/'] });
});

afterAll(() => service?.stop());

const upload = { contentType: 'text/plain', apiKey: [] };

async function http(method: string, path: string, body: Buffer | string = '', type?: string) {
  const headers = {
    Authorization: `Bearer ${path.startsWith('end-to-end') ? drop : whole}`,
    ...(type && { 'Content-Type': type }),
  };
  const target = `/api/v1/bucket/${bucket}/${path}`;
  const answer = await exchangeWith(service.base, 'localhost', {
    method,
    path: target,
    headers,
    body,
  });
  return { status: answer.status, json: JSON.parse(answer.body.toString() || 'null') };
}

const updates = () =>
  reports.filter(({ kind, method }) => kind === 'update' && method === 'http_request_update')
    .length;

async function expectRefused(asked: ReturnType<typeof http>): Promise<void> {
  const { status, json } = await asked;
  expect([status, json.error?.code]).toEqual([400, 'NotEncrypted']);
  expect(json.error.message).toMatch(/efs put.*age -r/);
}

describe('bytes that are not an age file are refused', () => {
  test('over HTTP: by PUT, in forms and in sessions, before an update is paid for', async () => {
    const before = updates();
    for (const body of notAge) await expectRefused(http('PUT', 'files/a', body, 'text/plain'));
    const form = Buffer.from(formBody([{ name: 'a', text: clear.toString() }], 'part'));
    await expectRefused(http('POST', 'files', form, 'multipart/form-data; boundary=part'));
    await expectRefused(http('POST', 'upload/start', '{"path":"a","size":0}'));
    expect(updates()).toBe(before);
    const { json } = await http('POST', 'upload/start', '{"path":"a","chunkSize":65536}');
    expect(json).toMatchObject({ contentType: 'application/age' });
    const session = `upload/${json.sessionId}`;
    const begun = updates();
    for (const body of notAge.slice(0, 1).concat(notAge.slice(2))) {
      await expectRefused(http('PUT', `${session}/chunk/0`, body));
    }
    await expectRefused(http('POST', `${session}/complete`));
    expect(updates()).toBe(begun);
    expect((await http('DELETE', session)).status).toBe(204);
  });

  test('through the actor: whole, in batches and in sessions', async () => {
    for (const bytes of notAge) {
      const file = { ...upload, bucketId: bucket, path: '/a', bytes };
      expect(await owner.ask('uploadFile', file)).toEqual(refused);
    }
    const files = [
      { path: 'a', bytes: age },
      { path: 'b', bytes: clear },
    ];
    const batch = await owner.get<object[]>('uploadFiles', { bucketId: bucket, files });
    expect(batch).toEqual([{ err: expect.stringMatching(/^NotStored: /) }, refused]);
    expect(await owner.ask('beginFileUpload', bucket, '/a', 'a/b', 0n, [])).toEqual(refused);
    const id = await owner.get<string>('beginFileUpload', bucket, '/a', 'a/b', 50n, []);
    const chunk = (index: bigint, bytes: Uint8Array) =>
      owner.ask('uploadFileChunkIndexed', id, index, bytes);
    expect(await chunk(0n, clear.subarray(0, 25))).toEqual(refused);
    expect(await chunk(1n, clear.subarray(0, 25)), 'only chunk 0 is checked').toHaveProperty('ok');
    expect(await chunk(0n, age.subarray(0, 25))).toHaveProperty('ok');
    expect(await chunk(0n, clear.subarray(0, 25)), 'in place of a good chunk 0').toEqual(refused);
    expect(await owner.ask('completeFileUpload', id, [])).toHaveProperty('ok');
  });

  test('by a copy or a move from another bucket, even if they are an age file', async () => {
    const file = { ...upload, bucketId: 'plain', path: '/from', bytes: age };
    expect(await owner.ask('uploadFile', file)).toHaveProperty('ok');
    const order = { bucketId: 'plain', from: 'from', toBucketId: [bucket], to: 'to' };
    const foreign = { err: expect.stringMatching(/^NotEncrypted: .*efs get.*efs put/) };
    expect(await owner.ask('copyFile', order)).toEqual(foreign);
    expect(await owner.ask('moveFile', order)).toEqual(foreign);
  });
});

describe('an age file', () => {
  test('is stored with its own type, whatever is sent, and can be changed, copied, moved and restored', async () => {
    const put = await http('PUT', 'files/in/b', age, 'text/plain');
    expect(put.json).toMatchObject({ contentType: 'application/age', version: 1 });
    expect((await http('PUT', 'files/in/b', age)).json, 'without a type').toMatchObject({
      contentType: 'application/age',
      version: 2,
    });
    const patched = await http('PATCH', 'files/in/b', '{"contentType":"text/html","tags":["t"]}');
    expect(patched.json).toMatchObject({ contentType: 'application/age', tags: ['t'] });
    const restored = await http('POST', 'restore', '{"path":"in/b","version":1}');
    expect(restored.json).toMatchObject({ contentType: 'application/age' });
    const within = await http('POST', 'copy', '{"from":"in/b","to":{"path":"c"}}');
    expect(within.status).toBe(201);
    const out = { bucketId: bucket, from: 'c', toBucketId: ['plain'], to: 'out' };
    expect(await owner.ask('moveFile', out), 'out of the bucket').toHaveProperty('ok');
  });

  test('may have a sealed path of four segments of 222 characters', async () => {
    const path = Array.from({ length: 4 }, (_, index) => `${index}`.padEnd(222, '_-z')).join('/');
    expect((await http('PUT', `files/${path}`, age)).status).toBe(201);
  });
});

describe('a key', () => {
  test('can read the recipients, also if it may only write below a prefix', async () => {
    const before = updates();
    const { json } = await http('GET', 'end-to-end');
    expect(json.endToEnd).toMatchObject({
      usesVetKeys: true,
      sealsNames: false,
      recipients: [recipient],
      epoch: { epoch: 1, recipient: null },
      encryptTo: [recipient],
    });
    expect(updates(), 'an update answers').toBe(before + 1);
    const nobody = personOf(service, 'nobody');
    const told = { id: bucket, byteCount: 0n, fileCount: 0n, members: [], quotaBytes: [] };
    expect(await nobody.get('getBucket', bucket, [drop])).toMatchObject({
      ...told,
      endToEnd: [{ recipients: [recipient], epochs: [{ epoch: 1n, recipient: [] }] }],
    });
    expect(await nobody.get('getBucket', bucket, [whole])).not.toMatchObject({ fileCount: 0n });
  });
});
