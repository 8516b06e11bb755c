// Creates canisters: on a local replica by a call that gives cycles away, on the network by
// icp-cli, which pays from the cycles of its own identity.

import { spawn } from 'node:child_process';
import type { CanisterCode } from '../../../client/src/actor/canister-code.ts';
import { isLoopback, isNetwork } from '../../../client/src/connection/canister-address.ts';
import { UsageError } from '../output/usage-error.ts';

export interface NewCanister {
  readonly cycles: number;
  readonly subnet?: string | undefined;
  /** The identity of icp-cli that pays; by default the one that icp-cli uses. */
  readonly payer?: string | undefined;
  /** The command that continues with a canister of this id. */
  readonly again: (canisterId: string) => string;
}

/** Returns the id of a new canister, which the caller of `code` controls. */
export async function createCanister(
  code: CanisterCode,
  host: string,
  wanted: NewCanister,
): Promise<string> {
  if (isLoopback(host)) return code.createLocally(wanted);
  if (isNetwork(host)) return createByIcp(code.caller, wanted);
  throw new UsageError(
    `efs creates canisters on a local replica and, with icp-cli, on the network; ${host} is ` +
      `neither. Create one that ${code.caller} controls, then run ${wanted.again('<id>')}.`,
  );
}

/** icp-cli, docs/reference/cli.md, "icp canister create": `-q` prints only the id. */
export async function createByIcp(controller: string, wanted: NewCanister): Promise<string> {
  const { cycles, subnet, payer, again } = wanted;
  const words = [
    ...['canister', 'create', '--detached', '-q', '-n', 'ic'],
    ...['--controller', controller, '--cycles', String(cycles)],
    ...(subnet === undefined ? [] : ['--subnet', subnet]),
    ...(payer === undefined ? [] : ['--identity', payer]),
  ];
  const byHand = `icp ${words.join(' ')}, then ${again('<id>')}`;
  const { output, problem } = await runIcp(words);
  if (problem !== undefined) {
    throw new Error(
      `${problem}, and icp-cli pays for new canisters on the network. Correct that, or run by ` +
        `hand: ${byHand}.`,
    );
  }
  const [id] = /\b[a-z2-7]{5}(?:-[a-z2-7]{3,5}){1,10}\b/.exec(output) ?? [];
  if (id !== undefined) return id;
  throw new Error(
    `icp canister create has printed no id of a canister, but ${JSON.stringify(output)}. If it ` +
      `has created one, continue with ${again('<id>')}.`,
  );
}

/** Runs icp-cli, which may ask for a passphrase and prints its errors itself. */
function runIcp(words: readonly string[]): Promise<{ output: string; problem?: string }> {
  return new Promise((resolve) => {
    const child = spawn('icp', words, { stdio: ['inherit', 'pipe', 'inherit'] });
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
    child.once('error', ({ message }: NodeJS.ErrnoException) => {
      resolve({ output, problem: `icp-cli cannot be started (${message})` });
    });
    child.once('close', (status, signal) => {
      if (status === 0) resolve({ output });
      else resolve({ output, problem: `icp canister create has failed (${signal ?? status})` });
    });
  });
}
