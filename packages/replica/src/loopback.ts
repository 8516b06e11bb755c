// Listens on both loopback addresses with one port, because `localhost` resolves to either,
// depending on system and program.

import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Time limit for running answers when the server closes. */
const closeMilliseconds = 3_000;
const closePollMilliseconds = 20;
const freePortAttempts = 20;

export interface LoopbackServer {
  readonly port: number;
  /** Gives running answers a few seconds to finish, then closes every connection. */
  close(): Promise<void>;
}

interface Address {
  readonly host: string;
  readonly port: number;
}

/** Listens on 127.0.0.1 and, if available, ::1. Throws an Error with a remedy for a taken port. */
export async function listenOnLoopback(
  port: number,
  newServer: () => Server,
): Promise<LoopbackServer> {
  const attempts = port === 0 ? freePortAttempts : 1;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await listenOnBoth(port, newServer);
    } catch (error) {
      if (errorCode(error) !== 'EADDRINUSE' || attempt >= attempts) throw listenError(error, port);
    }
  }
}

async function listenOnBoth(wanted: number, newServer: () => Server): Promise<LoopbackServer> {
  const first = await listen(newServer(), { host: '127.0.0.1', port: wanted });
  const { port } = first.address() as AddressInfo;
  const servers = [first];
  try {
    servers.push(await listen(newServer(), { host: '::1', port }));
  } catch (error) {
    // A machine without IPv6 only uses IPv4.
    if (errorCode(error) === 'EADDRINUSE') {
      await closeServer(first);
      throw error;
    }
  }
  return {
    port,
    close: async () => {
      await Promise.all(servers.map(closeServer));
    },
  };
}

async function listen(server: Server, address: Address): Promise<Server> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ ...address, exclusive: true }, () => {
      server.off('error', reject);
      // For example too many open files: the connection is lost, the server continues.
      server.on('error', () => undefined);
      resolve();
    });
  });
  return server;
}

/** Closes idle connections repeatedly: Node keeps those that become idle while it is closing. */
async function closeServer(server: Server): Promise<void> {
  const idle = setInterval(() => server.closeIdleConnections(), closePollMilliseconds);
  const force = setTimeout(() => server.closeAllConnections(), closeMilliseconds);
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
  });
  clearInterval(idle);
  clearTimeout(force);
}

function listenError(error: unknown, port: number): Error {
  const code = errorCode(error);
  if (code === 'EADDRINUSE') {
    return new Error(
      `Port ${port} is in use. Stop the program that listens on it, or choose another with --port.`,
      { cause: error },
    );
  }
  if (code === 'EACCES') {
    return new Error(`Port ${port} may not be opened by this user; choose one above 1023.`, {
      cause: error,
    });
  }
  return error instanceof Error ? error : new Error(String(error));
}

/** Returns `code` of Node's system errors. */
export function errorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined;
}
