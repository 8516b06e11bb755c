// The local replica in a process of its own, and the command `efs` run against it, with the
// processor time of both and the memory of `efs`.

import { type ChildProcess, spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Measurement } from './client-table.ts';

const projectDir = fileURLToPath(new URL('..', import.meta.url));
/** The unit of CPU times in Linux's /proc. */
const ticksPerSecond = 100;
const pollMs = 20;

export interface CommandCost {
  readonly seconds: number;
  readonly clientSeconds: number;
  readonly peakBytes: number;
}

export interface MeasuredService {
  /** Runs `efs` with these arguments. */
  run(words: readonly string[]): Promise<CommandCost>;
  /** Measures client and replica during a run that transfers this many bytes. */
  measure(run: () => Promise<CommandCost>, bytes: number): Promise<Measurement>;
  /** The number of updates that the canister has paid for so far. */
  updates(): number;
  stop(): Promise<void>;
}

/** Starts the replica, whose state and profile (with `hasProfile`) are stored in the folder. */
export async function startMeasured(
  folder: string,
  options: { readonly hasProfile: boolean; readonly network?: string },
): Promise<MeasuredService> {
  const state = join(folder, 'state');
  const profiler = ['--cpu-prof', '--cpu-prof-dir', join(folder, 'profile')];
  const words = [
    ...(options.hasProfile ? profiler : []),
    '--import',
    'tsx',
    'scripts/start.ts',
    '--port',
    '0',
    '--state',
    state,
    '--verbose',
    ...(options.network === undefined ? [] : ['--profile', options.network]),
  ];
  const child = spawn(process.execPath, words, {
    cwd: projectDir,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const canister = await watchOutput(child);
  const efs = join(projectDir, 'packages/efs/bin/efs.js');
  return {
    run: (command) => runMeasured(efs, ['--replica', state, ...command], folder),
    async measure(run, bytes) {
      const before = { ...canister, seconds: await processorSeconds(child) };
      const { seconds, clientSeconds, peakBytes } = await run();
      return {
        megabytesPerSecond: bytes / 1e6 / seconds,
        peakMegabytes: peakBytes / 1e6,
        clientSeconds,
        replicaSeconds: (await processorSeconds(child)) - before.seconds,
        canisterSeconds: (canister.milliseconds - before.milliseconds) / 1_000,
      };
    },
    updates: () => canister.updates,
    async stop() {
      if (child.exitCode !== null) return;
      const closed = new Promise((resolve) => child.once('close', resolve));
      child.kill('SIGTERM');
      await closed;
    },
  };
}

/** Resolves when the replica is ready. The sums then grow with each of its messages. */
function watchOutput(child: ChildProcess): Promise<{ milliseconds: number; updates: number }> {
  const sum = { milliseconds: 0, updates: 0 };
  return new Promise((resolve, reject) => {
    let rest = '';
    child.stdout?.on('data', (text: Buffer) => {
      const lines = (rest + text.toString()).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        if (line.startsWith('update ')) sum.updates += 1;
        sum.milliseconds += Number(/ pages, ([\d.]+) ms/.exec(line)?.[1] ?? 0);
        if (line.includes('Ctrl-C stops')) resolve(sum);
      }
    });
    child.once('close', () => reject(new Error('the replica has ended')));
  });
}

export async function processorSeconds({ pid }: ChildProcess): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  // After the command's name in parentheses: state is the third field, utime the 14th.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
}

export async function runMeasured(
  program: string,
  words: readonly string[],
  folder: string,
): Promise<CommandCost> {
  const started = performance.now();
  const child = spawn(program, words, {
    env: { PATH: process.env.PATH ?? '', XDG_STATE_HOME: folder, XDG_CONFIG_HOME: folder },
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  let hasEnded = false;
  const ended = new Promise<number | null>((resolve) => {
    child.once('close', (code) => {
      hasEnded = true;
      resolve(code);
    });
  });
  let peakBytes = 0;
  let clientSeconds = 0;
  while (!hasEnded) {
    try {
      peakBytes = Math.max(peakBytes, await peakOf(child));
      clientSeconds = Math.max(clientSeconds, await processorSeconds(child));
    } catch {
      // The process has ended, so its last sample stays.
    }
    await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, pollMs))]);
  }
  const seconds = (performance.now() - started) / 1_000;
  const code = await ended;
  if (code !== 0) throw new Error(`${program} ${words.join(' ')} ended with ${code}`);
  return { seconds, clientSeconds, peakBytes };
}

async function peakOf({ pid }: ChildProcess): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return 1_024 * Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0);
}
