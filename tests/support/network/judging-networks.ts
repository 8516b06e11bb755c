// The networks in other processes that `npm run judge` starts.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, openSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { projectDir } from '../../tidy/source-tree.ts';

export interface JudgingNetwork {
  readonly name: string;
  /** Variables by which tests find the network. */
  readonly variables: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

export async function startReplicas(): Promise<JudgingNetwork> {
  const words = ['--import', 'tsx', join(import.meta.dirname, 'replica-instances.ts')];
  // The program ends when its standard input does, even if this process is killed.
  const child = spawn(process.execPath, words, { stdio: ['pipe', 'pipe', 'inherit'] });
  const [url] = await Promise.race([once(createInterface(child.stdout), 'line'), ended(child)]);
  return {
    name: 'the local replica, in a process of its own',
    variables: { EFS_JUDGE_SERVER: String(url) },
    async stop() {
      child.stdin.end();
      if (child.exitCode === null) await once(child, 'close');
    },
  };
}

/**
 * dfinity/ic `rs/pocket_ic_server/src/main.rs`: the server creates the port file, which must not
 * exist, and writes its port and a newline when it listens. It stops on SIGINT, or after `--ttl`
 * seconds without a request. Its log is build/pocket-ic.log.
 */
export async function startPocketIc(binary: string): Promise<JudgingNetwork> {
  if (!existsSync(binary)) {
    throw new Error(`POCKET_IC_BIN names ${binary}, which does not exist; name a PocketIC server.`);
  }
  const folder = await mkdtemp(join(tmpdir(), 'judge-'));
  const portFile = join(folder, 'port');
  const log = openSync(join(projectDir, 'build', 'pocket-ic.log'), 'w');
  const words = ['--port-file', portFile, '--ttl', '600'];
  const child = spawn(binary, words, { stdio: ['ignore', log, log] });
  const port = await Promise.race([portIn(portFile), ended(child)]);
  return {
    name: `PocketIC, ${binary}`,
    variables: { EFS_JUDGE_SERVER: `http://127.0.0.1:${port}` },
    async stop() {
      child.kill('SIGINT');
      if (child.exitCode === null) await once(child, 'close');
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function portIn(path: string): Promise<number> {
  for (;;) {
    const text = existsSync(path) ? await readFile(path, 'utf8') : '';
    if (text.endsWith('\n')) return Number(text);
    await delay(50);
  }
}

/** Rejects when the process ends or cannot start. */
async function ended(child: ChildProcess): Promise<never> {
  const [code] = await once(child, 'close');
  throw new Error(`The network ended with exit code ${code} before it listened.`);
}
