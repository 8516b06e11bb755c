// `npm run bench:client [MB [PARALLEL,…]]` measures throughput, peak memory and processor time of
// `efs put` and `efs get` with the local replica, each in a process of its own, and of the same
// bytes by curl and nginx. Linux only, since it reads /proc. Without arguments it writes the table
// in docs/reference/costs.md. `--profile` also profiles the replica, which slows it
// (client-profile.ts). The other options measure something else instead:
// `--network mainnet` uses a replica as slow as the network (client-network.ts)
// `--end-to-end` compares plain and end-to-end buckets (client-end-to-end.ts)
// `--s3` compares the S3 server with `efs` (client-s3.ts)
// `--line` uses throttled lines (client-line.ts)
// `--journal` verifies a journal and mirrors a bucket (client-journal.ts)

import { randomFillSync } from 'node:crypto';
import { mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { compare, description } from './client-comparisons.ts';
import { measureEndToEnd } from './client-end-to-end.ts';
import { measureJournalCommands } from './client-journal.ts';
import { measureLines } from './client-line.ts';
import { measureNetwork } from './client-network.ts';
import { formatShares, type Span } from './client-profile.ts';
import { measureS3 } from './client-s3.ts';
import { type MeasuredService, startMeasured } from './client-service.ts';
import { formatRow, headings } from './client-table.ts';
import { replaceTable } from './table.ts';

const projectDir = join(dirname(fileURLToPath(import.meta.url)), '..');
const megabytesDefault = 200;
const parallelsDefault = '1,4,8';

async function writeSample(path: string, bytes: number): Promise<void> {
  const handle = await open(path, 'w');
  const block = new Uint8Array(Math.min(bytes, 1_000_000));
  for (let written = 0; written < bytes; written += block.length) {
    await handle.write(randomFillSync(block));
  }
  await handle.close();
}

interface Run {
  readonly service: MeasuredService;
  readonly folder: string;
  readonly sample: string;
  readonly bytes: number;
  readonly parallels: readonly string[];
}

/** Runs all transfers; `onRow` receives each row with the span of its transfer. */
async function transferAll(run: Run, onRow: (row: string, span: Span) => void): Promise<void> {
  const { service, folder, sample, bytes } = run;
  for (const [way, flags] of Object.entries(await waysOf(folder))) {
    for (const parallel of run.parallels) {
      const many = ['-p', parallel];
      const commands = [
        ['put', ...many, sample, 'demo/sample.bin'],
        ['get', ...many, 'demo/sample.bin', join(folder, 'back.bin')],
      ];
      for (const command of commands) {
        const title = `${command[0]} ${way}, ${parallel}`;
        const start = microseconds();
        const cost = await service.measure(() => service.run(['-q', ...flags, ...command]), bytes);
        onRow(formatRow(title, cost), { title, start, end: microseconds() });
      }
    }
  }
}

/** With a key, `efs` reads over HTTP and writes by the actor. */
async function waysOf(folder: string): Promise<Readonly<Record<string, readonly string[]>>> {
  const { apiKey } = await description(folder);
  return {
    actor: ['--transport', 'actor'],
    http: ['--transport', 'http'],
    both: ['--api-key', apiKey],
  };
}

function microseconds(): number {
  return Number(process.hrtime.bigint() / 1_000n);
}

function benchNetwork(profile: string, positionals: readonly string[]): Promise<void> {
  const [megabytes = '20', parallels = '1,4,8,16'] = positionals;
  return measureNetwork({
    profile,
    megabytes: Number(megabytes),
    parallels: parallels.split(','),
    writeSample,
    document: positionals.length === 0 ? join(projectDir, 'docs/reference/costs.md') : undefined,
  });
}

function benchLines(positionals: readonly string[]): Promise<void> {
  const [megabytes = '30', line = '', column = ''] = positionals;
  return measureLines({
    megabytes: Number(megabytes),
    line,
    column,
    writeSample,
    document: positionals.length === 0 ? join(projectDir, 'docs/reference/costs.md') : undefined,
  });
}

function benchEndToEnd(positionals: readonly string[]): Promise<void> {
  const [megabytes = megabytesDefault, rounds = 5] = positionals;
  return measureEndToEnd({
    megabytes: Number(megabytes),
    rounds: Number(rounds),
    writeSample,
    document: positionals.length === 0 ? join(projectDir, 'docs/reference/costs.md') : undefined,
  });
}

function benchS3(positionals: readonly string[]): Promise<void> {
  const [megabytes = megabytesDefault, rounds = 5] = positionals;
  return measureS3({
    megabytes: Number(megabytes),
    rounds: Number(rounds),
    writeSample,
    document: positionals.length === 0 ? join(projectDir, 'docs/reference/costs.md') : undefined,
  });
}

async function main(): Promise<void> {
  const options = {
    profile: { type: 'boolean', default: false },
    network: { type: 'string' },
    'end-to-end': { type: 'boolean', default: false },
    s3: { type: 'boolean', default: false },
    line: { type: 'boolean', default: false },
    journal: { type: 'boolean', default: false },
  } as const;
  const { values, positionals } = parseArgs({ options, allowPositionals: true });
  if (values.network !== undefined) return benchNetwork(values.network, positionals);
  if (values.line) return benchLines(positionals);
  if (values.journal) return measureJournalCommands(join(projectDir, 'docs/reference/costs.md'));
  if (values.s3) return benchS3(positionals);
  if (values['end-to-end']) return benchEndToEnd(positionals);
  const bytes = 1e6 * Number(positionals[0] ?? megabytesDefault);
  const parallels = (positionals[1] ?? parallelsDefault).split(',');
  const folder = await mkdtemp(join(tmpdir(), 'bench-client-'));
  const service = await startMeasured(folder, { hasProfile: values.profile });
  const [rows, spans]: [string[], Span[]] = [[headings], []];
  const add = (row: string) => {
    rows.push(row);
    console.log(row);
  };
  try {
    const sample = join(folder, 'sample.bin');
    await writeSample(sample, bytes);
    console.log(headings);
    const run = { service, folder, sample, bytes, parallels };
    await transferAll(run, (row, span) => {
      add(row);
      spans.push(span);
    });
    for (const row of await compare(run)) add(row);
    await service.stop();
    if (values.profile) console.log(await formatShares(join(folder, 'profile'), spans));
    if (process.argv.length === 2) {
      const page = join(projectDir, 'docs/reference/costs.md');
      const table = replaceTable(await readFile(page, 'utf8'), 'client', rows.join('\n'));
      await writeFile(page, table);
    }
  } finally {
    await service.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

await main();
