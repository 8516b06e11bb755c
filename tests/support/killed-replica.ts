// A process that runs a replica on a folder with the service and all participants, to be killed at
// any moment. It checks that everything that was answered before still exists, then runs a step of
// each participant in turn, and prints each step after its answer.

import { strictEqual } from 'node:assert';
import { writeSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { startReplica } from '../../packages/replica/src/replica.ts';
import { deployLocally } from '../../scripts/local-service.ts';
import { participants } from './kill-participants.ts';
import type { Answered } from './replica-kills.ts';

const [stateDir = '', wasmPath = '', words = '{}'] = process.argv.slice(2);
const answered = JSON.parse(words) as Answered;
const replica = await startReplica({ stateDir });
const wasm = new Uint8Array(await readFile(wasmPath));
const { url, apiKey } = await deployLocally({ replica, stateDir, wasm });
const run = { replica, url, apiKey };
let count = 0;
for (const { name, check } of participants) {
  const found = await check(run, answered[name] ?? []);
  count = Math.max(count, found);
}
strictEqual(
  replica.reports.some(({ kind }) => kind === 'postUpgrade'),
  false,
);
writeSync(1, 'checked\n');

for (;;) {
  count += 1;
  for (const { name, step } of participants) {
    writeSync(1, `${name} ${await step(run, count)}\n`);
  }
}
