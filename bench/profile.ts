// `npm run bench:profile`: instructions by function of frequent requests. The bundle gets
// probes (probes.ts). Probes in all functions multiply the sum by two to four, so trust only the
// order. With EFS_PROBES=name,name… only those functions get probes, and the sum is within a few
// percent.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { bundleWithAzle } from '../scripts/build.ts';
import { buildKernel } from '../scripts/kernel.ts';
import { mergeKernel } from '../scripts/merge-wasm.ts';
import { openBench } from './bench-service.ts';
import { type FunctionCount, profileMark } from './probes.ts';

const projectDir = join(dirname(fileURLToPath(import.meta.url)), '..');
const shownFunctions = 60;

async function buildProbed(): Promise<Uint8Array> {
  const canister = await bundleWithAzle(join(projectDir, 'bench', 'probes.ts'));
  const merged = await mergeKernel({ canister, kernel: await buildKernel() });
  return new Uint8Array(gzipSync(merged));
}

function formatProfile(name: string, counts: readonly FunctionCount[]): string {
  const all = counts.reduce((sum, { own }) => sum + own, 0);
  const lines = counts
    .toSorted((left, right) => right.own - left.own)
    .slice(0, shownFunctions)
    .map(({ name, calls, own, total }) => {
      const figures = [own, total].map((count) => (count / 1e3).toFixed(0).padStart(8));
      return `${figures.join('')}${String(calls).padStart(6)}  ${name}`;
    });
  return [`${name}: ${(all / 1e6).toFixed(2)} M`, '  own k total k calls', ...lines, ''].join('\n');
}

async function main(): Promise<void> {
  const stateDir = await mkdtemp(join(tmpdir(), 'profile-'));
  let printed: FunctionCount[][] = [];
  const onPrint = (_: string, text: string) => {
    if (!text.startsWith(profileMark)) return;
    const rows = JSON.parse(text.slice(profileMark.length)) as [string, number, number, number][];
    const named = new Map<string, FunctionCount>();
    for (const [name, calls, own, total] of rows) {
      const former = named.get(name) ?? { calls: 0, own: 0, total: 0 };
      named.set(name, {
        name,
        calls: former.calls + calls,
        own: former.own + own,
        total: former.total + total,
      });
    }
    printed.push([...named.values()]);
  };
  const wasm = await buildProbed();
  const bench = await openBench({
    stateDir: join(stateDir, 'state'),
    wasm,
    repetitions: 1,
    onPrint,
  });
  const profile = async (name: string, request: () => Promise<unknown>) => {
    printed = [];
    await request();
    // A timer may run between the messages of a request
    const answers = printed.filter((counts) => counts.some((row) => row.name === 'respond'));
    const largest = answers.toSorted((left, right) => sumOf(right) - sumOf(left))[0];
    if (largest !== undefined) console.log(formatProfile(name, largest));
  };
  const bytes = new Uint8Array(1_000).fill(7);
  try {
    if (printed[0] !== undefined) console.log(formatProfile('install', printed[0]));
    await bench.put('former', bytes);
    await profile('PUT 1 kB', () => bench.put('file', bytes));
    await profile('replace 1 kB', () => bench.put('file', bytes));
    await profile('GET 1 kB', () => bench.get('file'));
    await profile('404', bench.getMissing);
    await profile('304', () => bench.getUnchanged('file'));
    for (let turn = 0; turn < 60; turn++) await bench.put(`many/${turn}`, bytes);
    await profile('list of 50', () => bench.list(50));
    await profile('DELETE', () => bench.remove('file'));
    await bench.makeSite();
    await bench.put('_redirects', new Uint8Array(Buffer.from('/old /new 301')));
    await profile('redirect', () => bench.getRedirect('old'));
  } finally {
    await bench.close();
    await rm(stateDir, { recursive: true, force: true });
  }
}

function sumOf(counts: readonly FunctionCount[]): number {
  return counts.reduce((sum, { own }) => sum + own, 0);
}

await main();
