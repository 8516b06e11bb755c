// A plain file server that answers ranges as RFC 9110 §14 requires. A client's test that fails with
// it is itself wrong.

import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ServedFile {
  readonly path: string;
  readonly contentType: string;
  readonly bytes: Uint8Array;
}

export interface StaticServer {
  readonly port: number;
  add(file: ServedFile): void;
  stop(): Promise<void>;
}

const exposed =
  'ETag, Content-Range, Content-Length, Accept-Ranges, Last-Modified, Content-Disposition';
const lastModified = new Date(1_760_000_000_000).toUTCString();

export async function startStaticServer(): Promise<StaticServer> {
  const files = new Map<string, ServedFile & { readonly etag: string }>();
  const server = createServer((request, response) => {
    const file = files.get(request.url ?? '');
    if (request.method === 'OPTIONS') answerPreflight(response);
    else if (file === undefined) response.writeHead(404).end();
    else answer(request, response, file);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    add(file) {
      const etag = `"${createHash('sha256').update(file.bytes).digest('hex')}"`;
      files.set(file.path, { ...file, etag });
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function answerPreflight(response: ServerResponse): void {
  response
    .writeHead(204, {
      'Access-Control-Allow-Origin': '*',
      'Access-Control-Allow-Headers': 'Range, If-Range, If-None-Match',
    })
    .end();
}

function answer(
  request: IncomingMessage,
  response: ServerResponse,
  { path, bytes, etag, contentType }: ServedFile & { readonly etag: string },
): void {
  const { range = '', 'if-range': ifRange = etag } = request.headers;
  const [, first, last] = /^bytes=(\d+)-(\d*)$/.exec(range) ?? [];
  const isRange = first !== undefined && ifRange === etag;
  const start = isRange ? Number(first) : 0;
  const end = isRange && last ? Math.min(Number(last) + 1, bytes.length) : bytes.length;
  const headers = {
    'Content-Type': contentType,
    'Content-Disposition': `inline; filename="${path.split('/').at(-1)}"`,
    'Accept-Ranges': 'bytes',
    ETag: etag,
    'Last-Modified': lastModified,
    'Access-Control-Allow-Origin': '*',
    'Access-Control-Expose-Headers': exposed,
  };
  if (start >= end) {
    response.writeHead(416, { ...headers, 'Content-Range': `bytes */${bytes.length}` }).end();
    return;
  }
  response.writeHead(isRange ? 206 : 200, {
    ...headers,
    'Content-Length': end - start,
    ...(isRange && { 'Content-Range': `bytes ${start}-${end - 1}/${bytes.length}` }),
  });
  if (request.method === 'HEAD') response.end();
  else response.end(bytes.subarray(start, end));
}
