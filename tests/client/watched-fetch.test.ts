// Time limits that restart with each byte, and the bytes that are reported meanwhile.

import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test, vi } from 'vitest';
import {
  type BodySender,
  type Fetch,
  fetchWhole,
} from '../../packages/client/src/connection/watched-fetch.ts';
import { streamSender } from '../../packages/client/src/node/body-sender.ts';

const address = 'http://service.test/';
const timeoutMs = 60_000;

afterEach(() => {
  vi.useRealTimers();
});

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Rejects as `fetch` does when the signal is aborted. */
function unlessAborted<T>(signal: AbortSignal | null | undefined, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal?.reason);
    signal?.addEventListener('abort', stop);
    work.then(resolve, reject).finally(() => signal?.removeEventListener('abort', stop));
  });
}

/** Sends a byte after each of these pauses. */
function trickling(pauses: readonly number[]): Fetch {
  return async (_, init) => {
    const left = [...pauses];
    const body = new ReadableStream<Uint8Array>({
      async pull(sink) {
        const ms = left.shift();
        if (ms === undefined) return sink.close();
        await unlessAborted(init?.signal, pause(ms));
        sink.enqueue(Uint8Array.of(1));
      },
    });
    return new Response(body);
  };
}

describe('fetchWhole', () => {
  test('waits for a response as long as bytes arrive', async () => {
    vi.useFakeTimers();
    const received: number[] = [];
    const response = fetchWhole({ fetch: trickling(Array(20).fill(50_000)), timeoutMs }, address, {
      onReceived: (bytes) => received.push(bytes),
    });
    await vi.advanceTimersByTimeAsync(20 * 50_000);
    expect((await response).bytes.length).toBe(20);
    expect(received).toEqual(Array.from({ length: 20 }, (_, index) => index + 1));
  });

  test('gives up after the time limit without a byte', async () => {
    vi.useFakeTimers();
    const fetch = trickling([50_000, 50_000, 70_000]);
    const response = fetchWhole({ fetch, timeoutMs }, address, {});
    const refused = expect(response).rejects.toMatchObject({
      code: 'Timeout',
      isRetryable: true,
      message: 'No byte of the request or its response moved for 60000 ms.',
    });
    await vi.advanceTimersByTimeAsync(160_001);
    await refused;
  });

  test('waits for a body as long as its sender reports bytes', async () => {
    vi.useFakeTimers();
    const body = new Uint8Array(1_000_000);
    const sendBody: BodySender = async (_, __, onSent) => {
      for (let sent = 0; sent < body.length; sent += 50_000) {
        await pause(50_000);
        onSent(sent);
      }
      return new Response('stored');
    };
    const sent: number[] = [];
    const fetch: Fetch = () => expect.fail('not by fetch');
    const onSent = (bytes: number) => sent.push(bytes);
    const response = fetchWhole({ fetch, sendBody, timeoutMs }, address, { body, onSent });
    await vi.advanceTimersByTimeAsync(20 * 50_000);
    expect((await response).status).toBe(200);
    expect(sent.slice(0, 3)).toEqual([0, 50_000, 100_000]);
    expect(sent.at(-1)).toBe(1_000_000);
  });

  test('allows for the time that a slow line takes for a body without progress reports', async () => {
    vi.useFakeTimers();
    const body = new Uint8Array(1_600_000);
    const answering =
      (ms: number): Fetch =>
      async (_, init) => {
        await unlessAborted(init?.signal, pause(ms));
        return new Response('stored');
      };
    const inTime = fetchWhole({ fetch: answering(155_000), timeoutMs }, address, { body });
    const late = fetchWhole({ fetch: answering(165_000), timeoutMs }, address, { body });
    const refused = expect(late).rejects.toMatchObject({ code: 'Timeout' });
    await vi.advanceTimersByTimeAsync(170_000);
    expect((await inTime).status).toBe(200);
    await refused;
  });
});

test('streamSender sends bytes and Blobs with their length, and reports sent bytes', async () => {
  const seen: { headers: IncomingHttpHeaders; bytes: number }[] = [];
  const server = createServer(async (request, response) => {
    let bytes = 0;
    for await (const piece of request) bytes += piece.length;
    seen.push({ headers: request.headers, bytes });
    response.end('stored');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const bytes = new Uint8Array(1_000_000);
  for (const body of [bytes, new Blob([bytes])]) {
    const sent: number[] = [];
    const init = { method: 'PUT', headers: { 'X-Kept': 'yes' }, body };
    const url = `http://127.0.0.1:${port}/`;
    const response = await streamSender(url, init, (count) => sent.push(count));
    expect(await response.text()).toBe('stored');
    expect(sent).toEqual([...sent].sort((one, other) => one - other));
    expect(sent.at(-1)).toBe(bytes.length);
    expect(seen.at(-1)).toMatchObject({
      bytes: bytes.length,
      headers: { 'content-length': '1000000', 'x-kept': 'yes' },
    });
    expect(seen.at(-1)?.headers['transfer-encoding']).toBeUndefined();
  }
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});
