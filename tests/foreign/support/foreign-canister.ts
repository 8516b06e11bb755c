// A foreign canister on a replica in a separate process. Agents and gateway clients use HTTP; tests
// kill the process and restart it on the same folder.

import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { HttpAgent, type Identity } from '@dfinity/agent';
import { Ed25519KeyIdentity } from '@icp-sdk/core/identity';
import { type Replica, startReplica } from '../../../packages/replica/src/replica.ts';
import { readForeign } from './foreign-files.ts';

const program = fileURLToPath(new URL('./replica-process.ts', import.meta.url));
const noArguments = Uint8Array.of(0x44, 0x49, 0x44, 0x4c, 0, 0);

export interface ForeignCanister {
  readonly id: string;
  /** The identity that installed the canister and controls it. */
  readonly owner: Identity;
  /** Returns an agent of the running replica. */
  agent(identity: Identity): Promise<HttpAgent>;
  /** Requests a path through the gateway, with verification. `path` begins with a slash. */
  get(path: string): Promise<Response>;
  /** Kills the replica with SIGKILL, and starts it on the same state. */
  killAndStart(): Promise<void>;
  /** Kills with SIGKILL, upgrades to the same code, and starts again. */
  killAndUpgrade(arg?: Uint8Array): Promise<void>;
  close(): Promise<void>;
}

interface Running {
  readonly child: ChildProcess;
  readonly url: string;
}

/** Installs the file on a new state folder. `arg`: Candid argument of its `init`. */
export async function openForeign(
  path: string,
  argOf: (owner: Identity) => Uint8Array = () => noArguments,
): Promise<ForeignCanister> {
  const stateDir = mkdtempSync(join(tmpdir(), 'foreign-'));
  const wasm = readForeign(path);
  // The identities of the two libraries differ only in the package name.
  const owner = Ed25519KeyIdentity.generate() as unknown as Identity;
  const sender = owner.getPrincipal().toText();
  const id = await withReplica(stateDir, async (replica) => {
    const made = (await replica.createCanister({ controllers: [sender] })).toText();
    await replica.install(made, wasm, argOf(owner), { sender });
    return made;
  }).catch((error) => {
    rmSync(stateDir, { recursive: true, force: true });
    throw error;
  });
  let running = await start(stateDir);
  return {
    id,
    owner,
    agent: (identity) =>
      HttpAgent.create({ host: running.url, identity, shouldFetchRootKey: true }),
    // Some systems do not resolve <id>.localhost.
    get: (path) => fetch(`${running.url}${path}?canisterId=${id}`),
    async killAndStart() {
      await kill(running);
      running = await start(stateDir);
    },
    async killAndUpgrade(arg = noArguments) {
      await kill(running);
      await withReplica(stateDir, (replica) => replica.upgrade(id, wasm, arg, { sender }));
      running = await start(stateDir);
    },
    async close() {
      await kill(running);
      rmSync(stateDir, { recursive: true, force: true });
    },
  };
}

async function withReplica<T>(stateDir: string, work: (replica: Replica) => Promise<T>) {
  const replica = await startReplica({ stateDir, server: false });
  try {
    return await work(replica);
  } finally {
    await replica.stop();
  }
}

function start(stateDir: string): Promise<Running> {
  const child = spawn(process.execPath, ['--import', 'tsx', program, stateDir], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  return new Promise((resolve, reject) => {
    let [output, errors] = ['', ''];
    child.stderr.on('data', (data) => {
      errors += String(data);
    });
    child.stdout.on('data', (data) => {
      output += String(data);
      const end = output.indexOf('\n');
      if (end >= 0) resolve({ child, url: output.slice(0, end) });
    });
    child.on('close', () => reject(new Error(`The replica ended: ${errors}`)));
  });
}

async function kill({ child }: Running): Promise<void> {
  const closed = new Promise((resolve) => child.on('close', resolve));
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await closed;
}
