// The address of a local server: parses `--listen`, and listens there.

import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { UsageError } from '../output/usage-error.ts';

export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

export function parseListen(text: string, example: string): ListenAddress {
  const [, host = '', digits = ''] = /^(.+):(\d{1,5})$/.exec(text) ?? [];
  const port = Number(digits);
  if (host !== '' && port <= 65_535) return { host: host.replace(/^\[(.*)\]$/, '$1'), port };
  throw new UsageError(`--listen must be host:port, such as ${example}; got ${text}.`);
}

/** Returns the address with the port that the server has in the end. */
export async function listen(server: Server, { host, port }: ListenAddress): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const isTaken = error.code === 'EADDRINUSE';
      const words = isTaken ? 'another program listens there: give --listen' : error.message;
      reject(new UsageError(`Cannot listen at ${host}:${port}: ${words}.`));
    });
    server.listen(port, host, resolve);
  });
  const { address, family, port: actual } = server.address() as AddressInfo;
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${actual}`;
}
