// A network that breaks: it forwards TCP connections, and cuts some of them at a random byte of the
// answer, by an orderly end or by a reset. It knows nothing of HTTP.

import type { AddressInfo } from 'node:net';
import { connect, createServer, type Socket } from 'node:net';
import { randomNumbers } from '../../support/random-numbers.ts';

export interface CutOptions {
  /** Port of the service on 127.0.0.1. */
  readonly port: number;
  readonly seed: number;
  /** Total number of connections to cut. */
  readonly cuts: number;
  /**
   * Minimum and maximum number of bytes after which a connection is cut; a shorter answer is not
   * cut.
   */
  readonly fromBytes: number;
  readonly toBytes: number;
  /** `either`: random for each cut. */
  readonly manner: 'end' | 'reset' | 'either';
}

export interface CuttingProxy {
  readonly port: number;
  /** Number of bytes after which each connection was cut. */
  readonly cutAt: readonly number[];
  /** Request lines and headers of all requests. */
  readonly requests: readonly string[];
  stop(): Promise<void>;
}

export async function startCuttingProxy(options: CutOptions): Promise<CuttingProxy> {
  const cutAt: number[] = [];
  const requests: string[] = [];
  const sockets = new Set<Socket>();
  const { fromBytes, toBytes } = options;
  const random = randomNumbers(options.seed);
  const server = createServer((client) => {
    const service = connect(options.port, '127.0.0.1');
    for (const socket of [client, service]) {
      sockets.add(socket);
      socket.on('close', () => sockets.delete(socket));
      socket.on('error', () => undefined);
    }
    client.on('data', (bytes) => {
      if (/^[A-Z]+ \//.test(bytes.toString('latin1', 0, 16))) requests.push(bytes.toString());
    });
    client.pipe(service);
    const place = fromBytes + random(toBytes - fromBytes);
    const isReset = options.manner === 'reset' || (options.manner === 'either' && random(2) === 1);
    passAnswers({ client, service }, (passed) => {
      if (cutAt.length >= options.cuts || passed < place) return undefined;
      cutAt.push(place);
      return { place, isReset };
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    cutAt,
    requests,
    async stop() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

interface Cut {
  readonly place: number;
  readonly isReset: boolean;
}

/** Passes answers on; before each write, `cutAfter` gets the number of bytes including it. */
function passAnswers(
  { client, service }: { readonly client: Socket; readonly service: Socket },
  cutAfter: (passed: number) => Cut | undefined,
): void {
  let passed = 0;
  service.on('data', (bytes: Buffer) => {
    const cut = cutAfter(passed + bytes.length);
    if (cut !== undefined) {
      service.destroy();
      service.removeAllListeners('data');
      client.write(bytes.subarray(0, cut.place - passed), () => {
        if (cut.isReset) client.resetAndDestroy();
        else client.destroySoon();
      });
      return;
    }
    passed += bytes.length;
    if (client.write(bytes)) return;
    service.pause();
    client.once('drain', () => service.resume());
  });
  service.on('end', () => client.end());
  client.on('close', () => service.destroy());
}
