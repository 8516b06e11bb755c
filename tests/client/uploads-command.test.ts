// `efs put` of standard input of unknown length, and `efs uploads`.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createStorage } from '../../packages/client/src/storage.ts';
import { openService, type Service, sampleBytes } from '../support/service.ts';
import { callCommand } from './command-calls.ts';
import { type CommandSettings, runCommand } from './command-runs.ts';

let service: Service;
let folder: string;
let settings: CommandSettings;

beforeAll(async () => {
  service = await openService();
  folder = await mkdtemp(join(tmpdir(), 'uploads-'));
  const { base, apiKey } = service;
  settings = { folder, environment: { EFS_URL: base, EFS_API_KEY: apiKey } };
});

afterAll(async () => {
  await service?.stop();
  await rm(folder, { recursive: true, force: true });
});

const efs = (...words: string[]) => callCommand(words, settings);

/** Returns the id of an upload that stays open. */
async function leaveOpen(path: string): Promise<string> {
  const { base, apiKey, bucket } = service;
  const response = await fetch(`${base}/api/v1/bucket/${bucket}/upload/start`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${apiKey}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ path, contentType: 'a/b' }),
  });
  return ((await response.json()) as { uploadId: string }).uploadId;
}

test('efs put - needs no size for standard input, and reports its length', async () => {
  const { bucket } = service;
  const input = sampleBytes('piped', 4_000_001);
  const sent = await runCommand(['put', '-', `${bucket}/piped.bin`], { ...settings, input });
  expect(sent).toEqual({
    code: 0,
    output: `${bucket}/piped.bin\n`,
    errors: 'Standard input had 4000001 bytes (4.00 MB).\n',
  });
  const { output } = await runCommand(['get', `${bucket}/piped.bin`, '-'], settings);
  expect(Buffer.compare(Buffer.from(output, 'latin1'), input)).toBe(0);
});

test('efs uploads lists open uploads, and cancels one or all', async () => {
  const { bucket } = service;
  const ids = [await leaveOpen('left/1'), await leaveOpen('left/2'), await leaveOpen('left/3')];
  const table = (await efs('uploads', 'ls', bucket)).output;
  expect(table).toMatch(/^ID +SENT +OF +LAST CHUNK +EXPIRES +PATH\n/);
  expect(table).toMatch(new RegExp(`${ids[0]} +0 B +\\S+ .* left/1\n`));
  const [first = ''] = ids;
  expect((await efs('uploads', 'cancel', bucket, first)).output).toBe(`${first}\n`);
  const listed = JSON.parse((await efs('uploads', 'ls', '--json', bucket)).output);
  expect(listed).toMatchObject([
    { path: 'left/2', isSizeKnown: false },
    { path: 'left/3', status: 'active' },
  ]);
  expect((await efs('uploads', 'cancel', bucket)).code).toBe(2);
  expect((await efs('uploads', 'cancel', '--all', bucket, first)).code).toBe(2);
  const all = await efs('uploads', 'cancel', '--all', bucket);
  expect(all.output.trim().split('\n').sort()).toEqual(ids.slice(1).sort());
  expect((await efs('uploads', 'ls', bucket)).output).toBe('');
  expect((await efs('uploads', 'cancel', bucket, '0'.repeat(32))).code).toBe(3);
});

test('Storage.uploads lists and cancels open uploads with an API key', async () => {
  const { base: url, apiKey, bucket } = service;
  const uploadId = await leaveOpen('library');
  const storage = createStorage({ url, apiKey });
  expect(await storage.uploads.list({ bucket })).toMatchObject([{ uploadId, path: 'library' }]);
  await storage.uploads.cancel({ bucket, uploadId });
  expect(await storage.uploads.list({ bucket })).toEqual([]);
});
