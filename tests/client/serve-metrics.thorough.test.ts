// `efs serve metrics` beside a service of a front and two volumes.

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Principal } from '@dfinity/principal';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { version } from '../../package.json';
import type { Storage } from '../../packages/client/src/storage.ts';
import { principalOf } from '../../scripts/local-service.ts';
import { manage } from '../replica/conformance/management-client.ts';
import { openService, ownerOf, type Service } from '../support/service.ts';
import { type CommandRun, startCommand } from './command-runs.ts';

let service: Service;
let folder: string;
let owner: Storage;
let running: CommandRun;
let url: string;

beforeAll(async () => {
  service = await openService({ hasFront: true, volumeCount: 2 });
  folder = await mkdtemp(join(tmpdir(), 'metrics-'));
  await writeFile(join(folder, 'owner.pem'), service.identityPem, { mode: 0o600 });
  owner = ownerOf(service);
  await owner.buckets.create('films', { quotaBytes: 1_000_000 });
  await owner.upload(new Uint8Array(1_234), { bucket: 'films', path: 'a.bin' });
  const [front = ''] = new URL(service.frontUrl ?? '').hostname.split('.');
  const place = ['--host', service.host, '--front', front, '--identity', 'owner.pem'];
  const words = [...place, 'serve', 'metrics', '--listen', '127.0.0.1:0'];
  running = startCommand(words, { folder });
  url = await new Promise((resolve, reject) => {
    running.process.stdout?.on('data', (text: string) => {
      const [, found] = /^Metrics at (\S+)$/m.exec(text) ?? [];
      if (found !== undefined) resolve(found);
    });
    void running.ended.then(({ errors }) => reject(new Error(errors)));
  });
});
afterAll(async () => {
  running?.process.kill('SIGINT');
  await running?.ended;
  await service?.stop();
  await rm(folder, { recursive: true, force: true });
});

interface Read {
  readonly type: string | null;
  readonly text: string;
}

async function read(headers: Record<string, string> = {}): Promise<Read> {
  const response = await fetch(url, { headers });
  expect(response.status).toBe(200);
  return { type: response.headers.get('content-type'), text: await response.text() };
}

/** Returns the values of a metric by its labels. */
function samplesOf(text: string, name: string): Map<string, number> {
  const lines = text.split('\n').filter((line) => line.startsWith(`${name}{`));
  return new Map(
    lines.map((line) => [
      line.slice(0, line.lastIndexOf(' ')),
      Number(line.slice(line.lastIndexOf(' '))),
    ]),
  );
}

/** Returns the values whose labels contain these ones. */
function valuesOf(text: string, name: string, label = ''): number[] {
  const found = [...samplesOf(text, name)].filter(([labels]) => labels.includes(label));
  return found.map(([, value]) => value);
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

describe('GET /metrics of efs serve metrics', () => {
  test('answers in OpenMetrics with the figures of each canister and each bucket', async () => {
    const { type, text } = await read();
    expect(type).toBe('application/openmetrics-text; version=1.0.0; charset=utf-8');
    expect(text).toMatch(/\n# EOF\n$/);
    expect(valuesOf(text, 'efs_up')).toEqual([1, 1, 1]);
    expect(valuesOf(text, 'efs_up', 'role="front"')).toEqual([1]);
    const { files, bytesStored } = await owner.status();
    expect(sum(valuesOf(text, 'efs_files', 'role="volume"'))).toBe(files);
    expect(sum(valuesOf(text, 'efs_stored_bytes'))).toBe(bytesStored);
    const films = 'bucket="films"';
    expect(valuesOf(text, 'efs_bucket_files', films)).toEqual([1]);
    expect(valuesOf(text, 'efs_bucket_stored_bytes', films)).toEqual([1_234]);
    expect(valuesOf(text, 'efs_bucket_quota_bytes', films)).toEqual([1_000_000]);
    expect(valuesOf(text, 'efs_code_info', `version="${version}"`)).toEqual([1, 1, 1]);
    expect(valuesOf(text, 'efs_volume_state', 'state="open"')).toEqual([1, 1]);
    expect(valuesOf(text, 'efs_volume_state', 'state="full"')).toEqual([0, 0]);
    expect(valuesOf(text, 'efs_stable_memory_limit_bytes')).toEqual([429496729600, 429496729600]);
    expect(valuesOf(text, 'efs_budget_left', 'budget="refusals"')).toHaveLength(2);
    for (const name of ['efs_balance_cycles', 'efs_balance_seconds', 'efs_reserved_limit_cycles']) {
      const values = valuesOf(text, name);
      expect(values, name).toHaveLength(3);
      expect(Math.min(...values), name).toBeGreaterThan(0);
    }
  });

  test('answers in the format 0.0.4 if Accept prefers it', async () => {
    const { type, text } = await read({ accept: 'text/plain;version=0.0.4' });
    expect(type).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(text).toContain('# TYPE efs_code_info gauge\n');
    expect(text).not.toContain('# EOF');
  });

  test('refuses other paths, methods, and hosts that are not this machine', async () => {
    expect((await fetch(new URL('/', url))).status).toBe(404);
    const posted = await fetch(url, { method: 'POST' });
    expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
    const head = await fetch(url, { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
    expect(Number(head.headers.get('content-length'))).toBeGreaterThan(1_000);
    const status = await new Promise((resolve, reject) => {
      const sent = request(url, { headers: { host: 'rebound.example' } }, (response) => {
        response.resume();
        resolve(response.statusCode);
      });
      sent.once('error', reject).end();
    });
    expect(status).toBe(421);
  });

  test('reports a stopped volume as down, and the others as before', async () => {
    const volume = {
      sender: principalOf(service.identityPem),
      canister_id: Principal.fromText(service.canisterId),
    };
    await manage(service.replica as never, 'stop_canister', volume);
    const down = `canister="${service.canisterId}"`;
    await expect
      .poll(async () => valuesOf((await read()).text, 'efs_up', down), { interval: 1_000 })
      .toEqual([0]);
    const { text } = await read();
    expect(sum(valuesOf(text, 'efs_up'))).toBe(2);
    expect(valuesOf(text, 'efs_files', down)).toEqual([]);
    expect(valuesOf(text, 'efs_volume_state', down)).toHaveLength(4);
    await manage(service.replica as never, 'start_canister', volume);
    await expect
      .poll(async () => valuesOf((await read()).text, 'efs_up', down), { interval: 1_000 })
      .toEqual([1]);
  });
});

describe('efs serve metrics', () => {
  test('names what is missing without an identity, and a --listen without a port', async () => {
    const words = ['serve', 'metrics', '--listen', '127.0.0.1:0'];
    const none = await startCommand(['--url', service.base, ...words], { folder }).ended;
    expect(none.code).not.toBe(0);
    expect(none.errors).toContain('The figures need the service and an identity');
    const odd = await startCommand(['serve', 'metrics', '--listen', 'here'], { folder }).ended;
    expect(odd.errors).toContain('--listen must be host:port, such as 127.0.0.1:9900; got here.');
  });
});
