// A process with a replica on a folder, a counter and the service on it: counts and puts files in
// turn, and prints each number once it was answered, to be killed at any moment.

import { writeSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { startReplica } from '../../packages/replica/src/replica.ts';
import { deployLocally } from '../../scripts/local-service.ts';
import { counterId, fileBytes } from './replica-kills.ts';

const [stateDir = '', wasmPath = '', first = '1'] = process.argv.slice(2);
const replica = await startReplica({ stateDir });
const wasm = new Uint8Array(await readFile(wasmPath));
const { url, apiKey } = await deployLocally({ replica, stateDir, wasm });
const headers = { Authorization: `Bearer ${apiKey}`, 'Content-Type': 'application/octet-stream' };

for (let count = Number(first); ; count += 1) {
  await replica.call(counterId, 'inc');
  writeSync(1, `count ${count}\n`);
  const place = `${url}/api/v1/bucket/demo/files/kept/${count}.bin`;
  const response = await fetch(place, { method: 'PUT', headers, body: fileBytes(count) });
  if (!response.ok) throw new Error(`put ${count}: ${response.status} ${await response.text()}`);
  writeSync(1, `file ${count}\n`);
}
