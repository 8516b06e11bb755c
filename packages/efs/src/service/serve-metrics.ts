// `efs serve metrics`: a local HTTP server of the service's figures, for Prometheus.

import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { Command } from 'commander';
import { isLoopback } from '../../../client/src/connection/canister-address.ts';
import { familiesOf } from '../../../wire/src/metrics/families.ts';
import {
  contentTypes,
  type Family,
  formatFor,
  metricText,
} from '../../../wire/src/metrics/text.ts';
import { hasIdentity } from '../config/config.ts';
import { configurationOf, runOf } from '../config/flags.ts';
import { printLine, printNote } from '../output/output.ts';
import { UsageError } from '../output/usage-error.ts';
import { listen, parseListen } from './listen.ts';
import { openFigures } from './metric-figures.ts';

export interface MetricFlags {
  readonly listen: string;
}

/** Requests within this time get the same figures, so that many of them cost nothing. */
const freshMs = 5_000;

/** Runs until Ctrl-C. */
export async function serveMetrics(command: Command, flags: MetricFlags): Promise<void> {
  const address = parseListen(flags.listen, '127.0.0.1:9900');
  const configuration = configurationOf(command);
  const { signal } = runOf(command);
  const { host, front, canisterId = front } = configuration;
  if (host === undefined || canisterId === undefined || !hasIdentity(configuration)) {
    throw new UsageError(
      'The figures need the service and an identity: pass --host, --front or --canister-id, and ' +
        '--identity, or add a profile with them.',
    );
  }
  const { loadIdentity } = await import('../config/load-identity.ts');
  const { identity } = await loadIdentity(configuration);
  const hasFront = front !== undefined;
  const source = { host, canisterId: front ?? canisterId, hasFront, identity };
  const figures = await openFigures(source);
  const isLocal = isLoopback(`http://${flags.listen}`);
  const server = createMetricServer(
    fresh(async () => familiesOf(await figures())),
    { isLocal },
  );
  const url = await listen(server, address);
  printLine(`Metrics at ${url}/metrics`);
  if (!isLocal) printNote('Whoever reaches this address sees the names and sizes of buckets.');
  await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
}

/** Shares the figures among requests at the same time and shortly after. */
function fresh(collect: () => Promise<Family[]>): () => Promise<Family[]> {
  let known: Promise<Family[]> | undefined;
  let endMs = Number.POSITIVE_INFINITY;
  return () => {
    if (known === undefined || performance.now() >= endMs) {
      endMs = Number.POSITIVE_INFINITY;
      known = collect().finally(() => {
        endMs = performance.now() + freshMs;
      });
    }
    return known;
  };
}

interface Answer {
  readonly status: number;
  readonly type?: string;
  readonly text: string;
}

/** `isLocal`: refuses hosts other than this machine, by which a web page could read the answers. */
function createMetricServer(
  collect: () => Promise<Family[]>,
  { isLocal }: { readonly isLocal: boolean },
): Server {
  return createServer(async (request, response) => {
    const {
      status,
      type = contentTypes.prometheus,
      text,
    } = await answerTo(request, isLocal, collect);
    response.writeHead(status, {
      'Content-Type': type,
      'Content-Length': Buffer.byteLength(text),
      'Cache-Control': 'no-store',
      'X-Content-Type-Options': 'nosniff',
      ...(status === 405 && { Allow: 'GET, HEAD' }),
      Vary: 'Accept',
    });
    response.end(request.method === 'HEAD' ? undefined : text);
  });
}

async function answerTo(
  { method, url = '', headers }: IncomingMessage,
  isLocal: boolean,
  collect: () => Promise<Family[]>,
): Promise<Answer> {
  const { host = '', accept } = headers;
  if (isLocal && !isLoopback(`http://${host}`)) {
    const text = `The host ${JSON.stringify(host)} is not this machine: use 127.0.0.1 or localhost.\n`;
    return { status: 421, text };
  }
  if (method !== 'GET' && method !== 'HEAD') {
    return { status: 405, text: 'Only GET and HEAD are supported.\n' };
  }
  const [path] = url.split('?');
  if (path !== '/metrics') return { status: 404, text: 'The metrics are at /metrics.\n' };
  try {
    const format = formatFor(accept);
    return { status: 200, type: contentTypes[format], text: metricText(await collect(), format) };
  } catch (error) {
    printNote(`The figures could not be read: ${(error as Error).message}`);
    return { status: 503, text: 'The figures could not be read: see the output of efs.\n' };
  }
}
