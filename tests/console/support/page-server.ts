// A proxy between the browser and the service: its origin stays while the service ends and restarts
// elsewhere. Canisters have subdomains, as at a gateway.

import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface PageServer {
  readonly url: string;
  /** Method, address and headers of each request. */
  readonly requests: readonly string[];
  /** Forwards later requests to the address `base`. */
  serve(base: string): void;
  close(): Promise<void>;
}

/** `base`: the gateway's address of the canister that serves the page. */
export async function openPageServer(base: string): Promise<PageServer> {
  let target = base;
  const requests: string[] = [];
  const server = createServer((incoming, outgoing) => {
    const { method, url, rawHeaders } = incoming;
    requests.push(`${method} ${url} ${rawHeaders.join(' ')}`);
    forward(target, incoming, outgoing);
  });
  // If the server closed a connection during a request, the request would fail.
  server.keepAliveTimeout = 0;
  await new Promise<void>((resolve) => server.listen(0, 'localhost', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://localhost:${port}`,
    requests,
    serve(next) {
      target = next;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Forwards a request; without a service, breaks the connection. */
function forward(target: string, incoming: IncomingMessage, outgoing: ServerResponse): void {
  const { method, headers, url } = incoming;
  const { host: pageHost, port } = new URL(target);
  const [, canister] = /^([a-z0-9-]+)\.localhost/.exec(headers.host ?? '') ?? [];
  const host = canister === undefined ? pageHost : `${canister}.localhost:${port}`;
  // Not every system resolves names below localhost.
  const place = { host: 'localhost', port, path: url };
  // The service could close a reused connection during the request.
  const sent = request({ ...place, method, headers: { ...headers, host }, agent: false });
  sent.on('response', (answer) => {
    outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(outgoing);
  });
  sent.on('error', () => outgoing.destroy());
  incoming.pipe(sent);
}
