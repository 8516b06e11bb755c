// `efs sync` downwards through an intermediary that swaps the answers to two requests: each answer
// is complete and valid, but belongs to the other file.

import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createNodeStorage } from '../../packages/client/src/node/storage.ts';
import { openService, type Service, sampleBytes } from '../support/service.ts';
import { callCommand } from './command-calls.ts';

let service: Service;
let folder: string;
/** Number of answers still to be swapped. */
let swaps = 0;

const other = (name: string) => (name === 'a' ? 'b' : 'a');

const server = createServer(async (request, response) => {
  const { url = '', method = 'GET' } = request;
  const sent = method === 'POST' ? await text(request) : undefined;
  const isFile = url.startsWith('/cloud/') && method === 'GET';
  const isSwapped = (isFile || url.endsWith('/read')) && swaps-- > 0;
  const path = isSwapped ? url.replace(/[ab](?=\?)/, other) : url;
  const body = isSwapped ? sent?.replaceAll(/(?<=in\/)[ab]/g, other) : sent;
  const headers = { authorization: request.headers.authorization ?? '' };
  const answer = await fetch(`${service.base}${path}`, { method, headers, body: body ?? null });
  response.writeHead(answer.status, Object.fromEntries(answer.headers));
  response.end(new Uint8Array(await answer.arrayBuffer()));
});

const bytes = { a: sampleBytes('a', 1_000), b: sampleBytes('b', 1_000) };

beforeAll(async () => {
  service = await openService();
  folder = await mkdtemp(join(tmpdir(), 'efs-swapped-'));
  const storage = createNodeStorage({ url: service.base, apiKey: service.apiKey });
  for (const path of ['a', 'b'] as const) {
    await storage.upload(bytes[path], { bucket: service.bucket, path: `in/${path}` });
  }
  await new Promise<void>((resolve) => server.listen(0, 'localhost', resolve));
});
afterAll(async () => {
  server.close();
  await service?.stop();
  await rm(folder, { recursive: true, force: true });
});

function efs(...words: string[]) {
  const EFS_URL = `http://localhost:${(server.address() as AddressInfo).port}`;
  return callCommand(words, { folder, environment: { EFS_URL, EFS_API_KEY: service.apiKey } });
}

test.each([
  ['sync', ['sync', 'demo/in/', 'once']],
  ['get -r', ['get', '-r', 'demo/in/', 'once-more']],
])('efs %s requests again after an answer for another file', async (_, words) => {
  swaps = 2;
  expect(await efs(...words)).toMatchObject({ code: 0 });
  const target = join(folder, words.at(-1) ?? '');
  const stored = await Promise.all(['a', 'b'].map((name) => readFile(join(target, name))));
  expect(stored.map((file) => new Uint8Array(file))).toEqual([bytes.a, bytes.b]);
});

test('efs sync stores no answer for another file', async () => {
  swaps = Number.POSITIVE_INFINITY;
  const ended = await efs('sync', 'demo/in/', 'never');
  expect(ended.code).not.toBe(0);
  expect(ended.errors).toMatch(/The answer for demo\/in\/a belongs to another file: its ETag is/);
  await expect(readFile(join(folder, 'never', 'a'))).rejects.toThrow('ENOENT');
});
