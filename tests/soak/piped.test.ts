// 2.5 GB of unknown length from a pipe: more parts than a gateway joins, more bytes than 2^31. `efs
// put -` uploads them and `efs get` downloads them; neither process holds more than a few chunks.

import { type ChildProcess, spawn } from 'node:child_process';
import { createCipheriv, createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { commandEnvironment } from '../client/command-runs.ts';
import { type StartedService, startService } from '../support/started-service.ts';
import { projectDir } from '../tidy/source-tree.ts';

const sizeBytes = 2_500_000_000;
const peakBytesMax = 250e6;
const pieceBytes = 1_000_000;
const path = 'demo/piped.bin';

let folder: string;
let service: StartedService;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'soak-'));
  service = await startService(folder);
});

afterAll(async () => {
  await service?.kill();
  await rm(folder, { recursive: true, force: true });
});

interface Watched {
  readonly child: ChildProcess;
  readonly ended: Promise<{ code: number | null; errors: string; peakBytes: number }>;
}

function startWatched(...words: string[]): Watched {
  const { url, apiKey } = service;
  const environment = { EFS_URL: url, EFS_API_KEY: apiKey };
  const env = commandEnvironment({ folder, environment });
  const command = [join(projectDir, 'packages/efs/bin/efs.js'), ...words];
  const child = spawn(process.execPath, command, { cwd: folder, env });
  let errors = '';
  let peakBytes = 0;
  child.stderr.on('data', (text: Buffer) => {
    errors += text.toString();
  });
  const timer = setInterval(() => {
    peakBytes = Math.max(peakBytes, peakOf(child.pid ?? 0));
  }, 100);
  const ended = once(child, 'close').then(([code]) => {
    clearInterval(timer);
    return { code: code as number | null, errors, peakBytes };
  });
  return { child, ended };
}

/** Returns the peak memory of the process; 0 after it has ended. */
function peakOf(processId: number): number {
  try {
    const status = readFileSync(`/proc/${processId}/status`, 'utf8');
    return 1_024 * Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0);
  } catch {
    return 0;
  }
}

test('2.5 GB of unknown length are uploaded from a pipe and downloaded, in little memory', async () => {
  const put = startWatched('put', '--parallel', '8', '-', path);
  const sent = createHash('sha256');
  const source = createCipheriv('aes-256-ctr', Buffer.alloc(32, 7), Buffer.alloc(16));
  const zeros = Buffer.alloc(pieceBytes);
  for (let left = sizeBytes; left > 0; left -= pieceBytes) {
    const piece = source.update(zeros.subarray(0, Math.min(pieceBytes, left)));
    sent.update(piece);
    if (!put.child.stdin?.write(piece)) await once(put.child.stdin as NodeJS.EventEmitter, 'drain');
  }
  put.child.stdin?.end();
  const up = await put.ended;
  expect(up.errors).toContain('Standard input had 2500000000 bytes (2.50 GB).');
  expect(up.errors).toContain('The file has 1316 parts: download it with efs get');
  expect(up.code).toBe(0);

  const get = startWatched('get', '--parallel', '8', path, '-');
  const received = createHash('sha256');
  for await (const piece of get.child.stdout as AsyncIterable<Buffer>) received.update(piece);
  const down = await get.ended;
  expect(down).toMatchObject({ code: 0, errors: '' });
  expect(received.digest('hex')).toBe(sent.digest('hex'));
  console.log({ putPeakBytes: up.peakBytes, getPeakBytes: down.peakBytes });
  expect(up.peakBytes).toBeLessThanOrEqual(peakBytesMax);
  expect(down.peakBytes).toBeLessThanOrEqual(peakBytesMax);

  const range = startWatched('get', '--range', '2499999990-2499999999', path, '-');
  const [last] = (await once(range.child.stdout as NodeJS.EventEmitter, 'data')) as [Buffer];
  const whole = createCipheriv('aes-256-ctr', Buffer.alloc(32, 7), counterAt(2_499_999_984));
  expect(last).toEqual(whole.update(Buffer.alloc(16)).subarray(6));
  expect((await range.ended).code).toBe(0);
}, 1_800_000);

/** The AES-CTR counter of the block that begins at byte `position` of the stream. */
function counterAt(position: number): Buffer {
  const counter = Buffer.alloc(16);
  counter.writeBigUInt64BE(BigInt(position) / 16n, 8);
  return counter;
}
