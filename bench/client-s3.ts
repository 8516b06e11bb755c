// `npm run bench:client -- --s3 [MB [ROUNDS]]` compares the S3 server with `efs` in one run: `efs`
// and rclone transfer a large file in turn; `efs sync`, `rclone copy` and `aws s3 sync` upload
// small files, with the number of updates that the canister pays for. Needs rclone; without aws,
// its row says so.

import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type MeasuredService, startMeasured } from './client-service.ts';
import { replaceTable } from './table.ts';

export interface S3Bench {
  readonly megabytes: number;
  readonly rounds: number;
  readonly writeSample: (path: string, bytes: number) => Promise<void>;
  /** The page whose table is written. */
  readonly document: string | undefined;
}

const efs = fileURLToPath(new URL('../packages/efs/bin/efs.js', import.meta.url));
const smallFiles = 1_000;
const smallBytes = 5_000;
const smallFolders = 20;
const run = promisify(execFile);

interface Place {
  readonly service: MeasuredService;
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
}

interface Server {
  readonly url: string;
  readonly child: ChildProcess;
  readonly keys: Readonly<Record<string, string>>;
}

export async function measureS3(bench: S3Bench): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-s3-'));
  const service = await startMeasured(folder, { hasProfile: false });
  const { PATH = '' } = process.env;
  const env = { PATH, HOME: folder, XDG_CONFIG_HOME: folder, XDG_STATE_HOME: folder };
  const place = { service, folder, env };
  const server = await openServer(place);
  try {
    const rows = [
      ...(await largeRows(place, server, bench)),
      ...(await smallRows(place, server, bench)),
    ];
    const table = rows.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
    const megabytes = Math.round((await peakBytes(server.child)) / 1e6);
    const peak = `The S3 server used at most ${megabytes} MB of memory.`;
    console.log(`${table}\n\n${peak}`);
    if (bench.document === undefined) return;
    const page = await readFile(bench.document, 'utf8');
    await writeFile(bench.document, replaceTable(page, 's3', `${table}\n\n${peak}`));
  } finally {
    server.child.kill();
    await service.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

async function openServer({ folder, env }: Place): Promise<Server> {
  const state = join(folder, 'state');
  const description = JSON.parse(await readFile(join(state, 'service.json'), 'utf8'));
  const identity = join(folder, 'identity.pem');
  await writeFile(identity, description.identityPem, { mode: 0o600 });
  const place = [
    '--host',
    description.url,
    '--canister-id',
    description.canisterId,
    '--identity',
    identity,
  ];
  await run(efs, [...place, 'profile', 'add', 'here'], { env });
  const words = ['--profile', 'here', 'serve', 's3'];
  const { stdout } = await run(efs, [...words, 'credentials', 'create'], { env });
  const keys = Object.fromEntries(
    [...stdout.matchAll(/^(AWS_\w+)=(\S+)$/gm)].map(([, name = '', value = '']) => [name, value]),
  );
  const child = spawn(efs, ['-q', ...words, '--listen', '127.0.0.1:0'], { env });
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout.on('data', (text: Buffer) => {
      const [, found] = /S3 at (http:\S+)/.exec(text.toString()) ?? [];
      if (found !== undefined) resolve(found);
    });
    child.once('close', () => reject(new Error('efs serve s3 has ended')));
  });
  return { url, child, keys };
}

/** Returns the seconds that a program takes; throws if it fails. */
async function secondsOf(
  { folder, env }: Place,
  [program = '', ...words]: readonly string[],
  more: Readonly<Record<string, string>> = {},
): Promise<number> {
  const started = performance.now();
  await run(program, words, { cwd: folder, env: { ...env, ...more }, maxBuffer: 1e8 });
  return (performance.now() - started) / 1_000;
}

/** The rclone remote of the S3 server, without a configuration file. */
function remoteOf({ url, keys }: Server, path: string): string {
  const { AWS_ACCESS_KEY_ID: id, AWS_SECRET_ACCESS_KEY: secret } = keys;
  const settings = `provider=Other,endpoint='${url}',region=auto,access_key_id=${id}`;
  return `:s3,${settings},secret_access_key='${secret}',chunk_size=19Mi:${path}`;
}

async function largeRows(place: Place, server: Server, bench: S3Bench): Promise<string[][]> {
  const { service, folder } = place;
  const sample = join(folder, 'sample.bin');
  const back = join(folder, 'back.bin');
  await bench.writeSample(sample, bench.megabytes * 1e6);
  const there = remoteOf(server, 'demo/s3.bin');
  const rows = [['transfer', 'efs, MB/s', 'rclone through the S3 server, MB/s', 'rclone : efs']];
  rows.push(['---', '---', '---', '---']);
  const runs = [
    {
      title: `put ${bench.megabytes} MB`,
      own: ['-q', '--transport', 'actor', 'put', sample, 'demo/efs.bin'],
      other: ['rclone', 'copyto', '--ignore-times', sample, there],
    },
    {
      title: `get ${bench.megabytes} MB`,
      own: ['-q', '--transport', 'actor', 'get', 'demo/efs.bin', back],
      other: ['rclone', 'copyto', '--ignore-times', there, back],
    },
  ];
  for (const { title, own, other } of runs) {
    const rates: [number, number][] = [];
    for (let round = 0; round < bench.rounds; round++) {
      const { seconds } = await service.run(own);
      const serverSeconds = await secondsOf(place, other);
      rates.push([bench.megabytes / seconds, bench.megabytes / serverSeconds]);
    }
    const byShare = rates.toSorted((one, two) => one[1] / one[0] - two[1] / two[0]);
    const [byEfs, byServer] = byShare[rates.length >> 1] ?? [0, 0];
    rows.push([title, byEfs.toFixed(1), byServer.toFixed(1), (byServer / byEfs).toFixed(2)]);
  }
  return rows;
}

async function smallRows(place: Place, server: Server, bench: S3Bench): Promise<string[][]> {
  const { service, folder } = place;
  const small = join(folder, 'small');
  for (let index = 0; index < smallFiles; index++) {
    const inner = join(small, String(index % smallFolders));
    if (index < smallFolders) await mkdir(inner, { recursive: true });
    await bench.writeSample(join(inner, `${index}.bin`), smallBytes);
  }
  const clients: [string, () => Promise<number>][] = [
    ['efs sync', async () => (await service.run(['-q', 'sync', small, 'demo/by-efs'])).seconds],
    [
      'rclone copy, 16 at a time',
      () =>
        secondsOf(place, [
          ...['rclone', 'copy', '--transfers', '16', '--checkers', '16', small],
          remoteOf(server, 'demo/by-rclone'),
        ]),
    ],
    [
      'aws s3 sync',
      () =>
        secondsOf(place, ['aws', 's3', 'sync', '--no-progress', small, 's3://demo/by-aws'], {
          ...server.keys,
          AWS_ENDPOINT_URL: server.url,
          AWS_REGION: 'auto',
          AWS_DEFAULT_REGION: 'auto',
        }),
    ],
  ];
  const many = `${smallFiles.toLocaleString('en')} files of ${smallBytes / 1_000} kB`;
  const rows = [];
  for (const [name, transfer] of clients) {
    const before = service.updates();
    const seconds = await transfer().catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined;
      throw error;
    });
    const said =
      seconds === undefined
        ? 'is not installed'
        : `${seconds.toFixed(1)} s, ${service.updates() - before} updates`;
    rows.push([`${many} by ${name}`, said, '', '']);
  }
  return rows;
}

async function peakBytes({ pid }: ChildProcess): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return 1_024 * Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0);
}
