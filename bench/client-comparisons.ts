// Reference transfers for the client's bench: curl transfers the same bytes with the replica, and
// with nginx, which neither encrypts nor waits for the disk. A row says which program is missing.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import type { ServiceDescription } from '../scripts/local-service.ts';
import { type MeasuredService, processorSeconds, runMeasured } from './client-service.ts';
import { absentRow, formatRow } from './client-table.ts';

/** Bytes of one request. */
const sampleBytes = 2_000_000;
const startMs = 5_000;

export interface Comparison {
  readonly service: MeasuredService;
  readonly folder: string;
  readonly sample: string;
  readonly bytes: number;
  readonly parallels: readonly string[];
}

interface Transfer {
  readonly url: string;
  readonly file: string;
}

/** Returns rows for the table of the client's bench. */
export async function compare(comparison: Comparison): Promise<string[]> {
  if (!isInstalled('curl')) return [absentRow('curl')];
  const rows: string[] = [];
  const samples = await cutSample(comparison);
  for (const parallel of comparison.parallels)
    rows.push(...(await byCurl(comparison, samples, parallel)));
  rows.push(...(isInstalled('nginx') ? await withNginx(comparison) : [absentRow('nginx')]));
  return rows;
}

function isInstalled(program: string): boolean {
  return spawnSync(program, [program === 'nginx' ? '-v' : '--version']).status === 0;
}

async function cutSample({ folder, sample }: Comparison): Promise<string[]> {
  const bytes = await readFile(sample);
  const samples: string[] = [];
  for (let start = 0; start < bytes.length; start += sampleBytes) {
    const sampleFile = join(folder, `sample-${samples.length}`);
    await writeFile(sampleFile, bytes.subarray(start, start + sampleBytes));
    samples.push(sampleFile);
  }
  return samples;
}

async function byCurl(
  comparison: Comparison,
  samples: readonly string[],
  parallel: string,
): Promise<string[]> {
  const { service, folder, bytes } = comparison;
  const { url, bucket, apiKey } = await description(folder);
  const headers = [`Authorization: Bearer ${apiKey}`, 'Content-Type: application/octet-stream'];
  const place = (base: string) =>
    samples.map((file, index) => ({ url: `${url}/${base}/curl/${index}`, file }));
  const up = place(`api/v1/bucket/${bucket}/files`);
  const down = place(`cloud/${bucket}`).map((each) => ({ ...each, file: `${each.file}.back` }));
  const options = ['-Z', '--parallel-max', parallel];
  const rows: string[] = [];
  for (const [name, lines] of [
    ['put', up.map((each) => uploadLines(each, headers))],
    ['get', down.map(downloadLines)],
  ] as const) {
    const words = [
      '-q',
      '-sS',
      '--no-progress-meter',
      ...options,
      '-K',
      await writeConfig(folder, lines),
    ];
    const measured = await service.measure(() => runMeasured('curl', words, folder), bytes);
    rows.push(formatRow(`${name} curl, files of 2 MB, ${parallel}`, measured));
  }
  return rows;
}

export async function description(folder: string): Promise<ServiceDescription> {
  return JSON.parse(await readFile(join(folder, 'state', 'service.json'), 'utf8'));
}

const uploadLines = ({ url, file }: Transfer, headers: readonly string[]) => [
  `url = "${url}"`,
  `upload-file = "${file}"`,
  'output = "/dev/null"',
  'fail',
  ...headers.map((header) => `header = "${header}"`),
];

const downloadLines = ({ url, file }: Transfer) => [`url = "${url}"`, `output = "${file}"`, 'fail'];

async function writeConfig(folder: string, transfers: readonly string[][]): Promise<string> {
  const path = join(folder, 'curl.conf');
  await writeFile(path, transfers.map((lines) => lines.join('\n')).join('\nnext\n'));
  return path;
}

/** Transfers the whole file in one request each way. */
async function withNginx({ folder, sample, bytes }: Comparison): Promise<string[]> {
  const port = await freePort();
  const nginx = await startNginx(join(folder, 'nginx'), port);
  const url = `http://127.0.0.1:${port}/sample.bin`;
  const back = join(folder, 'back.bin');
  const transfers: readonly (readonly [name: string, words: string[]])[] = [
    ['put', ['-T', sample]],
    ['get', ['-o', back]],
  ];
  const rows: string[] = [];
  try {
    for (const [name, words] of transfers) {
      const before = await processorSeconds(nginx);
      const cost = await runMeasured('curl', ['-q', '-sS', '-f', ...words, url], folder);
      const replicaSeconds = (await processorSeconds(nginx)) - before;
      const { seconds, clientSeconds, peakBytes } = cost;
      const rates = { megabytesPerSecond: bytes / 1e6 / seconds, peakMegabytes: peakBytes / 1e6 };
      const title = `${name} curl and nginx in the replica's place`;
      rows.push(formatRow(title, { ...rates, clientSeconds, replicaSeconds }));
    }
  } finally {
    const closed = new Promise((resolve) => nginx.once('close', resolve));
    nginx.kill('SIGTERM');
    await closed;
  }
  return rows;
}

async function startNginx(folder: string, port: number): Promise<ChildProcess> {
  await mkdir(folder, { recursive: true });
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  );
  const server = `listen 127.0.0.1:${port}; root ${folder}; dav_methods PUT;`;
  const lines = [
    'daemon off; master_process off;',
    `pid ${folder}/pid; error_log stderr crit;`,
    'events {}',
    'http {',
    `access_log off; client_max_body_size 0; ${temporary.join(' ')}`,
    `server { ${server} }`,
    '}',
  ];
  const config = join(folder, 'nginx.conf');
  await writeFile(config, lines.join('\n'));
  const words = ['-p', folder, '-c', config, '-e', 'stderr'];
  const child = spawn('nginx', words, { stdio: ['ignore', 'ignore', 'inherit'] });
  const end = performance.now() + startMs;
  while (!(await answers(port))) {
    if (child.exitCode !== null || performance.now() > end) throw new Error('nginx did not start');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return child;
}

async function answers(port: number): Promise<boolean> {
  try {
    await fetch(`http://127.0.0.1:${port}/`);
    return true;
  } catch {
    return false;
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
      server.close(() => resolve(port));
    });
  });
}
