// Limits: open sessions, a bucket's quota, the lifetime of a session. Uses its own bucket.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { overheadBytesOf } from '../../src/domain/buckets/quota.ts';
import { openUploadCountMax } from '../../src/limits.ts';
import { type BucketActor, openClient } from '../support/bucket-actor.ts';
import { plainMetadata } from '../support/domain-fixture.ts';
import { installNodeText } from '../support/memory-stores.ts';
import { canSetTime } from '../support/network/elsewhere.ts';
import { exchangeWith } from '../support/raw-exchange.ts';
import { openService, type Service } from '../support/service.ts';

installNodeText();

let service: Service;
let owner: BucketActor;
let apiKey: string;
const bucket = `Limits${Date.now()}`;

beforeAll(async () => {
  service = await openService();
  ({ actor: owner } = await openClient(service, 'owner'));
  expect(await owner.createBucket(bucket, [{ isPublic: [true], quotaBytes: [] }])).toHaveProperty(
    'ok',
  );
  const permissions = ['read', 'write', 'delete'];
  const request = { name: 'limits', buckets: [bucket], permissions, expiresAt: [] as [] };
  const created = await owner.createApiKey(request);
  apiKey = created.ok?.secret ?? expect.fail(created.err);
});

afterAll(() => service?.stop());

function send(method: string, path: string, body?: string): Promise<Response> {
  return fetch(`${service.base}/api/v1/bucket/${bucket}/${path}`, {
    method,
    headers: { Authorization: `Bearer ${apiKey}`, 'Content-Type': 'text/plain' },
    ...(body === undefined ? {} : { body }),
  });
}

/** Uses the host without certificates: they have another time than the gateway, which is not moved. */
async function sendRaw(method: string, path: string, body = ''): Promise<Response> {
  const headers = { Authorization: `Bearer ${apiKey}`, 'Content-Type': 'text/plain' };
  const sent = { method, path: `/api/v1/bucket/${bucket}/${path}`, headers, body };
  const host = `${service.canisterId}.raw.localhost`;
  const answer = await exchangeWith(service.base, host, sent);
  return new Response(new Uint8Array(answer.body), { status: answer.status });
}

async function refusal(response: Response): Promise<[status: number, code: string]> {
  const { error } = (await response.json()) as { error: { code: string } };
  return [response.status, error.code];
}

function start(path: string, size: number): Promise<Response> {
  return send('POST', 'upload/start', JSON.stringify({ path, size }));
}

describe('a quota', () => {
  async function setQuota(quotaBytes: bigint): Promise<void> {
    const change = { bucketId: bucket, quotaBytes: [quotaBytes] as [bigint] };
    const unchanged = { isPublic: [] as [], addMembers: [] as [], removeMembers: [] as [] };
    expect(await owner.updateBucket({ ...change, ...unchanged })).toHaveProperty('ok');
  }

  test('applies to uploads of all kinds, counts a replaced file once, and can be removed', async () => {
    const overhead = overheadBytesOf({ ...plainMetadata, bucketId: bucket, path: 'eight' });
    await setQuota(BigInt(10 + overhead));
    expect((await send('PUT', 'files/eight', '12345678')).status).toBe(201);
    expect((await send('PUT', 'files/eight', '1234567890')).status).toBe(200);
    expect(await refusal(await send('PUT', 'files/one', '1'))).toEqual([507, 'QuotaExceeded']);
    expect(await refusal(await start('two', 2))).toEqual([507, 'QuotaExceeded']);
    expect((await send('DELETE', 'files/eight')).status).toBe(204);
    // One key can use at most half of the free quota for its open uploads.
    expect(await refusal(await start('two', 2))).toEqual([507, 'QuotaExceeded']);
    await setQuota(BigInt(3 * overhead));
    expect((await start('two', 2)).status).toBe(201);
    expect(await refusal(await send('PUT', 'files/nine', 'x'.repeat(2 * overhead)))).toEqual([
      507,
      'QuotaExceeded',
    ]);
    await setQuota(0n);
    expect((await send('PUT', 'files/nine', '123456789')).status).toBe(201);
  });
});

test('a private file of several chunks is served whole with a key, and is missing without one', async () => {
  const chunkSize = 65_536;
  const bytes = 'x'.repeat(chunkSize) + 'y'.repeat(10);
  const fields = JSON.stringify({ path: 'secret.txt', size: bytes.length, chunkSize });
  const started = await send('POST', 'upload/start', fields);
  const { sessionId } = (await started.json()) as { sessionId: string };
  await send('PUT', `upload/${sessionId}/chunk/0`, bytes.slice(0, chunkSize));
  await send('PUT', `upload/${sessionId}/chunk/1`, bytes.slice(chunkSize));
  expect((await send('POST', `upload/${sessionId}/complete`)).status).toBe(201);
  const unchanged = { quotaBytes: [] as [], addMembers: [] as [], removeMembers: [] as [] };
  const change = { bucketId: bucket, isPublic: [false] as [boolean], ...unchanged };
  expect(await owner.updateBucket(change)).toHaveProperty('ok');
  const url = `${service.base}/cloud/${bucket}/secret.txt`;
  const response = await fetch(url, { headers: { Authorization: `Bearer ${apiKey}` } });
  expect([response.status, await response.text()]).toEqual([200, bytes]);
  expect(response.headers.get('cache-control')).toBe('private, no-store');
  expect((await fetch(url)).status).toBe(404);
});

describe('sessions', () => {
  test('of another bucket are unknown', async () => {
    const { sessionId } = (await (await start('here', 1)).json()) as { sessionId: string };
    const headers = { Authorization: `Bearer ${service.apiKey}` };
    const elsewhere = `${service.base}/api/v1/bucket/${service.bucket}/upload/${sessionId}`;
    expect(await refusal(await fetch(elsewhere, { headers }))).toEqual([404, 'NoSuchUpload']);
    expect((await send('GET', `upload/${sessionId}`)).status).toBe(200);
  });

  test('are limited in number, and an ended session makes room for another', async () => {
    const sessions: string[] = [];
    let response = await start('many', 1);
    while (response.status === 201 && sessions.length <= openUploadCountMax / 2) {
      sessions.push(((await response.json()) as { sessionId: string }).sessionId);
      response = await start('many', 1);
    }
    expect(response.headers.get('retry-after')).toMatch(/^\d+$/);
    expect(await refusal(response)).toEqual([429, 'SlowDown']);
    for (const session of sessions.slice(0, 2)) {
      expect((await send('DELETE', `upload/${session}`)).status).toBe(204);
    }
    expect((await start('many', 1)).status).toBe(201);
  });

  test('expire', async ({ skip }) => {
    skip(!canSetTime, 'the clock of this network cannot be set');
    const { sessionId } = (await (await start('late', 1)).json()) as { sessionId: string };
    const hour = 3_600_000_000_000n;
    await service.network.setTime(23n * hour);
    expect((await sendRaw('PUT', `upload/${sessionId}/chunk/0`, 'x')).status).toBe(200);
    await service.network.setTime(24n * hour);
    const late = await sendRaw('POST', `upload/${sessionId}/complete`);
    expect(await refusal(late)).toEqual([410, 'UploadExpired']);
    const status = await sendRaw('GET', `upload/${sessionId}`);
    expect(await refusal(status)).toEqual([410, 'UploadExpired']);
    const again = JSON.stringify({ path: 'room again', size: 1 });
    expect((await sendRaw('POST', 'upload/start', again)).status).toBe(201);
  });
});
