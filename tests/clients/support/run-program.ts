// Runs a client's program, and gives what it said and how it ended.

import { spawn } from 'node:child_process';

export interface Ended {
  readonly code: number | null;
  readonly output: Buffer;
  readonly errors: string;
}

export interface RunOptions {
  readonly folder: string;
  readonly env?: Readonly<Record<string, string>>;
  /** After which it is ended; a minute and a half unless told. */
  readonly milliseconds?: number;
}

const runMilliseconds = 90_000;

/** Settles when it has ended; one that takes too long is ended. */
export function runProgram(
  command: readonly [program: string, ...args: string[]],
  { folder, env = {}, milliseconds = runMilliseconds }: RunOptions,
): Promise<Ended> {
  const [program, ...args] = command;
  // Clients must not see this machine's proxy, language or configuration.
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

/** The same, again and again while it fails, as a person would; throws with its words at last. */
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
