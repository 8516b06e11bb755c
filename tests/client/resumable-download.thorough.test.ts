// Any HTTP client resumes a large public file after a broken connection: it requests the rest once
// (RFC 9110 §14.2, §13.1.5) and joins the bytes. Node's own two clients run against the service,
// and against a plain file server to validate the test.

import { createHash } from 'node:crypto';
import { get, type IncomingMessage } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startCuttingProxy } from '../clients/support/cutting-proxy.ts';
import { openTarget, type Target } from '../clients/support/target.ts';
import { seedOr } from '../support/seed.ts';

const seed = seedOr(20_261_120);

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: AsyncIterable<Uint8Array>;
}

type Client = (url: string, headers: Record<string, string>) => Promise<Answer>;

const clients: readonly (readonly [string, Client])[] = [
  [
    'fetch',
    async (url, headers) => {
      const answer = await fetch(url, { headers });
      // The body is iterable in Node, although the type library does not say so.
      const body = answer.body as unknown as AsyncIterable<Uint8Array>;
      return { status: answer.status, headers: Object.fromEntries(answer.headers), body };
    },
  ],
  [
    'node:http',
    async (url, headers) => {
      const response = await new Promise<IncomingMessage>((resolve, reject) => {
        get(url, { headers, agent: false }, resolve).on('error', reject);
      });
      return { status: response.statusCode ?? 0, headers: response.headers, body: response };
    },
  ],
];

/**
 * Returns the digest of the received bytes; there must be one more request than cut connections.
 */
async function download(client: Client, url: string, requests: number) {
  const hash = createHash('sha256');
  let received = 0;
  let whole: Answer['headers'] = {};
  for (let request = 0; request < requests; request += 1) {
    const etag = String(whole.etag);
    const rest = { range: `bytes=${received}-`, 'if-range': etag };
    const { status, headers, body } = await client(url, request === 0 ? {} : rest);
    if (request === 0) whole = headers;
    const total = Number(whole['content-length']);
    expect(status).toBe(request === 0 ? 200 : 206);
    expect(headers['content-length']).toBe(String(total - received));
    expect(headers.etag).toBe(whole.etag);
    if (request > 0) {
      expect(headers['content-range']).toBe(`bytes ${received}-${total - 1}/${total}`);
    }
    try {
      for await (const bytes of body) {
        hash.update(bytes);
        received += bytes.length;
      }
    } catch (error) {
      if (request + 1 === requests) throw error;
    }
  }
  return { received, sha256: hash.digest('hex') };
}

describe.each(['static', 'service'] as const)('GET /cloud with If-Range: target "%s"', (kind) => {
  let target: Target;
  beforeAll(async () => {
    target = await openTarget(kind);
  });
  afterAll(() => target?.stop());

  test.each(clients)(
    '%s continues after three interruptions and has the whole file',
    async (_, client) => {
      const { port, file } = target;
      // Cuts after at least a kilobyte, so that the head of each answer arrives.
      const where = { fromBytes: 1_024, toBytes: 6_000_000 };
      const proxy = await startCuttingProxy({ port, seed, cuts: 3, manner: 'end', ...where });
      try {
        const url = `http://127.0.0.1:${proxy.port}${file.path}`;
        const { received, sha256 } = await download(client, url, 4);
        expect(received, `with EFS_SEED=${seed}`).toBe(file.bytes.length);
        expect(sha256).toBe(file.sha256);
        expect(proxy.cutAt).toHaveLength(3);
      } finally {
        await proxy.stop();
      }
    },
  );
});
