// `npm run bench`: costs of requests by the replica's meter and the network's price list. Writes
// bench/results.json and the tables in docs/reference/costs.md and docs/operations.md. Names of
// groups, as in `npm run bench -- links site`, choose rows to replace.

import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { cpus, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildCanister } from '../scripts/build.ts';
import { formatComparison } from './asset-canister.ts';
import { type Bench, openBench } from './bench-service.ts';
import { type KernelCost, measureKernel } from './kernel-costs.ts';
import { measureStorage, type StorageCosts } from './storage-costs.ts';
import {
  type BenchRow,
  formatCosts,
  formatExpectedCosts,
  formatKernel,
  formatReserves,
  formatStorage,
  formatTable,
  mergeRows,
  replaceTable,
} from './table.ts';

const projectDir = join(dirname(fileURLToPath(import.meta.url)), '..');
const sizes = [1_000, 100_000, 1_000_000, 2_000_000];
const chunkBytes = 1_900_000;
const pageSizeMax = 50;
/** Number of chunks of a file of 100 MB. */
const largeChunks = 53;
const folders = 100;
const repetitions = 5;

/** Incompressible bytes, the same in every run. */
function sampleBytes(length: number): Uint8Array {
  const blocks: Uint8Array[] = [];
  for (let index = 0; index * 32 < length; index++) {
    blocks.push(createHash('sha256').update(`sample ${index}`).digest());
  }
  return new Uint8Array(Buffer.concat(blocks).subarray(0, length));
}

/** Parts of the bench, in their order. An upgrade ends the work of the canister. */
const groups: Readonly<Record<string, (bench: Bench) => Promise<BenchRow[]>>> = {
  install: async (bench) => [
    bench.installRow(),
    await bench.measure('smallest query', 0, bench.smallestQuery),
  ],
  bytes: measureBytes,
  large: measureLarge,
  small: measureSmall,
  links: measureLinks,
  batches: measureBatches,
  site: measureSite,
  refusals: (bench) => bench.refusalRows(),
  upgrade: async (bench) => [await bench.upgradeRow(), await bench.frontRow()],
};

/** Measures requests by the number of their bytes. */
async function measureBytes(bench: Bench): Promise<BenchRow[]> {
  const rows: BenchRow[] = [];
  for (const size of sizes) {
    const bytes = sampleBytes(size);
    rows.push(await bench.measure('PUT', size, (turn) => bench.put(`${size}-${turn}`, bytes)));
  }
  const chunk = sampleBytes(chunkBytes);
  const uploadId = await bench.beginUpload(chunkBytes * repetitions);
  const tus = await bench.createTusUpload('tus.bin', chunkBytes * (repetitions + 1));
  rows.push(
    await bench.measure('tus PATCH', chunkBytes, (turn) =>
      bench.patchTusUpload(tus, turn * chunkBytes, chunk),
    ),
    await bench.measure('chunk', chunkBytes, (turn) => bench.putChunk(uploadId, turn, chunk)),
    await bench.measure('chunk with its request', chunkBytes, (turn) =>
      bench.uploadChunk(chunkBytes * repetitions, turn, chunk),
    ),
  );
  for (const size of sizes) {
    rows.push(await bench.measure('GET', size, (turn) => bench.get(`${size}-${turn}`)));
  }
  await bench.completeUpload(uploadId);
  rows.push(await bench.measure('GET part', chunkBytes, bench.getPart));
  const names = {
    'GET of a range, small file': '2000000-0',
    'GET of a range, large file': 'parted.bin',
  };
  for (const [name, path] of Object.entries(names)) {
    rows.push(await bench.measureUpdate(name, 0, () => bench.getRange(path, 1)));
  }
  return rows;
}

/** Measures operations on a file of 100 MB that do not touch its bytes. */
async function measureLarge(bench: Bench): Promise<BenchRow[]> {
  const chunk = sampleBytes(chunkBytes);
  const path = (turn: number) => (turn < 0 ? 'large.bin' : `large-${turn}.bin`);
  const uploadId = await bench.beginUpload(chunk.length * largeChunks, path(-1));
  for (let index = 0; index < largeChunks; index++) await bench.putChunk(uploadId, index, chunk);
  await bench.completeUpload(uploadId);
  return [
    await bench.measure('copy of 100 MB', 0, (turn) => bench.copy(path(-1), path(turn))),
    await bench.measure('move of 100 MB', 0, (turn) => bench.move(path(turn), `moved/${turn}`)),
    await bench.measure('change of tags of 100 MB', 0, () => bench.change(path(-1))),
  ];
}

/** Measures the most frequent operations, with files of 1 kB. */
async function measureSmall(bench: Bench): Promise<BenchRow[]> {
  const bytes = sampleBytes(1_000);
  const name = (turn: number) => `small/${turn}`;
  for (let turn = 0; turn < pageSizeMax; turn++) await bench.put(name(turn), bytes);
  for (let turn = 0; turn < folders; turn++) await bench.put(`folders/${turn}/file`, bytes);
  return [
    await bench.measure('replace', bytes.length, (turn) => bench.put(name(turn), bytes)),
    await bench.measure('304', 0, (turn) => bench.getUnchanged(name(turn))),
    await bench.measure('404 in a public bucket', 0, bench.getMissing),
    await bench.measure('list of 10', 0, () => bench.list(10)),
    await bench.measure(`list of ${pageSizeMax}`, 0, () => bench.list(pageSizeMax)),
    await bench.measure(`view of ${folders} folders`, 0, () => bench.listFolder('folders/')),
    await bench.measure('usage of a prefix', 0, () => bench.usage('folders/')),
    await bench.measure('DELETE', 0, (turn) => bench.remove(name(turn))),
  ];
}

/** Measures links. Later than others, because each change of a file then looks up its links. */
async function measureLinks(bench: Bench): Promise<BenchRow[]> {
  const bytes = sampleBytes(1_000);
  const name = (turn: number) => `linked/${turn}`;
  for (let turn = 0; turn <= repetitions; turn++) await bench.put(name(turn), bytes);
  const [right, wrong] = ['11', '22'].map((pair) => pair.repeat(32)) as [string, string];
  const created = await bench.measure('create a link', 0, (turn) => bench.link(name(turn)));
  const plain = await bench.link(name(repetitions));
  const locked = await bench.link(name(repetitions), { passwordProof: right });
  const counted = await bench.link(name(repetitions), { maxDownloads: 100 });
  const opened = 'GET by a link with a password, after its proof';
  const limited = 'GET by a link with a maximum of downloads, first answer';
  return [
    created,
    await bench.measure('GET by a link', bytes.length, () => bench.getLinked(plain)),
    await bench.measureUpdate('right proof of the password of a link', 0, () =>
      bench.openLink(locked, right, 200),
    ),
    await bench.measureUpdate('wrong proof of the password of a link', 0, () =>
      bench.openLink(locked, wrong, 403),
    ),
    await bench.measure(opened, bytes.length, () => bench.getLinked(locked)),
    await bench.measureUpdate(limited, 0, () => bench.getLinked(counted)),
    await bench.measure('DELETE with a link', 0, (turn) => bench.remove(name(turn))),
  ];
}

/** Measures a redirect of a site with 100 rules; the bucket stays a site. */
async function measureSite(bench: Bench): Promise<BenchRow[]> {
  await bench.makeSite();
  const rules = Array.from({ length: 100 }, (_, index) => `/old/${index} /new 301`);
  await bench.put('_redirects', new Uint8Array(Buffer.from(rules.join('\n'))));
  return [await bench.measure('redirect of a site', 0, (turn) => bench.getRedirect(`old/${turn}`))];
}

/** Measures requests on many files of 1 kB each. */
async function measureBatches(bench: Bench): Promise<BenchRow[]> {
  const bytes = sampleBytes(1_000);
  const formFiles = 200;
  const removedForms = 5;
  const form = (turn: number, part: number) =>
    bench.putForm(`batch/${turn}/${part}`, formFiles, bytes);
  const name = `POST of ${formFiles} files`;
  const put = await bench.measureUpdate(name, formFiles * bytes.length, (turn) => form(turn, 0));
  for (let turn = 0; turn < repetitions; turn++) {
    for (let part = 1; part < removedForms; part++) await form(turn, part);
  }
  const removed = `deletion of ${removedForms * formFiles} files`;
  return [
    put,
    await bench.measureUpdate(`switch of ${formFiles} files`, 0, (turn) =>
      bench.switchFiles(`batch/${turn}/0/`, `batch/${turn}/switched/`),
    ),
    await bench.measureUpdate(removed, 0, (turn) => bench.removeAll(`batch/${turn}/`)),
  ];
}

async function replaceIn(page: string, tables: Readonly<Record<string, string>>): Promise<void> {
  const path = join(projectDir, page);
  let text = await readFile(path, 'utf8');
  for (const [name, table] of Object.entries(tables)) text = replaceTable(text, name, table);
  await writeFile(path, text);
}

const resultsPath = join(projectDir, 'bench', 'results.json');

interface Results {
  readonly wasmBytes: number;
  readonly machine: object;
  readonly rows: readonly BenchRow[];
  readonly storage: StorageCosts;
  readonly kernel: readonly KernelCost[];
}

/** Measures the chosen groups, and takes all else from the former results; without names, all. */
async function measure(bench: Bench, wasm: Uint8Array, chosen: string[]): Promise<Results> {
  const rows: BenchRow[] = [];
  for (const name of chosen.length === 0 ? Object.keys(groups) : chosen) {
    const group = groups[name];
    if (group === undefined) {
      throw new Error(`The group ${name} is unknown: name some of ${Object.keys(groups)}.`);
    }
    rows.push(...(await group(bench)));
  }
  if (chosen.length > 0) {
    const former: Results = JSON.parse(await readFile(resultsPath, 'utf8'));
    return { ...former, rows: mergeRows(former.rows, rows) };
  }
  const machine = { cores: cpus().length, node: process.version };
  const [kernel, storage] = [await measureKernel(), await measureStorage(wasm)];
  return { wasmBytes: wasm.length, machine, rows, storage, kernel };
}

async function main(): Promise<void> {
  const { wasmPath } = await buildCanister({ force: false });
  const stateDir = await mkdtemp(join(tmpdir(), 'bench-'));
  const wasm = new Uint8Array(await readFile(wasmPath));
  const bench = await openBench({ stateDir: join(stateDir, 'state'), wasm, repetitions });
  try {
    const results = await measure(bench, wasm, process.argv.slice(2));
    const { wasmBytes, rows, storage, kernel } = results;
    await writeFile(resultsPath, `${JSON.stringify(results, null, 2)}\n`);
    const tables = [formatTable(rows), formatComparison(rows), formatCosts(rows)];
    const table = [...tables, formatStorage(storage), formatKernel(kernel)].join('\n\n');
    await replaceIn('docs/reference/costs.md', { bench: table });
    await replaceIn('docs/operations.md', {
      expected: formatExpectedCosts(rows, { empty: storage.empty, wasmBytes }),
      reserves: formatReserves(storage),
    });
    console.log(table);
  } finally {
    await bench.close();
    await rm(stateDir, { recursive: true, force: true });
  }
}

await main();
