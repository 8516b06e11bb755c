// kill -9 at any moment: what was answered is there, and nothing is half-written.

import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { openDiskStore } from '../../../replica/persistence/disk-store.ts';
import { canisterIds, expectGeneration } from './generations.ts';

const directory = mkdtempSync(join(tmpdir(), 'replica-crash-'));
const state = join(directory, 'state');
const writer = fileURLToPath(new URL('./crash-writer.ts', import.meta.url));
const rounds = Number(process.env.EFS_CRASH_ROUNDS ?? 10);

afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** Runs the writer, kills it some time after its first line; returns the last number that it
 * printed. */
async function runAndKill(first: number, milliseconds: number): Promise<number> {
  const child = spawn(process.execPath, ['--import', 'tsx', writer, state, String(first)], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  let errors = '';
  child.stderr.on('data', (data) => {
    errors += String(data);
  });
  child.stdout.on('data', (data) => {
    if (output === '') setTimeout(() => child.kill('SIGKILL'), milliseconds);
    output += String(data);
  });
  const signal = await new Promise((resolve) => child.on('close', (_, name) => resolve(name)));
  expect(signal, errors).toBe('SIGKILL');
  const lines = output.split('\n').slice(0, -1);
  return Number(lines.at(-1) ?? 0);
}

function openAndCheck(): number {
  const store = openDiskStore(state);
  try {
    const records = store.load().map(({ record }) => Buffer.from(record).toString());
    expect(records).toHaveLength(canisterIds.length);
    expect(new Set(records).size).toBe(1);
    const generation = Number(records[0]?.split(' ')[1]);
    for (const id of canisterIds) expectGeneration(store.stableMemory(id), generation);
    return generation;
  } finally {
    store.close();
  }
}

test('a killed process loses no answered commit and leaves none half-written', async () => {
  let next = 1;
  for (let round = 0; round < rounds; round += 1) {
    const answered = await runAndKill(next, Math.random() * 120);
    expect(answered).toBeGreaterThanOrEqual(next);
    const found = openAndCheck();
    // The last commit may have been durable before it could be printed.
    expect(found === answered || found === answered + 1, `${found} after ${answered}`).toBe(true);
    next = found + 1;
  }
  expect(next).toBeGreaterThan(rounds);
}, 120_000);
