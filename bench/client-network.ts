// `npm run bench:client -- --network mainnet [MB [PARALLEL,…]]` measures transfers with a replica
// as slow as the network. They mostly wait, so the machine's speed hardly matters. Each transport
// and PARALLEL has its own file names, because gateways cache answers.

import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startMeasured } from './client-service.ts';
import { replaceTable } from './table.ts';

const smallFileCount = 500;
const smallFileBytes = 5_000;
const smallFilesPerFolder = 50;
const transports = ['http', 'actor'] as const;

export interface NetworkRun {
  readonly profile: string;
  readonly megabytes: number;
  readonly parallels: readonly string[];
  /** Writes a file of random bytes. */
  writeSample(path: string, bytes: number): Promise<void>;
  /** The page that receives the table; if undefined, the table is only printed. */
  readonly document: string | undefined;
}

interface Row {
  readonly title: string;
  readonly bytes: number;
  words(parallel: string): readonly string[];
}

export async function measureNetwork(run: NetworkRun): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-network-'));
  const service = await startMeasured(folder, { hasProfile: false, network: run.profile });
  const heads = ['transfer', ...run.parallels.map((parallel) => `parallel ${parallel}`)];
  const lines = [heads, heads.map(() => '---')].map(formatLine);
  console.log(lines.join('\n'));
  try {
    for (const row of await rowsOf(run, folder)) {
      const cells = [row.title];
      for (const parallel of run.parallels) {
        const { seconds } = await service.run(['-q', ...row.words(parallel)]);
        const rate = row.bytes / 1e6 / seconds;
        cells.push(`${seconds.toFixed(1)} s (${rate.toFixed(rate < 10 ? 2 : 1)} MB/s)`);
      }
      lines.push(formatLine(cells));
      console.log(lines.at(-1));
    }
    if (run.document === undefined) return;
    const text = await readFile(run.document, 'utf8');
    await writeFile(run.document, replaceTable(text, 'mainnet', lines.join('\n')));
  } finally {
    await service.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

function formatLine(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`;
}

async function rowsOf(run: NetworkRun, folder: string): Promise<Row[]> {
  const sample = join(folder, 'sample.bin');
  const small = join(folder, 'small');
  const bytes = 1e6 * run.megabytes;
  await run.writeSample(sample, bytes);
  await writeSmallFiles(small, run.writeSample);
  const size = `${run.megabytes} MB`;
  const many = `${smallFileCount} files of ${smallFileBytes / 1_000} kB`;
  return transports.flatMap((transport) => {
    const way = ['--transport', transport];
    const stored = (parallel: string) => `demo/${transport}-${parallel}`;
    const back = (parallel: string) => join(folder, `${transport}-${parallel}`);
    const asked = (command: string, parallel: string) => [...way, command, '-p', parallel];
    return [
      {
        title: `put ${size}, ${transport}`,
        bytes,
        words: (parallel) => [...asked('put', parallel), sample, `${stored(parallel)}.bin`],
      },
      {
        title: `get ${size}, ${transport}`,
        bytes,
        words: (parallel) => [
          ...asked('get', parallel),
          `${stored(parallel)}.bin`,
          `${back(parallel)}.bin`,
        ],
      },
      {
        title: `sync ${many} up, ${transport}`,
        bytes: smallFileCount * smallFileBytes,
        words: (parallel) => [...asked('sync', parallel), small, `${stored(parallel)}/`],
      },
      {
        title: `sync ${many} down, ${transport}`,
        bytes: smallFileCount * smallFileBytes,
        words: (parallel) => [...asked('sync', parallel), `${stored(parallel)}/`, back(parallel)],
      },
    ] satisfies Row[];
  });
}

async function writeSmallFiles(
  folder: string,
  writeSample: NetworkRun['writeSample'],
): Promise<void> {
  for (let index = 0; index < smallFileCount; index += 1) {
    const inner = join(folder, `folder-${Math.floor(index / smallFilesPerFolder)}`);
    await mkdir(inner, { recursive: true });
    await writeSample(join(inner, `file-${index}.bin`), smallFileBytes);
  }
}
