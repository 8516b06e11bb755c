// Costs of reading the journal with few and with millions of entries, for `npm run bench:scale`.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fillJournal } from '../tests/support/journal-fill.ts';
import { type Bench, openBench } from './bench-service.ts';
import type { Costs } from './table.ts';

const entryCounts = [10_000, 1_000_000, 10_000_000];
const repetitions = 3;
const bucket = 'demo';
/** In the second half of the journal, the bucket has one of so many entries. */
const bucketCount = 130;

/** Returns millions of instructions by request for each number of entries. */
export async function measureJournals(wasm: Uint8Array): Promise<Record<number, Costs>> {
  const results: Record<number, Costs> = {};
  for (const count of entryCounts) {
    const folder = await mkdtemp(join(tmpdir(), 'bench-journal-'));
    try {
      results[count] = await measureJournal(join(folder, 'state'), count, wasm);
      console.log(`${count} entries, millions of instructions:`, results[count]);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }
  return results;
}

async function measureJournal(stateDir: string, count: number, wasm: Uint8Array): Promise<Costs> {
  const open = () => openBench({ stateDir, wasm, repetitions });
  const first = await open();
  await first.put('first', new Uint8Array(1_000));
  await first.close();
  const isOwn = (number: number) => number <= count / 2 || number % bucketCount === 0;
  await fillJournal(stateDir, { bucket, count, isOwn });
  const bench = await open();
  try {
    // The instance that an upgrade starts has not opened the journal yet
    await bench.put('second', new Uint8Array(1_000));
    return await measureReads(bench, count);
  } finally {
    await bench.close();
  }
}

async function measureReads(bench: Bench, count: number): Promise<Costs> {
  const [alone, among] = [BigInt(count / 4), BigInt((count / 4) * 3)];
  const reads: Record<string, () => Promise<unknown>> = {
    'newest 100 entries, one in each page of the log': () => bench.readJournal({}),
    'oldest 100 entries': () => bench.readJournal({ after: [0n] }),
    'the 100 entries after one, side by side': () => bench.readJournal({ after: [alone] }),
    'the 100 entries before one, side by side': () => bench.readJournal({ before: [alone] }),
    'entries after one, one in each page of the log': () => bench.readJournal({ after: [among] }),
    'entries before one, one in each page of the log': () => bench.readJournal({ before: [among] }),
    '500 blocks': () => bench.readBlocks(count / 2, 500),
    'PUT 1,000 B': () => bench.put('measured', new Uint8Array(1_000)),
  };
  const costs: Record<string, number> = {};
  for (const [name, read] of Object.entries(reads)) {
    const { instructions } = await bench.measure(name, 0, read);
    costs[name] = instructions / 1e6;
  }
  return costs;
}
