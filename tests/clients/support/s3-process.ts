// Runs `efs serve s3` as a process beside a local replica, for tests with third-party S3 clients. One
// bucket is public, one is private, and one is end-to-end encrypted.

import { type ChildProcess, spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect } from 'vitest';
import { identityFromPem } from '../../../packages/client/src/node/identity.ts';
import { createNodeStorage } from '../../../packages/client/src/node/storage.ts';
import type { Storage } from '../../../packages/client/src/storage.ts';
import { openService, type Service } from '../../support/service.ts';
import { type Ended, runProgram, runUntilDone } from './run-program.ts';

const efs = fileURLToPath(new URL('../../../packages/efs/bin/efs.js', import.meta.url));

/** Names of the three buckets. */
export const buckets = ['demo', 'vault', 'safe'] as const;

export interface S3Process {
  /** `http://127.0.0.1:…` */
  readonly url: string;
  /** Environment variables that AWS's clients read. */
  readonly env: Readonly<Record<string, string>>;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** The owner's storage, which does not go through the S3 server. */
  readonly storage: Storage;
  /** Working folder of the client, also its home. */
  readonly folder: string;
  /** Runs a client, which must succeed. */
  run(...command: readonly [program: string, ...words: string[]]): Promise<Ended>;
  /** Runs a client, which may fail. */
  tryRun(...command: readonly [program: string, ...words: string[]]): Promise<Ended>;
  /** Kills the S3 server (-9) and starts another one at the same address. */
  killAndStart(): Promise<void>;
}

interface Running {
  readonly child: ChildProcess;
  readonly url: string;
}

/** The service behind the S3 server. */
export type S3ProcessService = Pick<Service, 'host' | 'canisterId' | 'identityPem' | 'stop'>;

/** Call it once, at the top of a test file. */
export function openS3Process(
  open: () => Promise<S3ProcessService> = () => openService({}),
): S3Process {
  let opened: S3Process | undefined;
  let stop = async () => {};
  beforeAll(async () => {
    const made = await startS3Process(await open());
    opened = made.s3;
    stop = made.stop;
  });
  afterAll(() => stop());
  const s3 = () => opened ?? expect.fail('the S3 server has not started');
  return new Proxy({} as S3Process, { get: (_target, name) => Reflect.get(s3(), name) });
}

async function startS3Process(
  service: S3ProcessService,
): Promise<{ s3: S3Process; stop(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 's3-client-'));
  const home = join(folder, 's3');
  await mkdir(home);
  const storage = ownerOf(service);
  const keys = await makeKeys(service, home);
  await runEfs(home, '--profile', 'owner', 'bucket', 'create', 'vault');
  await runEfs(home, '--profile', 'owner', 'bucket', 'create', 'safe', '--end-to-end');
  // A restarted server finds the uploads of its predecessor by the port, so the port must not
  // change.
  let running = await serve(home, `127.0.0.1:${await freePort()}`);
  const { url } = running;
  const env = {
    AWS_ACCESS_KEY_ID: keys.accessKeyId,
    AWS_SECRET_ACCESS_KEY: keys.secretAccessKey,
    AWS_ENDPOINT_URL: url,
    // AWS's clients presign with Signature Version 2 if the region is us-east-1.
    AWS_REGION: 'auto',
    AWS_DEFAULT_REGION: 'auto',
    AWS_EC2_METADATA_DISABLED: 'true',
  };
  const options = { folder, env };
  const s3: S3Process = {
    url,
    env,
    ...keys,
    storage,
    folder,
    run: (...command) => runUntilDone(command, { ...options, times: 1 }),
    tryRun: (...command) => runProgram(command, options),
    async killAndStart() {
      await end(running.child, 'SIGKILL');
      running = await serve(home, new URL(url).host);
    },
  };
  const stop = async () => {
    await end(running.child, 'SIGTERM');
    await service.stop();
    await rm(folder, { recursive: true, force: true });
  };
  return { s3, stop };
}

function ownerOf({ host, canisterId, identityPem }: S3ProcessService): Storage {
  return createNodeStorage({ host, canisterId, identity: identityFromPem(identityPem) });
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Runs `efs` with a separate home. */
async function runEfs(home: string, ...words: string[]): Promise<string> {
  const { code, output, errors } = await runProgram([process.execPath, efs, ...words], {
    folder: home,
  });
  if (code !== 0) throw new Error(`efs ${words.join(' ')}: ${errors}`);
  return output.toString();
}

async function makeKeys({ host, canisterId, identityPem }: S3ProcessService, home: string) {
  const identity = join(home, 'identity.pem');
  await writeFile(identity, identityPem, { mode: 0o600 });
  const place = ['--host', host, '--canister-id', canisterId, '--identity', identity];
  await runEfs(home, ...place, '--transport', 'actor', 'profile', 'add', 'owner');
  const made = await runEfs(home, '--profile', 'owner', 'serve', 's3', 'credentials', 'create');
  const [, accessKeyId = ''] = /AWS_ACCESS_KEY_ID=(\S+)/.exec(made) ?? [];
  const [, secretAccessKey = ''] = /AWS_SECRET_ACCESS_KEY=(\S+)/.exec(made) ?? [];
  return { accessKeyId, secretAccessKey };
}

async function serve(home: string, listen: string): Promise<Running> {
  const words = [efs, '--profile', 'owner', 'serve', 's3', '--listen', listen];
  const { PATH = '' } = process.env;
  const env = { PATH, HOME: home };
  const child = spawn(process.execPath, words, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const url = await new Promise<string>((resolve, reject) => {
    let said = '';
    const read = (text: Buffer) => {
      said += text.toString();
      const [, found] = /S3 at (http:\S+)/.exec(said) ?? [];
      if (found !== undefined) resolve(found);
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    child.once('close', () => reject(new Error(`efs serve s3 has ended: ${said}`)));
  });
  return { child, url };
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const closed = new Promise((resolve) => child.once('close', resolve));
  child.kill(signal);
  await closed;
}
