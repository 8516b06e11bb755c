// `npm start` in a separate process behind a TCP proxy: it can be killed without warning and
// restarted with its state, and the connection can be cut. Its address does not change.

import { mkdtemp, rm } from 'node:fs/promises';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { copyPreparedState } from '../../support/prepared-state.ts';
import { startService } from '../../support/started-service.ts';

export interface KillableService {
  readonly host: string;
  readonly canisterId: string;
  readonly identityPem: string;
  /** Kills it (-9) and starts it again. */
  killAndStart(): Promise<void>;
  /** Cuts all connections, and refuses new connections for so many milliseconds. */
  cut(milliseconds: number): Promise<void>;
  stop(): Promise<void>;
}

export async function startKillableService(): Promise<KillableService> {
  const folder = await mkdtemp(join(tmpdir(), 'killable-'));
  await copyPreparedState(join(folder, 'state'));
  let running = await startService(folder);
  const wire = await openWire(() => Number(new URL(running.url).port));
  const { canisterId, identityPem } = running;
  return {
    host: `http://127.0.0.1:${wire.port}`,
    canisterId,
    identityPem,
    async killAndStart() {
      await running.kill();
      running = await startService(folder);
    },
    async cut(milliseconds) {
      wire.cut();
      await new Promise((resolve) => setTimeout(resolve, milliseconds));
      wire.mend();
    },
    async stop() {
      await wire.stop();
      await running.kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function openWire(targetPort: () => number) {
  const sockets = new Set<Socket>();
  let isCut = false;
  const server = createServer((client) => {
    if (isCut) {
      client.resetAndDestroy();
      return;
    }
    const service = connect(targetPort(), '127.0.0.1');
    for (const [socket, other] of [
      [client, service],
      [service, client],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        sockets.delete(socket);
        other.destroy();
      });
      socket.pipe(other);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const cut = () => {
    isCut = true;
    for (const socket of sockets) socket.resetAndDestroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    cut,
    mend() {
      isCut = false;
    },
    async stop() {
      cut();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
