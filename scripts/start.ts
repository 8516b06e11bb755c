// `npm start`: builds if needed, starts the local replica, deploys the canister on it and says how
// to use it.

import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { MessageReport } from '../packages/replica/src/core.ts';
import { startReplica } from '../packages/replica/src/replica.ts';
import { buildCanister } from './build.ts';
import { deployLocally, type ServiceDescription } from './local-service.ts';

const usage = `Usage: npm start -- [options]
  --port N      port of the gateway and the agent endpoints (default 4943)
  --state DIR   folder that keeps the state (default .replica)
  --clean       start anew: delete the state first
  --allow-origin ORIGIN
                pages of this origin (https://example.org) may reach the agent endpoints, as those
                of localhost may; may be repeated
  --verbose     a line for each message: instructions, cycles, pages, milliseconds
  --help        this text`;

function readOptions() {
  const { values } = parseArgs({
    options: {
      port: { type: 'string', default: '4943' },
      state: { type: 'string', default: '.replica' },
      clean: { type: 'boolean', default: false },
      'allow-origin': { type: 'string', multiple: true, default: [] },
      verbose: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  const port = Number(values.port);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    throw new Error(`--port takes a number from 0 to 65535; got ${values.port}`);
  }
  return { ...values, port };
}

function formatReport(report: MessageReport): string {
  const { kind, method, instructions, cycles, heapPages, stablePages, milliseconds } = report;
  const millions = (value: bigint) => `${(Number(value) / 1e6).toFixed(1)} M`;
  const what = `${kind}${method === '' ? '' : ` ${method}`}`.padEnd(36);
  const cost = `${millions(instructions)} instructions, ${millions(cycles)} cycles`;
  const pages = `${heapPages} heap and ${stablePages} stable pages`;
  const failure = report.error === undefined ? '' : ` — ${report.error}`;
  return `${what} ${cost}, ${pages}, ${milliseconds.toFixed(1)} ms${failure}`;
}

function instructions(service: ServiceDescription): string {
  const { url, gateway, bucket, apiKey, canisterId } = service;
  const upload = `${url}/api/v1/bucket/${bucket}/files/README.md`;
  const key = `-H 'Authorization: Bearer ${apiKey}'`;
  return `
Gateway    ${gateway}
Canister   ${canisterId}
API key    ${apiKey}   (bucket ${bucket}; read, write, delete)

Put a file, get it back, look at its headers:

  curl -T README.md -H 'Content-Type: text/markdown' ${key} ${upload}
  curl ${url}/cloud/${bucket}/README.md
  curl -I ${gateway}/cloud/${bucket}/README.md

Ctrl-C stops the replica; its state stays for the next start.
`;
}

async function main(): Promise<void> {
  const options = readOptions();
  if (options.help) {
    console.log(usage);
    return;
  }
  const build = await buildCanister({ force: false });
  const stateDir = resolve(options.state);
  const replica = await startReplica({
    port: options.port,
    stateDir,
    clean: options.clean,
    allowedOrigins: options['allow-origin'],
    onPrint: (canisterId, text) => console.log(`[${canisterId}] ${text}`),
    ...(options.verbose && { onReport: (report) => console.log(formatReport(report)) }),
  });
  const wasm = new Uint8Array(await readFile(build.wasmPath));
  console.log(instructions(await deployLocally({ replica, stateDir, wasm })));
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      replica.stop().then(
        () => process.exit(0),
        (error) => fail(error),
      );
    });
  }
}

function fail(error: unknown): never {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}

main().catch(fail);
