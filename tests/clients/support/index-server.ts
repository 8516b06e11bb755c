// Serves a folder page for clients that list before they download: it names one file, which
// redirects (302).

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface IndexServer {
  readonly url: string;
  stop(): Promise<void>;
}

export async function startIndexServer(name: string, location: string): Promise<IndexServer> {
  const server = createServer((request, response) => {
    if (request.url === `/${name}`) {
      response.writeHead(302, { Location: location }).end();
    } else {
      response.writeHead(200, { 'Content-Type': 'text/html' });
      response.end(`<html><a href="${name}">${name}</a></html>`);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
