// The HTTP server by itself: ports, addresses, routes, closing.

import { once } from 'node:events';
import { request } from 'node:http';
import { connect, createServer } from 'node:net';
import { Principal } from '@dfinity/principal';
import { afterEach, describe, expect, it } from 'vitest';
import { createGateway, type GatewayOptions } from '../../packages/replica/src/gateway/gateway.ts';
import type { ApiRequest } from '../../packages/replica/src/http-server.ts';
import { startHttpServer } from '../../packages/replica/src/http-server.ts';
import type { LoopbackServer } from '../../packages/replica/src/loopback.ts';
import { type ClientTimes, mainnetProfile } from '../../packages/replica/src/network/profile.ts';
import { sendRequest } from '../support/gateway-canister/send-request.ts';

const servers: LoopbackServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

interface Started {
  readonly seen?: ApiRequest[];
  readonly clientTimes?: ClientTimes;
}

async function start(port = 0, { seen = [], clientTimes }: Started = {}): Promise<LoopbackServer> {
  const server = await startHttpServer({
    port,
    clientTimes,
    allowedOrigins: new Set(['https://tools.example']),
    gateway: {
      handle: async ({ url }, response) => {
        response.end(url === '/large' ? new Uint8Array(50_000_000) : 'gateway');
      },
    },
    handleApi: async (request) => {
      seen.push(request);
      return { status: 202, contentType: 'application/cbor', body: new Uint8Array(0) };
    },
  });
  servers.push(server);
  return server;
}

describe('startHttpServer()', () => {
  it('serves on both loopback addresses', async () => {
    const { port } = await start();
    for (const address of ['127.0.0.1', '[::1]']) {
      const response = await fetch(`http://${address}:${port}/health`);
      expect(response.status).toBe(200);
    }
  });

  it('reports a port in use, and what to do', async () => {
    const { port } = await start();
    await expect(start(port)).rejects.toThrow(`Port ${port} is in use.`);
    await expect(start(port)).rejects.toThrow('--port');
  });

  it('also reports it if only the IPv6 port is in use, and releases the other', async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen({ host: '::1', port: 0 }, resolve));
    const address = taken.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    await expect(start(port)).rejects.toThrow('in use');
    await new Promise((resolve) => taken.close(resolve));
    expect((await start(port)).port).toBe(port);
  });

  it("separates agents' requests from canisters'", async () => {
    const seen: ApiRequest[] = [];
    const { port } = await start(0, { seen });
    const body = Uint8Array.of(1, 2, 3);
    const call = '/api/v3/canister/aaaaa-aa/call';
    const answer = await sendRequest({
      port,
      host: 'localhost',
      path: `${call}?x`,
      method: 'POST',
      body,
    });
    expect([answer.status, answer.headers['content-type']]).toEqual([202, 'application/cbor']);
    expect(answer.headers['access-control-allow-origin']).toBe('*');
    expect(seen).toEqual([{ method: 'POST', path: call, body }]);
    const own = await sendRequest({ port, host: 'localhost', path: '/api/v1/buckets' });
    expect(own.body.toString()).toBe('gateway');
  });

  it('answers preflight requests before calls', async () => {
    const { port } = await start();
    const sent = { port, host: 'localhost', path: '/api/v2/status', method: 'OPTIONS' };
    const { status, headers } = await sendRequest(sent);
    expect(status).toBe(200);
    expect(headers['access-control-allow-methods']).toContain('POST');
  });

  describe.each([
    ['/api/v2/status', 'GET'],
    ['/api/v2/status', 'OPTIONS'],
    ['/api/v2/canister/aaaaa-aa/query', 'POST'],
    ['/api/v3/canister/aaaaa-aa/call', 'POST'],
    ['/api/v4/canister/aaaaa-aa/call', 'OPTIONS'],
    ['/api/v3/canister/aaaaa-aa/read_state', 'POST'],
  ])('at %s, asked by %s,', (path, method) => {
    const asked = async (host: string, origin?: string) => {
      const seen: ApiRequest[] = [];
      const { port } = await start(0, { seen });
      const headers = { host, ...(origin !== undefined && { origin }) };
      const {
        status,
        headers: got,
        body,
      } = await sendRequest({ port, host, path, method, headers });
      return { status, cors: got['access-control-allow-origin'], said: body.toString(), seen };
    };

    it.each<[string, string | undefined]>([
      ['localhost:4943', undefined],
      ['LOCALHOST', undefined],
      ['127.0.0.1:80', undefined],
      ['[::1]:4943', undefined],
      ['rrkah-fqaaa-aaaaa-aaaaq-cai.localhost:4943', undefined],
      ['localhost:4943', 'http://localhost:5173'],
      ['localhost:4943', 'https://127.0.0.1'],
      ['localhost:4943', 'http://[::1]:4943'],
      ['localhost:4943', 'http://rrkah-fqaaa-aaaaa-aaaaq-cai.localhost:4943'],
      ['localhost:4943', 'https://tools.example'],
    ])('accepts a caller of host %s and origin %s', async (host, origin) => {
      const { status, cors } = await asked(host, origin);
      expect([status, cors]).toEqual([method === 'OPTIONS' ? 200 : 202, '*']);
    });

    it.each<[string, string | undefined]>([
      ['evil.example:4943', undefined],
      ['localhost.evil.example', undefined],
      ['evillocalhost', undefined],
      ['.localhost', undefined],
      ['192.168.0.1:4943', undefined],
      ['evil.example:4943', 'http://localhost:4943'],
      ['localhost:4943', 'null'],
      ['localhost:4943', ''],
      ['localhost:4943', 'https://evil.example'],
      ['localhost:4943', 'https://localhost.evil.example'],
      ['localhost:4943', 'http://localhost@evil.example'],
      ['localhost:4943', 'https://tools.example:8443'],
      ['localhost:4943', 'http://tools.example'],
      ['localhost:4943', 'file://localhost'],
      ['localhost:4943', 'http://localhost, https://evil.example'],
    ])('refuses a caller of host %s and origin %s with a reason', async (host, origin) => {
      const { status, cors, said, seen } = await asked(host, origin);
      expect([status, cors, seen]).toEqual([403, undefined, []]);
      expect(said).toMatch(/agent endpoints.* localhost/);
    });
  });

  it('does not check the origin of requests to canisters', async () => {
    const { port } = await start();
    const headers = { origin: 'https://evil.example' };
    expect((await sendRequest({ port, host: 'localhost', path: '/', headers })).status).toBe(200);
  });

  it('refuses an agent body above 5 MiB', async () => {
    const { port } = await start();
    const body = new Uint8Array(5 * 1_048_576 + 1);
    const path = '/api/v2/canister/aaaaa-aa/call';
    const { status } = await sendRequest({ port, host: 'localhost', path, method: 'POST', body });
    expect(status).toBe(413);
  });

  it('refuses an agent body that does not arrive in time', async () => {
    const clientTimes = { bodyMs: 10, apiBodyMs: 10, writeStallMs: 60_000 };
    const { port } = await start(0, { clientTimes });
    const path = '/api/v2/canister/aaaaa-aa/call';
    const headers = { 'content-length': 100 };
    const sent = request({ port, host: '127.0.0.1', path, method: 'POST', headers });
    const answered = once(sent, 'response');
    sent.write('half of it');
    const [{ statusCode, headers: fields }] = await answered;
    // Otherwise the next request would follow the unread rest of this one.
    expect([statusCode, fields.connection]).toEqual([408, 'close']);
    sent.destroy();
  });

  it('refuses a body for a canister that is incomplete at the time limit, even if bytes still arrive', async () => {
    const canisterId = Principal.fromText('rwlgt-iiaaa-aaaaa-aaaaa-cai');
    const { clientTimes } = mainnetProfile;
    const gateway = createGateway({
      // A late body reaches no canister.
      engine: { canister: () => ({}) } as unknown as GatewayOptions['engine'],
      rootKey: new Uint8Array(0),
      servesHttp: () => true,
      plainCanister: () => canisterId,
      bodyMs: clientTimes.bodyMs / 1_000,
    });
    const server = await startHttpServer({
      ...{ port: 0, gateway, clientTimes, allowedOrigins: new Set<string>() },
      handleApi: () => Promise.reject(new Error('no call')),
    });
    servers.push(server);
    const headers = { 'content-length': 10_000_000, host: 'localhost' };
    const sent = request({ port: server.port, host: '127.0.0.1', method: 'PUT', headers });
    const answered = once(sent, 'response');
    const trickle = setInterval(() => sent.write('x'), 1);
    const [{ statusCode, headers: fields }] = await answered;
    clearInterval(trickle);
    sent.destroy();
    expect([statusCode, fields.connection]).toEqual([408, 'close']);
    expect(clientTimes).toEqual({ bodyMs: 60_000, apiBodyMs: 30_000, writeStallMs: 30_000 });
  });

  it('disconnects a client that reads nothing of its answer for too long', async () => {
    const clientTimes = { bodyMs: 60_000, apiBodyMs: 60_000, writeStallMs: 50 };
    const { port } = await start(0, { clientTimes });
    const socket = connect(port, '127.0.0.1');
    socket.write('GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await new Promise((resolve) => socket.once('readable', resolve));
    // Longer than the server reads.
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    let bytes = 0;
    socket.on('data', (piece) => {
      bytes += piece.length;
    });
    await new Promise((resolve) => socket.once('close', resolve));
    expect(bytes).toBeLessThan(50_000_000);
  });

  it('closes despite idle connections', async () => {
    const server = await start();
    await (await fetch(`http://127.0.0.1:${server.port}/health`)).text();
    // A connection that no timeout ends.
    const idle = connect(server.port, '127.0.0.1');
    idle.on('error', () => undefined);
    await once(idle, 'connect');
    await server.close();
    await expect(fetch(`http://127.0.0.1:${server.port}/health`)).rejects.toThrow();
  });
});
