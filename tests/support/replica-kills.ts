// Kills (-9) a replica with several active canisters: everything that was answered must exist after
// the restart, and no post_upgrade may have run.

import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { startReplica } from '../../packages/replica/src/replica.ts';
import { buildCanister } from '../../scripts/build.ts';
import { participants } from './kill-participants.ts';
import { copyPreparedState } from './prepared-state.ts';
import { randomNumbers } from './random-numbers.ts';
import { seedOr } from './seed.ts';

const writer = fileURLToPath(new URL('./killed-replica.ts', import.meta.url));
const keptSteps = 20;

/** The newest answered steps of each participant, oldest first. */
export type Answered = Readonly<Record<string, readonly number[]>>;

/**
 * Runs the writer and kills it once it has printed `checked` and at least `lines` answered steps.
 */
async function runAndKill(run: {
  readonly words: readonly string[];
  readonly lines: number;
}): Promise<Answered> {
  const words = ['--import', 'tsx', writer, ...run.words];
  const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'pipe'] });
  let [output, errors] = ['', ''];
  child.stderr.on('data', (data) => {
    errors += String(data);
  });
  child.stdout.on('data', (data) => {
    output += String(data);
    if (output.split('\n').length > 1 + run.lines) child.kill('SIGKILL');
  });
  const signal = await new Promise((resolve) => child.on('close', (_, name) => resolve(name)));
  expect(signal, errors).toBe('SIGKILL');
  // Text after the last line break is an incomplete line.
  const lines = output.split('\n').slice(0, -1);
  const stepsOf = (name: string) =>
    lines.filter((line) => line.startsWith(`${name} `)).map((line) => Number(line.split(' ')[1]));
  return Object.fromEntries(participants.map(({ name }) => [name, stepsOf(name)]));
}

/**
 * Runs and kills the writer `rounds + 1` times; each run first checks the steps answered in the
 * runs before it.
 */
export async function killReplica(rounds: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'replica-kills-'));
  const stateDir = join(folder, 'state');
  const { wasmPath } = await buildCanister({ force: false });
  const random = randomNumbers(seedOr(20_261_122));
  try {
    await copyPreparedState(stateDir);
    const begun = await startReplica({ stateDir, server: false });
    for (const participant of participants) await participant.prepare?.(begun);
    await begun.stop();
    let answered: Answered = {};
    let steps = 0;
    for (let round = 0; round <= rounds; round += 1) {
      const words = [stateDir, wasmPath, JSON.stringify(answered)];
      const next = await runAndKill({ words, lines: random(40) });
      steps += Object.values(next).flat().length;
      answered = Object.fromEntries(
        participants.map(({ name }) => {
          const all = [...(answered[name] ?? []), ...(next[name] ?? [])];
          return [name, all.slice(-keptSteps)];
        }),
      );
    }
    expect(steps).toBeGreaterThanOrEqual(rounds);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
