// `npm run bench:client -- --end-to-end [MB [ROUNDS]]` compares `efs put` and `efs get` of an
// end-to-end bucket with a plain one, and counts the bytes that a client reads for a range. Each
// round runs both, because the speed of a busy machine changes with time.

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { identityFromPem } from '../packages/client/src/node/identity.ts';
import { createNodeStorage } from '../packages/client/src/node/storage.ts';
import { type MeasuredService, startMeasured } from './client-service.ts';
import { formatRow, headings, type Measurement } from './client-table.ts';
import { replaceTable } from './table.ts';

export interface EndToEndBench {
  readonly megabytes: number;
  readonly rounds: number;
  readonly writeSample: (path: string, bytes: number) => Promise<void>;
  /** The page whose table is written. */
  readonly document: string | undefined;
}

const buckets = ['plain', 'safe'] as const;
const rangeBytes = 100_000;

export async function measureEndToEnd(bench: EndToEndBench): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-end-to-end-'));
  const service = await startMeasured(folder, { hasProfile: false });
  try {
    const rows = [headings];
    for (const row of await transferRows(service, folder, bench)) rows.push(row);
    const read = await rangeCost(join(folder, 'state'));
    const said = `Reading ${rangeBytes / 1_000} kB of an end-to-end file transfers ${(read / 1_000).toFixed(0)} kB.`;
    console.log([...rows, said].join('\n'));
    if (bench.document === undefined) return;
    const page = await readFile(bench.document, 'utf8');
    await writeFile(
      bench.document,
      replaceTable(page, 'end-to-end', [...rows, '', said].join('\n')),
    );
  } finally {
    await service.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Returns the median of each transfer, and a sentence with the median shares. */
async function transferRows(
  service: MeasuredService,
  folder: string,
  { megabytes, rounds, writeSample }: EndToEndBench,
): Promise<string[]> {
  const sample = join(folder, 'sample.bin');
  const bytes = megabytes * 1e6;
  await writeSample(sample, bytes);
  await service.run(['-q', 'bucket', 'create', 'plain']);
  await service.run(['-q', 'bucket', 'create', 'safe', '--end-to-end']);
  const measured = new Map<string, Measurement[]>();
  for (let round = 0; round < rounds; round++) {
    for (const verb of ['put', 'get']) {
      for (const bucket of round % 2 === 0 ? buckets : buckets.toReversed()) {
        const file = `${bucket}/sample.bin`;
        const words = verb === 'put' ? [sample, file] : [file, join(folder, 'back.bin')];
        const run = () => service.run(['-q', '--transport', 'actor', verb, ...words]);
        const title = `${verb}, ${bucket === 'safe' ? 'end-to-end' : 'plain'}`;
        const former = measured.get(title) ?? [];
        measured.set(title, [...former, await service.measure(run, bytes)]);
      }
    }
  }
  const rows = [...measured].map(([title, all]) => formatRow(title, medianOf(all)));
  const shares = ['put', 'get'].map((verb) => shareOf(measured, verb).toFixed(2));
  return [
    ...rows,
    '',
    `End-to-end, put was ${shares.join(' and get ')} times as fast as plain (medians).`,
  ];
}

/** Returns the median over the rounds of the end-to-end rate divided by the plain rate. */
function shareOf(measured: ReadonlyMap<string, readonly Measurement[]>, verb: string): number {
  const plain = measured.get(`${verb}, plain`) ?? [];
  const sealed = measured.get(`${verb}, end-to-end`) ?? [];
  const shares = sealed.map(({ megabytesPerSecond }, round) => {
    return megabytesPerSecond / (plain[round]?.megabytesPerSecond ?? 0);
  });
  return shares.toSorted((one, other) => one - other)[Math.floor(shares.length / 2)] ?? 0;
}

function medianOf(all: readonly Measurement[]): Measurement {
  const sorted = all.toSorted((one, other) => one.megabytesPerSecond - other.megabytesPerSecond);
  return sorted[Math.floor(sorted.length / 2)] as Measurement;
}

/** Returns the bytes of all answers that a new client receives for a range, after a `stat`. */
async function rangeCost(state: string): Promise<number> {
  const service = JSON.parse(await readFile(join(state, 'service.json'), 'utf8'));
  let bytes = 0;
  let counts = false;
  const counting: typeof fetch = async (input, init) => {
    const answer = await fetch(input, init);
    if (counts) bytes += (await answer.clone().arrayBuffer()).byteLength;
    return answer;
  };
  const { url: host, canisterId, identityPem } = service;
  const identity = identityFromPem(identityPem);
  const storage = createNodeStorage({ host, canisterId, identity, fetch: counting });
  const file = { bucket: 'safe', path: 'sample.bin' };
  const { size } = await storage.stat(file);
  counts = true;
  const start = Math.floor(size / 2);
  const part = await storage.download(file, { range: { start, end: start + rangeBytes } });
  await part.bytes();
  return bytes;
}
