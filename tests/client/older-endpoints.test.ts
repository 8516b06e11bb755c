// Hosts that lack the newest endpoints for agents.

import { createServer, type Server, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { identityFromPem } from '../../packages/client/src/node/identity.ts';
import { createStorage } from '../../packages/client/src/storage.ts';
import { openService, type Service, sampleBytes } from '../support/service.ts';

let service: Service;
let older: Server;
let host: string;
const forwarded = new Set<string>();
let has = /^$/;

beforeAll(async () => {
  service = await openService({});
  older = createServer((request, response) => {
    const url = request.url ?? '';
    if (!has.test(url)) return void request.resume().on('end', () => response.writeHead(404).end());
    forwarded.add(url.replace(/canister\/[^/]+/, '…'));
    const { port } = new URL(service.host);
    const options = { host: '127.0.0.1', port, path: url, method: request.method };
    const headers = { ...request.headers, host: `localhost:${port}` };
    const onward = send({ ...options, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 0, answer.headers);
      answer.pipe(response);
    });
    request.pipe(onward);
  });
  await new Promise<void>((resolve) => older.listen(0, '127.0.0.1', resolve));
  host = `http://127.0.0.1:${(older.address() as AddressInfo).port}`;
});
afterAll(async () => {
  older?.close();
  await service?.stop();
});

function storageAt() {
  const identity = identityFromPem(service.identityPem);
  return createStorage({ host, canisterId: service.canisterId, identity });
}

describe('createStorage()', () => {
  test.each([
    ['v3 calls and v2 queries', /\/api\/v(?:2|3(?=.*\/call$))\//, '/api/v3/…/call'],
    ['v2 only', /\/api\/v2\//, '/api/v2/…/call'],
  ])('works at a host with %s', async (_, endpoints, call) => {
    has = endpoints;
    forwarded.clear();
    const storage = storageAt();
    const path = `older${call.length}${call.charAt(6)}.bin`;
    const bytes = sampleBytes(path, 200_000);
    await storage.upload(bytes, { bucket: 'demo', path });
    const file = await storage.download({ bucket: 'demo', path });
    expect(Buffer.compare(Buffer.from(await file.bytes()), Buffer.from(bytes))).toBe(0);
    expect([...forwarded]).toEqual(expect.arrayContaining([call, '/api/v2/…/query']));
    expect([...forwarded].filter((url) => /v4|v3\/…\/(query|read_state)/.test(url))).toEqual([]);
  });

  test('reports status and URL of a host without endpoints for agents', async () => {
    has = /\/api\/v2\/status$/;
    const retry = { attemptsMax: 1, delayMsMin: 1, delayMsMax: 1 };
    const { canisterId } = service;
    const storage = createStorage({ host, canisterId, retry });
    await expect(storage.status()).rejects.toMatchObject({
      code: 'HttpError',
      status: 404,
      message:
        `${host}/api/v2/canister/${canisterId}/query answered 404 (no content type): this host ` +
        'has no endpoints for agents. Use https://icp-api.io for the Internet Computer, or the ' +
        'address of a replica.',
    });
  });
});
