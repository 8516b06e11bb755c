// `npm run bench:client -- --journal`: the time that `efs journal verify` takes for a million
// blocks, and `efs mirror` compared with `efs sync`.

import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fillJournal } from '../tests/support/journal-fill.ts';
import { startMeasured } from './client-service.ts';
import { replaceTable } from './table.ts';

const bucket = 'demo';
const blockCount = 1_000_000;
/** The verified bucket has one entry in so many. */
const ownEvery = [1_000, 10];
const fileCount = 2_000;
const fileBytes = 1_000;
const rounds = 5;

/** `document`: the page whose table is replaced. */
export async function measureJournalCommands(document: string): Promise<void> {
  const rows = ['| command | seconds | compared |', '| --- | --- | --- |'];
  const add = (title: string, seconds: number, compared = '') => {
    rows.push(`| ${title} | ${seconds.toFixed(1)} | ${compared} |`);
    console.log(rows.at(-1));
  };
  for (const every of ownEvery) {
    const blocks = blockCount.toLocaleString('en-US');
    const entries = (blockCount / every).toLocaleString('en-US');
    const title = `efs journal verify: ${blocks} blocks, ${entries} entries of the bucket`;
    add(title, await inFolder((folder) => verifySeconds(folder, every)));
  }
  const { sync, mirror } = await inFolder(mirrorSeconds);
  const files = `${fileCount.toLocaleString('en-US')} files of ${fileBytes.toLocaleString('en-US')} B`;
  add(`efs sync up: ${files}`, medianOf(sync));
  const ratios = mirror.map((seconds, round) => seconds / (sync[round] ?? 0));
  const compared = `${medianOf(ratios).toFixed(2)} × sync`;
  add(`efs mirror --once of the same bucket to another`, medianOf(mirror), compared);
  const page = await readFile(document, 'utf8');
  await writeFile(document, replaceTable(page, 'journal-commands', rows.join('\n')));
}

async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-journal-'));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function verifySeconds(folder: string, every: number): Promise<number> {
  await writeFile(join(folder, 'file'), 'content');
  const first = await startMeasured(folder, { hasProfile: false });
  await first.run(['-q', 'put', 'file', `${bucket}/first`]);
  await first.stop();
  const isOwn = (number: number) => number % every === 0;
  await fillJournal(join(folder, 'state'), { bucket, count: blockCount, isOwn });
  const service = await startMeasured(folder, { hasProfile: false });
  try {
    // The end of the filled journal is certified by the next change
    await service.run(['-q', 'put', 'file', `${bucket}/second`]);
    return (await service.run(['-q', 'journal', 'verify', bucket])).seconds;
  } finally {
    await service.stop();
  }
}

/** Returns the seconds of each round. */
async function mirrorSeconds(folder: string) {
  const files = join(folder, 'files');
  await mkdir(files);
  for (let index = 0; index < fileCount; index++) {
    await writeFile(join(files, `${index}.bin`), randomBytes(fileBytes));
  }
  const service = await startMeasured(folder, { hasProfile: false });
  const [sync, mirror]: [number[], number[]] = [[], []];
  try {
    for (let round = 0; round < rounds; round++) {
      const [source, copy] = [`source-${round}`, `copy-${round}`];
      for (const name of [source, copy]) await service.run(['-q', 'bucket', 'create', name]);
      sync.push((await service.run(['-q', 'sync', files, source])).seconds);
      mirror.push((await service.run(['-q', 'mirror', source, '--to', copy, '--once'])).seconds);
    }
    return { sync, mirror };
  } finally {
    await service.stop();
  }
}

function medianOf(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[values.length >> 1] ?? 0;
}
