// A node that answers every HTTP request for a change as if it had been executed, but executes no
// change. It forwards reads and the calls of agents, whose replies it cannot forge.

import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { etagOf } from '../../packages/client/src/bytes/digest.ts';
import { sha256 } from '../../packages/client/src/bytes/sha256.ts';

export interface LyingGateway {
  readonly url: string;
  /** Method and path of the requests that were not executed. */
  readonly lies: string[];
  stop(): Promise<void>;
}

interface Asked {
  readonly method: string;
  readonly path: string;
  readonly type: string;
  readonly body: Uint8Array;
}

export async function startLyingGateway(base: string): Promise<LyingGateway> {
  const lies: string[] = [];
  /** Digests of the chunks of the upload; clients run one upload at a time. */
  let digests: Uint8Array[] = [];

  async function lie({ method, path, type, body }: Asked): Promise<unknown> {
    if (path.includes('/versions')) return { erased: 1, isDone: true };
    if (method === 'DELETE') return undefined;
    const record = async (bytes: Uint8Array) => ({ etag: await etagOf([await sha256(bytes)]) });
    if (method === 'PUT' && path.includes('/chunk/')) {
      const digest = await sha256(body);
      digests[Number(path.split('/').at(-1))] = digest;
      return { sha256: Buffer.from(digest).toString('hex') };
    }
    if (method === 'PUT') return record(body);
    if (type.startsWith('multipart/')) {
      const files = partsOf(body, type).map(async (bytes) => ({ file: await record(bytes) }));
      return { items: await Promise.all(files) };
    }
    const sent = JSON.parse(Buffer.from(body).toString() || '{}');
    if (path.endsWith('/upload/start')) {
      digests = [];
      const { size, chunkSize } = sent;
      const session = { uploadId: randomUUID(), status: 'active', chunkSize, totalSize: size };
      return { ...session, receivedChunks: 0, missing: [] };
    }
    if (path.endsWith('/complete')) return { etag: await etagOf(digests) };
    if (path.endsWith('/delete')) {
      const { paths = ['gone'] } = sent as { paths?: string[] };
      return { results: paths.map((each) => ({ path: each })), nextCursor: null };
    }
    if (path.endsWith('/links')) {
      const id = 'A'.repeat(16);
      return { id, url: `/s/${id}/${sent.path.split('/').at(-1)}?k=${'A'.repeat(22)}` };
    }
    if ('fromPrefix' in sent) return { moved: 1, isDone: true, failed: [] };
    return record(body);
  }

  const server = createServer(async (request, response) => {
    const { method = 'GET', url = '' } = request;
    const body = await bytesOf(request);
    const path = url.split('?', 1)[0] ?? '';
    const isCall = /^\/api\/v[234]\//.test(path);
    // Clients measure the speed of the line by a request without rights
    const isRead = ['GET', 'HEAD'].includes(method) || path === '/cloud/';
    if (!isCall && !isRead) {
      lies.push(`${method} ${path}`);
      const type = request.headers['content-type'] ?? '';
      const answer = await lie({ method, path, type, body });
      const isEmpty = answer === undefined;
      response.writeHead(isEmpty ? 204 : 200, { 'content-type': 'application/json' });
      response.end(isEmpty ? undefined : JSON.stringify(answer));
      return;
    }
    const { host: _, connection: __, ...headers } = request.headers;
    const answer = await fetch(base + url, {
      method,
      headers: headers as Record<string, string>,
      ...(body.length > 0 && { body: body as BodyInit }),
    });
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    response.end(new Uint8Array(await answer.arrayBuffer()));
  });
  await new Promise<void>((resolve) => server.listen(0, 'localhost', resolve));
  return {
    url: `http://localhost:${(server.address() as AddressInfo).port}`,
    lies,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function bytesOf(request: IncomingMessage): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  for await (const piece of request) pieces.push(piece as Uint8Array);
  return new Uint8Array(Buffer.concat(pieces));
}

/** Returns the bytes of the parts of a form (RFC 7578). */
function partsOf(body: Uint8Array, type: string): Uint8Array[] {
  const [, boundary = ''] = /boundary="?([^";]+)/.exec(type) ?? [];
  // Latin-1 keeps each byte as one character
  const parts = Buffer.from(body).toString('latin1').split(`--${boundary}`).slice(1, -1);
  return parts.map((part) => {
    return new Uint8Array(Buffer.from(part.slice(part.indexOf('\r\n\r\n') + 4, -2), 'latin1'));
  });
}
