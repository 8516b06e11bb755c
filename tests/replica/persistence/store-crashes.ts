// SIGKILL at any moment of a process that commits: every acknowledged commit is present, and none
// is partial.

import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { openDiskStore } from '../../../packages/replica/src/persistence/disk-store.ts';
import { randomNumbers } from '../../support/random-numbers.ts';
import { seedOr } from '../../support/seed.ts';
import { canisterIds, expectGeneration } from './generations.ts';

const writer = fileURLToPath(new URL('./crash-writer.ts', import.meta.url));

interface Run {
  readonly state: string;
  readonly first: number;
  readonly milliseconds: number;
}

/**
 * Starts the writer, kills it some time after its first line, and returns the last number it
 * printed.
 */
async function runAndKill({ state, first, milliseconds }: Run): Promise<number> {
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

function openAndCheck(state: string): number {
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

/** Kills the writer `rounds` times; no answered commit may be lost. */
export async function crashStore(rounds: number): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'replica-crash-'));
  const state = join(directory, 'state');
  try {
    const random = randomNumbers(seedOr(1));
    let next = 1;
    for (let round = 0; round < rounds; round += 1) {
      const run = { state, first: next, milliseconds: random(120) };
      const answered = await runAndKill(run);
      expect(answered).toBeGreaterThanOrEqual(next);
      const found = openAndCheck(state);
      // The last commit may be durable although its number was not printed.
      expect([answered, answered + 1], `${found} after ${answered}`).toContain(found);
      next = found + 1;
    }
    expect(next).toBeGreaterThan(rounds);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
