// Commands that run again after they have finished or were killed.

import { spawnSync } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createNodeStorage } from '../../packages/client/src/node/storage.ts';
import type { Storage } from '../../packages/client/src/storage.ts';
import { openService, type Service, sampleBytes } from '../support/service.ts';
import { callCommand } from './command-calls.ts';
import { startCommand } from './command-runs.ts';

let service: Service;
let storage: Storage;
let folder: string;
let state: string;

beforeAll(async () => {
  service = await openService();
  storage = createNodeStorage({ url: service.base, apiKey: service.apiKey });
  folder = await mkdtemp(join(tmpdir(), 'efs-repeated-'));
  state = join(folder, 'state', 'efs');
  await mkdir(state, { recursive: true });
});
afterAll(async () => {
  await service?.stop();
  await rm(folder, { recursive: true, force: true });
});

function settings(url = service.base) {
  return { folder, environment: { EFS_URL: url, EFS_API_KEY: service.apiKey } };
}

function efs(...words: string[]) {
  return callCommand(words, settings());
}

function put(path: string, length = 1_000) {
  return storage.upload(sampleBytes(path, length), { bucket: service.bucket, path });
}

test('efs mv -r succeeds again after it has finished', async () => {
  await put('old/a');
  await put('old/b');
  expect(await efs('mv', '-r', 'demo/old/', 'demo/new/')).toMatchObject({ code: 0 });
  const again = await efs('mv', '-r', 'demo/old/', 'demo/new/');
  expect(again.errors).toContain('demo/old/ is empty and demo/new/ has files');
  expect(again.code).toBe(0);
  expect((await efs('mv', '-r', 'demo/old/', 'demo/nowhere/')).code).toBe(3);
  expect((await efs('cp', '-r', 'demo/old/', 'demo/new/')).code).toBe(3);
});

test('efs sync treats times as equal if the file system rounded down by less than a millisecond', async () => {
  const record = await put('times/a');
  expect(await efs('sync', 'demo/times/', './times')).toMatchObject({ code: 0 });
  const file = join(folder, 'times', 'a');
  // With other bytes, only a sync that reads them would download the file again.
  await writeFile(file, sampleBytes('other', 1_000));
  const seconds = (Date.parse(record.updatedAt) - 0.4) / 1_000;
  await utimes(file, seconds, seconds);
  const again = await efs('sync', 'demo/times/', './times');
  expect(again.errors).toContain('0 fetched, 1 the same');
});

test('efs sync that was killed leaves no state and no partial file after it has run again', async () => {
  const bytes = sampleBytes('killed/a', 300_000);
  const chunked = { path: 'killed/a', chunkBytes: 100_000, concurrency: 1 };
  // Several chunks: a file of one chunk is stored as soon as that chunk has arrived.
  const { uploadId } = await storage.uploads.begin({
    ...{ bucket: service.bucket, ...chunked, size: bytes.length },
  });
  const whole = { bucket: service.bucket, ...chunked, resume: uploadId };
  await storage.upload(bytes, whole);
  let answered = 0;
  let isStalling = true;
  const stalling = createServer(async (request, response) => {
    const { url = '', method = 'GET' } = request;
    const own = ['host', 'connection', 'transfer-encoding'];
    const sent = Object.entries(request.headers).filter(([name]) => !own.includes(name));
    const headers = sent as [string, string][];
    const answer = await fetch(`${service.base}${url}`, { method, headers });
    const body = new Uint8Array(await answer.arrayBuffer());
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    if (url.startsWith('/cloud/') && isStalling && answered++ > 0)
      response.write(body.subarray(0, 50_000));
    else response.end(body);
  });
  await new Promise<void>((resolve) => stalling.listen(0, 'localhost', resolve));
  const url = `http://localhost:${(stalling.address() as AddressInfo).port}`;
  const run = startCommand(['sync', 'demo/killed/', './killed'], settings(url));
  const noted = expect.poll(() => readdir(state)).not.toEqual([]);
  const early = run.ended.then(({ errors }) => expect.fail(`The command ended before: ${errors}`));
  await Promise.race([noted, early]);
  early.catch(() => {});
  run.process.kill('SIGKILL');
  await run.ended;
  isStalling = false;
  const again = await callCommand(['sync', 'demo/killed/', './killed'], settings(url));
  stalling.closeAllConnections();
  stalling.close();
  expect(again).toMatchObject({ code: 0 });
  expect(await readdir(join(folder, 'killed'))).toEqual(['a']);
  expect(new Uint8Array(await readFile(join(folder, 'killed', 'a')))).toEqual(bytes);
  expect(await readdir(state)).toEqual([]);
});

test('efs sync removes the state of dead processes if their transfers cannot be resumed', async () => {
  const { pid: dead } = spawnSync(process.execPath, ['--version']);
  const target = join(folder, 'parts');
  await mkdir(target);
  const kept: string[] = [];
  const note = async (kind: string, fields: object, name: string, isKept: boolean, days = 0) => {
    const path = `${kind}-${createHash('sha256').update(name).digest('hex')}.json`;
    const file = join(target, name);
    const text = JSON.stringify({ file, etag: '"e"', processId: dead, ...fields });
    await writeFile(join(state, path), text);
    const seconds = Date.now() / 1_000 - days * 86_400;
    await utimes(join(state, path), seconds, seconds);
    if (isKept) kept.push(path);
  };
  const part = (digit: string) => `.efs-${digit.repeat(16)}.part`;
  for (const digit of ['1', '2']) await writeFile(join(target, part(digit)), 'some');
  await note('download', { part: part('1') }, 'resumable', true, 6);
  await note('download', { part: part('2') }, 'old', false, 8);
  await note('download', { part: part('3') }, 'part is gone', false);
  await note('download', { part: part('4'), processId: process.ppid }, 'at work', true);
  await note('download', { part: '../../x' }, 'damaged', false);
  await note('upload', { uploadId: 'u' }, 'upload', true, 6);
  await note('upload', { uploadId: 'u' }, 'old upload', false, 8);
  // The drafts of this version and of an earlier one
  for (const end of [`${dead}.${randomUUID()}`, dead])
    await writeFile(join(state, `${kept[0]}.${end}`), '{');
  await writeFile(join(state, 'other.json'), '{');
  await put('notes/a');
  expect(await efs('sync', 'demo/notes/', './notes')).toMatchObject({ code: 0 });
  expect((await readdir(state)).sort()).toEqual([...kept, 'other.json'].sort());
  expect(await readdir(target)).toEqual([part('1')]);
});
