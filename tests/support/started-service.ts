// `npm start` in a separate process, for tests that kill it or measure its memory.

import { type ChildProcess, spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ServiceDescription } from '../../scripts/local-service.ts';

export interface StartedService extends ServiceDescription {
  readonly processId: number;
  /** The output until it was ready. */
  readonly output: string;
  /** Kills it without warning and waits for its end. */
  kill(): Promise<void>;
}

/** Starts the replica on the folder's state and resolves when it prints that it is ready. */
export async function startService(folder: string): Promise<StartedService> {
  const stateDir = join(folder, 'state');
  const options = ['--import', 'tsx', 'scripts/start.ts', '--port', '0', '--state', stateDir];
  const child = spawn(process.execPath, options, { stdio: ['ignore', 'pipe', 'pipe'] });
  const output = await readiness(child);
  const description = JSON.parse(await readFile(join(stateDir, 'service.json'), 'utf8'));
  return { ...description, output, processId: child.pid, kill: () => kill(child) };
}

function readiness(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let output = '';
    const read = (text: Buffer) => {
      output += text.toString();
      if (output.includes('Ctrl-C stops')) resolve(output);
    };
    child.stdout?.on('data', read);
    child.stderr?.on('data', read);
    child.once('close', () => reject(new Error(`npm start ended: ${output}`)));
  });
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) {
    const closed = new Promise((resolve) => child.once('close', resolve));
    child.kill('SIGKILL');
    await closed;
  }
}
