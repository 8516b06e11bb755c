// `npm start`: builds if needed, starts the local replica, deploys a volume and its front on it and
// says how to use them.

import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { optionsUsage, readOptions } from '../packages/replica/src/command/options.ts';
import { startReplica } from '../packages/replica/src/replica.ts';
import { buildCanister } from './build.ts';
import { deployLocally, ownerKeyOf, type ServiceDescription } from './local-service.ts';

const usage = `Usage: npm start -- [options]
  --volumes N   number of canisters that store files, behind one front (default 1); with --subnets
                each new one is created on the next subnet
${optionsUsage}`;

/** As in src/limits.ts. */
const volumeCountMax = 16;

/** Returns the number of volumes that `--volumes N` asks for, and the other words. */
function takeVolumes(words: readonly string[]) {
  const place = words.indexOf('--volumes');
  if (place < 0) return { volumeCount: 1, others: words };
  const volumeCount = Number(words[place + 1]);
  if (!Number.isInteger(volumeCount) || volumeCount < 1 || volumeCount > volumeCountMax) {
    throw new Error(
      `--volumes must be a number from 1 to ${volumeCountMax}; got ${words[place + 1]}`,
    );
  }
  return { volumeCount, others: words.toSpliced(place, 2) };
}

/** A line about the volumes of a service that has several. */
function volumesLine(front: ServiceDescription['front']): string {
  const volumes = front?.volumes ?? [];
  return volumes.length < 2 ? '' : `Volumes    ${volumes.join(', ')}\n`;
}

function instructions(service: ServiceDescription): string {
  const { url, gateway, bucket, apiKey, canisterId, front, identityPem } = service;
  const consoleUrl = front?.gateway ?? gateway;
  const upload = `${url}/api/v1/bucket/${bucket}/files/README.md`;
  const key = `-H 'Authorization: Bearer ${apiKey}'`;
  const owner = `${consoleUrl}/#owner=${ownerKeyOf(identityPem)}`;
  return `
Gateway    ${gateway}
Canister   ${canisterId}
API key    ${apiKey}   (bucket ${bucket}; read, write, delete)
${volumesLine(front)}Console    ${owner}   (opens as the owner)

Put a file, get it back, look at its headers:

  curl -T README.md -H 'Content-Type: text/markdown' ${key} ${upload}
  curl ${url}/cloud/${bucket}/README.md
  curl -I ${gateway}/cloud/${bucket}/README.md

Ctrl-C stops the replica; its state stays for the next start.
`;
}

async function main(): Promise<void> {
  const { volumeCount, others } = takeVolumes(process.argv.slice(2));
  const options = readOptions(others, false);
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
  const asked = { replica, stateDir, wasm, onNote, hasFront: true, volumeCount };
  console.log(instructions(await deployLocally(asked)));
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
