// `npm run bench:client [MB [PARALLEL,…]]`: throughput of `efs put` and `efs get` against the
// local replica, each a process of its own, with peak memory and who took the processor's time.
// Linux only: the numbers are read from /proc. Without arguments it writes the table in README.md.

import { randomFillSync } from 'node:crypto';
import { mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type MeasuredService, startMeasured } from './client-service.ts';
import { formatRow, headings, type Measurement } from './client-table.ts';
import { replaceTable } from './table.ts';

const projectDir = join(dirname(fileURLToPath(import.meta.url)), '..');
const megabytesDefault = 200;
const parallelsDefault = '1,4,8';
const transports = ['actor', 'http'] as const;

async function writeSample(path: string, bytes: number): Promise<void> {
  const handle = await open(path, 'w');
  const block = new Uint8Array(1_000_000);
  for (let written = 0; written < bytes; written += block.length) {
    await handle.write(randomFillSync(block));
  }
  await handle.close();
}

async function measure(
  service: MeasuredService,
  words: readonly string[],
  bytes: number,
): Promise<Measurement> {
  const before = await service.processorTime();
  const { seconds, clientSeconds, peakBytes } = await service.run(words);
  const after = await service.processorTime();
  return {
    megabytesPerSecond: bytes / 1e6 / seconds,
    peakMegabytes: peakBytes / 1e6,
    clientSeconds,
    replicaSeconds: after.process - before.process,
    canisterSeconds: after.canister - before.canister,
  };
}

async function main(): Promise<void> {
  const bytes = 1e6 * Number(process.argv[2] ?? megabytesDefault);
  const parallels = (process.argv[3] ?? parallelsDefault).split(',');
  const folder = await mkdtemp(join(tmpdir(), 'bench-client-'));
  const service = await startMeasured(folder);
  try {
    const sample = join(folder, 'sample.bin');
    await writeSample(sample, bytes);
    const rows = [headings];
    const add = (row: string) => {
      rows.push(row);
      console.log(row);
    };
    console.log(headings);
    for (const transport of transports) {
      for (const parallel of parallels) {
        const flags = ['-q', '--transport', transport];
        const many = ['-p', parallel];
        const up = ['put', ...many, sample, 'demo/sample.bin'];
        const down = ['get', ...many, 'demo/sample.bin', join(folder, 'back.bin')];
        const title = `${transport}, ${parallel}`;
        add(formatRow(`put ${title}`, await measure(service, [...flags, ...up], bytes)));
        add(formatRow(`get ${title}`, await measure(service, [...flags, ...down], bytes)));
      }
    }
    if (process.argv.length === 2) {
      const readme = join(projectDir, 'README.md');
      const table = replaceTable(await readFile(readme, 'utf8'), 'client', rows.join('\n'));
      await writeFile(readme, table);
    }
  } finally {
    await service.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

await main();
