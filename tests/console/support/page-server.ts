// The built console and the service behind it, at one origin, with the policy that the canister
// sends. Stands in until the canister itself has the page at `/`.

import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';
import { lookup } from 'mime-types';
import { buildConsole } from '../../../scripts/console-build.ts';

const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' blob: data:",
  "media-src 'self' blob:",
  "font-src 'self'",
  "connect-src 'self' https://icp-api.io https://icp0.io https://*.icp0.io http://localhost:* http://*.localhost:*",
  "frame-src 'self' blob:",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

export interface PageServer {
  readonly url: string;
  /** From now on requests of the service go there. */
  serve(base: string): void;
  close(): Promise<void>;
}

/** `base`: the gateway's address of the service, which may change when that starts anew. */
export async function openPageServer(base: string, canisterId: string): Promise<PageServer> {
  const folder = await buildConsole();
  let target = base;
  const server = createServer((incoming, outgoing) => {
    const { pathname } = new URL(incoming.url ?? '/', 'http://page');
    const isService = /^\/(?:api|cloud|s)\//.test(pathname);
    if (isService) forward(target, incoming, outgoing);
    else void answerFile(folder, { pathname, canisterId }, outgoing);
  });
  await new Promise<void>((resolve) => server.listen(0, 'localhost', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://localhost:${port}`,
    serve(next) {
      target = next;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A service that is not there is a connection that breaks. */
function forward(target: string, incoming: IncomingMessage, outgoing: ServerResponse): void {
  const { method, headers, url } = incoming;
  const host = new URL(target).host;
  const sent = request(new URL(url ?? '/', target), { method, headers: { ...headers, host } });
  sent.on('response', (answer) => {
    outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(outgoing);
  });
  sent.on('error', () => outgoing.destroy());
  incoming.pipe(sent);
}

async function answerFile(
  folder: string,
  { pathname, canisterId }: { pathname: string; canisterId: string },
  outgoing: ServerResponse,
): Promise<void> {
  const path = pathname === '/' ? '/index.html' : pathname;
  try {
    const body = await readFile(join(folder, path));
    outgoing.writeHead(200, {
      'Content-Type': lookup(extname(path)) || 'application/octet-stream',
      'Content-Security-Policy': policy,
      'X-Content-Type-Options': 'nosniff',
      'x-ic-canister-id': canisterId,
    });
    outgoing.end(body);
  } catch {
    outgoing.writeHead(404).end();
  }
}
