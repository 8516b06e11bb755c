// `npm start`: builds if needed, starts the local replica, deploys a volume and its front on it and
// says how to use them.

import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { optionsUsage, readOptions } from '../packages/replica/src/command/options.ts';
import { startReplica } from '../packages/replica/src/replica.ts';
import { buildCanister } from './build.ts';
import { deployLocally, ownerKeyOf, type ServiceDescription } from './local-service.ts';

const usage = `Usage: npm start -- [options]
${optionsUsage}`;

function instructions(service: ServiceDescription): string {
  const { url, gateway, bucket, apiKey, canisterId, front, identityPem } = service;
  const consoleUrl = front?.gateway ?? gateway;
  const upload = `${url}/api/v1/bucket/${bucket}/files/README.md`;
  const key = `-H 'Authorization: Bearer ${apiKey}'`;
  return `
Gateway    ${gateway}
Canister   ${canisterId}
API key    ${apiKey}   (bucket ${bucket}; read, write, delete)
Console    ${consoleUrl}/#owner=${ownerKeyOf(identityPem)}   (opens as the owner)

Put a file, get it back, look at its headers:

  curl -T README.md -H 'Content-Type: text/markdown' ${key} ${upload}
  curl ${url}/cloud/${bucket}/README.md
  curl -I ${gateway}/cloud/${bucket}/README.md

Ctrl-C stops the replica; its state stays for the next start.
`;
}

async function main(): Promise<void> {
  const options = readOptions(process.argv.slice(2), false);
  if (options.isHelp) {
    console.log(usage);
    return;
  }
  const build = await buildCanister({ force: false, onStep: (step) => console.log(step) });
  const stateDir = resolve(options.stateDir);
  console.log('Starting the local replica …');
  const replica = await startReplica({ ...options.replica, stateDir });
  const wasm = new Uint8Array(await readFile(build.wasmPath));
  const onNote = (sentence: string) => console.log(sentence);
  console.log(
    instructions(await deployLocally({ replica, stateDir, wasm, onNote, hasFront: true })),
  );
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
