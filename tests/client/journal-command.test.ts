// `efs journal` and `efs events` on the real canister.

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { identityFromPem } from '../../packages/client/src/node/identity.ts';
import { createStorage, type Storage } from '../../packages/client/src/storage.ts';
import { principalOf } from '../../scripts/local-service.ts';
import { openService, type Service, sampleBytes } from '../support/service.ts';
import { callCommand } from './command-calls.ts';
import { type CommandSettings, startCommand } from './command-runs.ts';

const bucket = 'demo';

let service: Service;
let owner: Storage;
let folder: string;
let settings: CommandSettings;

beforeAll(async () => {
  service = await openService({});
  folder = await mkdtemp(join(tmpdir(), 'journal-'));
  const { base, host, canisterId } = service;
  await writeFile(join(folder, 'identity.pem'), service.identityPem);
  const environment = {
    ...{ EFS_URL: base, EFS_HOST: host, EFS_CANISTER_ID: canisterId },
    EFS_IDENTITY: join(folder, 'identity.pem'),
  };
  settings = { folder, environment };
  const identity = identityFromPem(service.identityPem);
  owner = createStorage({ host, canisterId, identity });
  await store('one.txt');
  await store('two.txt');
  await owner.move({ bucket, path: 'two.txt' }, { path: 'three.txt' });
});
afterAll(async () => {
  await service?.stop();
  await rm(folder, { recursive: true, force: true });
});

const efs = (...words: string[]) => callCommand(words, settings);
const store = (path: string) => owner.upload(sampleBytes(path, 100), { bucket, path });
const linesOf = (output: string) =>
  output
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

describe('efs journal', () => {
  test('ls prints changes with their authors, and pages of them', async () => {
    const { code, output } = await efs('journal', 'ls', bucket);
    expect(code).toBe(0);
    const owned = principalOf(service.identityPem).toText();
    expect(output).toMatch(/^ENTRY +TIME +CHANGE +BY +OF\n/);
    expect(output).toMatch(new RegExp(`file\\.stored +${owned} +one\\.txt \\(version \\d+\\)\n`));
    expect(output).toContain('three.txt (from two.txt)\n');
    const all = JSON.parse((await efs('journal', 'ls', bucket, '--json')).output);
    const limited = await efs('journal', 'ls', bucket, '--limit', '2', '--json');
    expect(JSON.parse(limited.output)).toEqual(all.slice(0, 2));
    expect(limited.errors).toContain('There are more entries than 2');
    const after = await efs('journal', 'ls', bucket, '--after', `${all[2].seq}`, '--json');
    expect(JSON.parse(after.output)).toEqual(all.slice(0, 2).reverse());
  });

  test('verify says what is proven, and compares the tip that it stored before', async () => {
    const first = await efs('journal', 'verify', bucket, '--tip', 'tip.json');
    expect(first).toMatchObject({ code: 0, errors: '' });
    expect(first.output).toMatch(
      /^The \d+ blocks of the journal of \S+ form one chain up to block \d+ \([0-9a-f]{64}\), which the network has certified, and the \d+ entries that the service shows of bucket demo match their blocks\.\n$/,
    );
    const tip = JSON.parse(await readFile(join(folder, 'tip.json'), 'utf8'));
    await store('later.txt');
    const second = await efs('journal', 'verify', bucket, '--tip', 'tip.json');
    expect(second.output).toContain(
      `nothing up to block ${tip.index} of the former tip has changed`,
    );
    const stored = JSON.parse(await readFile(join(folder, 'tip.json'), 'utf8'));
    expect(stored.index).toBe(tip.index + 1);
    const forged = JSON.stringify({ ...stored, hash: tip.hash });
    await writeFile(join(folder, 'tip.json'), forged);
    const third = await efs('journal', 'verify', bucket, '--tip', 'tip.json');
    expect(third).toMatchObject({ code: 8, output: '' });
    expect(third.errors).toContain(`Block ${stored.index} of the journal is altered`);
    expect(await readFile(join(folder, 'tip.json'), 'utf8')).toBe(forged);
    await writeFile(join(folder, 'tip.json'), '{}');
    expect(await efs('journal', 'verify', bucket, '--tip', 'tip.json')).toMatchObject({ code: 2 });
  });

  test('export prints lines of JSON, or CloudEvents', async () => {
    const entries = linesOf((await efs('journal', 'export', bucket)).output);
    const seqs = entries.map(({ seq }) => seq);
    expect(seqs).toEqual(seqs.toSorted((a, b) => a - b));
    const events = linesOf((await efs('journal', 'export', bucket, '--cloudevents')).output);
    expect(events).toHaveLength(entries.length);
    const index = entries.findIndex(({ kind }) => kind === 'file.moved');
    const { seq, at, by, version, digest } = entries[index];
    expect(events[index]).toEqual({
      specversion: '1.0',
      id: String(seq),
      source: `efs://${service.canisterId}/${bucket}`,
      type: 'efs.file.moved',
      time: at,
      subject: 'three.txt',
      datacontenttype: 'application/json',
      data: { by, path: 'three.txt', formerPath: 'two.txt', version, digest },
    });
  });

  test('follow prints new changes until it is interrupted', async () => {
    const run = startCommand(['journal', 'follow', bucket, '--json'], settings);
    let printed = '';
    run.process.stdout?.on('data', (text: string) => {
      printed += text;
    });
    await vi.waitFor(
      async () => {
        await store('followed.txt');
        expect(printed).not.toBe('');
      },
      { timeout: 30_000, interval: 1_000 },
    );
    run.process.kill('SIGINT');
    const { code, output, errors } = await run.ended;
    expect({ code, errors }).toEqual({ code: 0, errors: '' });
    for (const line of linesOf(output)) {
      expect(line).toMatchObject({ kind: 'file.stored', path: 'followed.txt' });
    }
  });
});

test('efs events sends each change once it is acknowledged, and goes on at its cursor', async () => {
  const received: { id: string; type: string }[] = [];
  let refusals = 1;
  const server = createServer(async (request, response) => {
    const event = (await json(request)) as { id: string; type: string };
    const type = request.headers['content-type'];
    const isTaken = type === 'application/cloudevents+json; charset=UTF-8' && refusals-- <= 0;
    if (isTaken) received.push(event);
    response.writeHead(isTaken ? 204 : 503).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
  const words = ['events', bucket, '--post', url, '--cursor', 'cursor.json'];
  const expected = linesOf((await efs('journal', 'export', bucket, '--cloudevents')).output);

  const runUntil = async (count: number) => {
    const run = startCommand(words, settings);
    await vi.waitFor(() => expect(received.length).toBeGreaterThanOrEqual(count), {
      timeout: 30_000,
    });
    run.process.kill('SIGINT');
    return run.ended;
  };
  const first = await runUntil(expected.length);
  expect(first.code).toBe(0);
  expect(first.errors).toContain('the event was answered with 503; next attempt in 1 s.');
  expect(received).toEqual(expected);
  await store('next.txt');
  await runUntil(expected.length + 1);
  // An event may come twice if the command was stopped before it stored its cursor.
  const ids = received.map(({ id }) => Number(id));
  expect(ids).toEqual(ids.toSorted((a, b) => a - b));
  expect(received.at(-1)).toMatchObject({ type: 'efs.file.stored', subject: 'next.txt' });
  const { after } = JSON.parse(await readFile(join(folder, 'cursor.json'), 'utf8'));
  expect(ids).toContain(after);
  await writeFile(join(folder, 'cursor.json'), '{"source":"other/demo","after":1}');
  expect(await efs(...words)).toMatchObject({ code: 2 });
  server.closeAllConnections();
  server.close();
});
