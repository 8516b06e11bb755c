// The memory that the process of `efs serve s3` needs for sixteen requests at a time, as Linux
// reports it.

import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GetObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CommandRun, runCommand, startCommand } from '../client/command-runs.ts';
import { openService, type Service, sampleBytes, sha256Hex } from '../support/service.ts';

const requests = 16;
const objectBytes = 10_000_000;
/**
 * In MiB. A process with all objects in memory would need the 153 MiB of their bytes in addition to
 * its own 60. Below that sum, the peak varies with V8's garbage collection.
 */
const peakMax = 200;

let service: Service;
let folder: string;
let s3Server: CommandRun | undefined;

beforeAll(async () => {
  service = await openService();
  folder = await mkdtemp(join(tmpdir(), 'efs-s3-'));
  const identity = join(folder, 'identity.pem');
  await writeFile(identity, service.identityPem, { mode: 0o600 });
  const { host, canisterId } = service;
  const named = ['--host', host, '--canister-id', canisterId, '--identity', identity];
  await run(...named, 'profile', 'add', 'owner');
  await run('--profile', 'owner', 'bucket', 'create', 'sealed', '--end-to-end');
});

afterAll(async () => {
  s3Server?.process.kill('SIGKILL');
  await service?.stop();
  await rm(folder, { recursive: true, force: true });
});

async function run(...words: string[]): Promise<string> {
  const { code, output } = await runCommand(words, { folder });
  expect(code, output).toBe(0);
  return output;
}

async function openClient(): Promise<S3Client> {
  const made = await run('--profile', 'owner', 'serve', 's3', 'credentials', 'create', '--json');
  const words = ['-q', '--profile', 'owner', 'serve', 's3', '--listen', '127.0.0.1:0'];
  s3Server = startCommand(words, { folder, isExecuted: true });
  let output = '';
  s3Server.process.stdout?.on('data', (text) => {
    output += text;
  });
  await expect.poll(() => output).toMatch(/^S3 at \S+$/m);
  return new S3Client({
    endpoint: /^S3 at (\S+)$/m.exec(output)?.[1] ?? '',
    region: 'us-east-1',
    forcePathStyle: true,
    credentials: JSON.parse(made),
  });
}

/** Peak memory since the start, in MiB. */
async function peakOf({ process: { pid } }: CommandRun): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]) / 1_024;
}

describe.runIf(existsSync('/proc/self/status'))(
  `efs serve s3: ${requests} requests at a time`,
  () => {
    it.each(['demo', 'sealed'])(
      `to bucket %s take at most ${peakMax} MiB`,
      async (Bucket) => {
        const client = await openClient();
        const numbers = Array.from({ length: requests }, (_, index) => index);
        const bytesOf = (number: number) => sampleBytes(`${Bucket} ${number}`, objectBytes);
        const put = async (number: number) => {
          const command = { Bucket, Key: `${number}.bin`, Body: bytesOf(number) };
          await client.send(new PutObjectCommand(command));
        };
        const get = async (number: number) => {
          const { Body } = await client.send(
            new GetObjectCommand({ Bucket, Key: `${number}.bin` }),
          );
          const bytes = await Body?.transformToByteArray();
          expect(sha256Hex(bytes ?? new Uint8Array())).toBe(sha256Hex(bytesOf(number)));
        };
        await Promise.all(numbers.map(put));
        await Promise.all(numbers.map(get));
        const peak = await peakOf(s3Server as CommandRun);
        s3Server?.process.kill('SIGKILL');
        client.destroy();
        expect(peak).toBeGreaterThan(40);
        expect(peak).toBeLessThan(peakMax);
      },
      600_000,
    );
  },
);
