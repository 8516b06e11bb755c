// Local replicas in a process of their own, behind the paths of a PocketIC server that
// `instances.ts` calls: tests judge our replica over HTTP as they judge PocketIC. Prints the URL of
// the server, and ends with the process that started it.

import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { type Replica, startReplica } from '../../../packages/replica/src/replica.ts';

interface RunningReplica {
  readonly replica: Replica;
  now(): bigint;
  setTime(ns: bigint): void;
  stop(): Promise<void>;
}

/** Milliseconds between rounds, which run the timers that are due. */
const roundMs = 50;

const running: RunningReplica[] = [];

async function start(): Promise<RunningReplica> {
  let leadNs = 0n;
  const now = () => BigInt(Date.now()) * 1_000_000n + leadNs;
  const replica = await startReplica({ now });
  let round = Promise.resolve();
  const rounds = setInterval(() => {
    round = round.then(() => replica.tick());
  }, roundMs);
  return {
    ...{ replica, now },
    setTime(ns) {
      leadNs += ns - now();
    },
    async stop() {
      clearInterval(rounds);
      await round;
      await replica.stop();
    },
  };
}

async function answerTo({ method, url = '' }: IncomingMessage, body: string): Promise<string> {
  const [, number = '', action = ''] = /^\/instances\/(\d+)(\/.*)?$/.exec(url) ?? [];
  if (url === '/instances') {
    running.push(await start());
    return JSON.stringify({ Created: { instance_id: running.length - 1 } });
  }
  if (url === '/http_gateway') {
    const { forward_to: target } = JSON.parse(body) as { forward_to: { PocketIcInstance: number } };
    const port = running[target.PocketIcInstance]?.replica.port;
    return JSON.stringify({ Created: { instance_id: target.PocketIcInstance, port } });
  }
  const one = running[Number(number)];
  if (one === undefined || action === '/auto_progress') return 'null';
  if (method === 'DELETE') await one.stop();
  if (action === '/read/get_time') return `{"nanos_since_epoch":${one.now()}}`;
  if (action === '/update/set_time') one.setTime(BigInt(/\d+/.exec(body)?.[0] ?? '0'));
  return 'null';
}

// Clients end idle connections: a server that does so may meet the next request.
const server = createServer({ keepAliveTimeout: 0 }, async (asked, answer) => {
  try {
    const shown = await answerTo(asked, await text(asked));
    answer.setHeader('Content-Type', 'application/json').end(shown);
  } catch (error) {
    answer.statusCode = 500;
    answer.end(JSON.stringify({ message: String(error) }));
  }
});
server.listen(0, '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
process.stdin.on('end', () => process.exit()).resume();
