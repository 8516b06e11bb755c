// Prometheus: promtool checks the metrics and the alerts, and a server scrapes `efs serve metrics`,
// and a canister with an API key.

import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type CommandRun, startCommand } from '../client/command-runs.ts';
import { openService, ownerOf, type Service } from '../support/service.ts';
import { projectDir } from '../tidy/source-tree.ts';
import { runProgram } from './support/run-program.ts';

let service: Service;
let folder: string;
let metrics: CommandRun;
let url: string;
/** A service of one canister, and a key with monitor for its bucket. */
let single: Service;
let secret: string;

beforeAll(async () => {
  service = await openService({ hasFront: true, volumeCount: 2 });
  folder = await mkdtemp(join(tmpdir(), 'prometheus-'));
  await writeFile(join(folder, 'owner.pem'), service.identityPem, { mode: 0o600 });
  const owner = ownerOf(service);
  await owner.buckets.create('films');
  await owner.upload(new Uint8Array(1_234), { bucket: 'films', path: 'a.bin' });
  single = await openService({ hasFront: false });
  const other = ownerOf(single);
  await other.upload(new Uint8Array(4_321), { bucket: single.bucket, path: 'b.bin' });
  const buckets = [single.bucket];
  ({ secret } = await other.keys.create({ name: '', buckets, permissions: ['monitor'] }));
  const [front = ''] = new URL(service.frontUrl ?? '').hostname.split('.');
  const place = ['--host', service.host, '--front', front, '--identity', 'owner.pem'];
  const words = [...place, 'serve', 'metrics', '--listen', '127.0.0.1:0'];
  metrics = startCommand(words, { folder });
  url = await new Promise((resolve) => {
    metrics.process.stdout?.on('data', (text: string) => {
      const [, found] = /^Metrics at (\S+)$/m.exec(text) ?? [];
      if (found !== undefined) resolve(found);
    });
  });
});
afterAll(async () => {
  metrics?.process.kill('SIGINT');
  await metrics?.ended;
  await service?.stop();
  await single?.stop();
  await rm(folder, { recursive: true, force: true });
});

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

describe('promtool check metrics', () => {
  test('finds no fault in the metrics of efs serve metrics', async () => {
    await check(await (await fetch(url, { headers: { accept: 'text/plain' } })).text());
  });

  test('finds no fault in the metrics of a canister', async () => {
    const headers = { accept: 'text/plain', authorization: `Bearer ${secret}` };
    const response = await fetch(`${single.base}/metrics`, { headers });
    expect(response.status).toBe(200);
    await check(await response.text());
  });

  async function check(text: string): Promise<void> {
    const input = join(folder, 'metrics.txt');
    await writeFile(input, text);
    const command = ['sh', '-c', `promtool check metrics < ${input}`] as const;
    const { code, output, errors } = await runProgram([...command], { folder });
    expect([output.toString(), errors, code]).toEqual(['', '', 0]);
  }
});

describe('promtool check rules', () => {
  test('accepts docs/monitoring/alerts.yml', async () => {
    const file = join(projectDir, 'docs/monitoring/alerts.yml');
    const { code, output } = await runProgram(['promtool', 'check', 'rules', file], { folder });
    expect([code, output.toString()]).toEqual([0, expect.stringContaining('8 rules found')]);
  });
});

describe('prometheus', () => {
  let prometheus: ChildProcess;
  let api: string;

  beforeAll(async () => {
    const config = {
      global: { scrape_interval: '1s' },
      scrape_configs: [
        { job_name: 'efs', static_configs: [{ targets: [new URL(url).host] }] },
        {
          job_name: 'canister',
          authorization: { credentials: secret },
          static_configs: [{ targets: [new URL(single.base).host] }],
        },
      ],
    };
    await writeFile(join(folder, 'prometheus.yml'), JSON.stringify(config));
    const listen = `127.0.0.1:${await freePort()}`;
    api = `http://${listen}/api/v1`;
    prometheus = spawn(
      'prometheus',
      [
        ...['--config.file=prometheus.yml', '--storage.tsdb.path=data'],
        `--web.listen-address=${listen}`,
      ],
      { cwd: folder, stdio: 'ignore' },
    );
  });
  afterAll(async () => {
    const closed = new Promise((resolve) => prometheus.once('close', resolve));
    prometheus.kill('SIGTERM');
    await closed;
  });

  async function valuesOf(query: string): Promise<number[]> {
    const response = await fetch(`${api}/query?query=${encodeURIComponent(query)}`);
    const { data } = (await response.json()) as {
      readonly data: { readonly result: readonly { readonly value: [number, string] }[] };
    };
    return data.result.map(({ value: [, value] }) => Number(value));
  }

  test('scrapes OpenMetrics, and answers queries with the figures of the service', async () => {
    await vi.waitFor(async () => expect(await valuesOf('efs_up{job="efs"}')).toEqual([1, 1, 1]), {
      timeout: 120_000,
      interval: 1_000,
    });
    expect(await valuesOf('up{job="efs"}')).toEqual([1]);
    expect(await valuesOf('efs_bucket_files{job="efs",bucket="films"}')).toEqual([1]);
    expect(await valuesOf('efs_bucket_stored_bytes{job="efs",bucket="films"}')).toEqual([1_234]);
    expect(await valuesOf('sum(efs_volume_state{state="open"})')).toEqual([2]);
    const metadata = await (await fetch(`${api}/metadata?metric=efs_stored_bytes`)).json();
    // The unit is in OpenMetrics alone
    expect(metadata.data.efs_stored_bytes).toEqual([
      { type: 'gauge', help: 'Bytes of all files.', unit: 'bytes' },
    ]);
  });

  test('scrapes a canister with an API key, and answers queries with its figures', async () => {
    await expect
      .poll(() => valuesOf('efs_up{job="canister"}'), { timeout: 120_000, interval: 1_000 })
      .toEqual([1]);
    expect(await valuesOf('up{job="canister"}')).toEqual([1]);
    const ofBucket = `job="canister",bucket="${single.bucket}"`;
    expect(await valuesOf(`efs_bucket_stored_bytes{${ofBucket}}`)).toEqual([4_321]);
    const { files } = await ownerOf(single).status();
    expect(await valuesOf('efs_files{job="canister"}')).toEqual([files]);
    expect(await valuesOf('efs_balance_seconds{job="canister"} > 0')).toHaveLength(1);
  });

  test('evaluates the alert on canisters that do not answer, by which none is down', async () => {
    const down = 'efs_up == 0 or (max_over_time(efs_up[1d]) unless efs_up)';
    const file = await readFile(join(projectDir, 'docs/monitoring/alerts.yml'), 'utf8');
    expect(file).toContain(`expr: ${down}\n`);
    expect(await valuesOf(down)).toEqual([]);
  });
});
