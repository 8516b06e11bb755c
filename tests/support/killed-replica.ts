// A process with a replica on a folder, a counter and the service on it. Checks that all is there
// that was answered before, then counts and puts files in turn, and prints each number once it was
// answered, to be killed at any moment.

import { strictEqual } from 'node:assert';
import { writeSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { type Replica, startReplica } from '../../packages/replica/src/replica.ts';
import { deployLocally } from '../../scripts/local-service.ts';
import { type Answered, counterId, fileBytes } from './replica-kills.ts';

/** Fails when anything that was answered is not there. Returns how far the counter is. */
async function check(replica: Replica, url: string, answered: Answered): Promise<number> {
  const read = async (method: string) =>
    Buffer.from(await replica.query(counterId, method)).readInt32LE(0);
  const count = await read('heap');
  // The last one may have been durable before it could be printed.
  strictEqual(count === answered.count || count === answered.count + 1, true, `count ${count}`);
  strictEqual(await read('global'), count);
  strictEqual(await read('stable'), count);
  for (const file of answered.files.slice(-20)) {
    const response = await fetch(`${url}/cloud/demo/kept/${file}.bin`);
    strictEqual(response.status, 200, `file ${file}`);
    const bytes = Buffer.from(await response.arrayBuffer());
    strictEqual(bytes.equals(fileBytes(file)), true, `file ${file}`);
  }
  return count;
}

const [stateDir = '', wasmPath = '', answered = ''] = process.argv.slice(2);
const replica = await startReplica({ stateDir });
const wasm = new Uint8Array(await readFile(wasmPath));
const { url, apiKey } = await deployLocally({ replica, stateDir, wasm });
const headers = { Authorization: `Bearer ${apiKey}`, 'Content-Type': 'application/octet-stream' };
const found = await check(replica, url, JSON.parse(answered) as Answered);
strictEqual(
  replica.reports.some(({ kind }) => kind === 'postUpgrade'),
  false,
);
writeSync(1, `count ${found}\n`);

for (let count = found + 1; ; count += 1) {
  await replica.call(counterId, 'inc');
  writeSync(1, `count ${count}\n`);
  const place = `${url}/api/v1/bucket/demo/files/kept/${count}.bin`;
  const response = await fetch(place, { method: 'PUT', headers, body: fileBytes(count) });
  if (!response.ok) throw new Error(`put ${count}: ${response.status} ${await response.text()}`);
  writeSync(1, `file ${count}\n`);
}
