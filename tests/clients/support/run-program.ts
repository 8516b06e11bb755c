// Runs a client's program, and returns its output and exit.

import { spawn } from 'node:child_process';

export interface Ended {
  readonly code: number | null;
  readonly output: Buffer;
  readonly errors: string;
}

export interface RunOptions {
  readonly folder: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Time limit; default a minute and a half. */
  readonly milliseconds?: number;
}

const runMilliseconds = 90_000;

/** Settles when the program has ended; kills a program that exceeds the limit. */
export function runProgram(
  command: readonly [program: string, ...args: string[]],
  { folder, env = {}, milliseconds = runMilliseconds }: RunOptions,
): Promise<Ended> {
  const [program, ...args] = command;
  // Clients must not use this machine's proxy, language or configuration.
  const { PATH = '' } = process.env;
  const child = spawn(program, args, {
    cwd: folder,
    env: { PATH, HOME: folder, LC_ALL: 'C', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: milliseconds,
    killSignal: 'SIGKILL',
  });
  const output: Buffer[] = [];
  const errors: Buffer[] = [];
  child.stdout.on('data', (bytes) => output.push(bytes));
  child.stderr.on('data', (bytes) => errors.push(bytes));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) =>
      resolve({ code, output: Buffer.concat(output), errors: Buffer.concat(errors).toString() }),
    );
  });
}

/** Repeats a failing program, as a person would; finally throws with its output. */
export async function runUntilDone(
  command: readonly [program: string, ...args: string[]],
  options: RunOptions & { readonly times: number },
): Promise<Ended> {
  for (let time = 1; ; time += 1) {
    const ended = await runProgram(command, options);
    if (ended.code === 0) return ended;
    if (time < options.times) continue;
    const said = ended.errors.slice(-1_500);
    throw new Error(`${command.join(' ')} ended with ${ended.code} ${time} times: ${said}`);
  }
}
