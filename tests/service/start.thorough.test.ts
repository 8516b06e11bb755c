// `npm start` for a new user: the printed commands work as printed, and failures are explained.

import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type StartedService, startService } from '../support/started-service.ts';

const run = promisify(execFile);

let folder: string;
let service: StartedService;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'start-'));
  service = await startService(folder);
});

afterAll(async () => {
  await service?.kill();
  await rm(folder, { recursive: true, force: true });
});

test('prints the gateway, the canister, the key and three working curl lines', async () => {
  const { gateway, canisterId, apiKey, output } = service;
  for (const text of [gateway, canisterId, apiKey]) {
    expect(output).toContain(text);
  }
  const lines = output.match(/^ {2}curl .*$/gm) ?? [];
  expect(lines).toHaveLength(3);
  const outputs: string[] = [];
  for (const line of lines) {
    outputs.push((await run('bash', ['-c', line])).stdout);
  }
  const [put = '', get, head] = outputs;
  expect(JSON.parse(put)).toMatchObject({ path: 'README.md', version: 1 });
  expect(get).toBe(await readFile('README.md', 'utf8'));
  expect(head).toMatch(/^HTTP\/1\.1 200 OK/);
});

test("writes the clients' settings to a file that only its owner can read", async () => {
  const path = join(folder, 'state', 'service.json');
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  const description = JSON.parse(await readFile(path, 'utf8'));
  expect(Object.keys(description).sort()).toEqual([
    'apiKey',
    'bucket',
    'canisterId',
    'front',
    'gateway',
    'identityPem',
    'url',
  ]);
});

async function failure(...options: string[]): Promise<string> {
  const command = ['--import', 'tsx', 'scripts/start.ts', ...options];
  return run(process.execPath, command).then(
    () => 'no failure',
    (error: { stderr: string }) => error.stderr,
  );
}

test('explains what to do about a state folder or a port in use and about a wrong option', async () => {
  const { port } = new URL(service.url);
  const [inUse, taken, many, origin] = await Promise.all([
    failure('--port', '0', '--state', join(folder, 'state')),
    failure('--port', port, '--state', join(folder, 'other')),
    failure('--port', 'many'),
    failure('--port', '0', '--allow-origin', 'example.org'),
  ]);
  expect(inUse).toMatch(/in use by process \d+; stop it or use --state/);
  expect(taken).toMatch(new RegExp(`port ${port}.*--port`, 'i'));
  expect(many).toMatch(/--port must be a number/);
  expect(origin).toMatch(/An allowed origin must look like https:/);
});
