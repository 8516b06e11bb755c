// `npm run bench:client -- --line [MB [LINE [COLUMN]]]` transfers files through throttled lines,
// with the replica as slow as the network, and reports the share of each line's capacity that the
// file's bytes use. LINE and COLUMN select titles by prefix: `-- --line 30 400 'up, actor'`.
// All transfers run at once, each through a line of its own, because they hardly load the machine.
// 30 MB take 20 minutes. The console is measured if a browser is installed. Without arguments, the
// command writes the table in docs/reference/costs.md.

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createNodeStorage } from '../packages/client/src/node/storage.ts';
import { isBrowserUnwanted, openBrowser } from '../tests/console/support/browser.ts';
import { type LineOptions, openSlowLine } from '../tests/support/slow-line.ts';
import { browserTransfers } from './client-line-browser.ts';
import { startMeasured } from './client-service.ts';
import { replaceTable } from './table.ts';

const latencyMs = 300;
const sampleStep = 65_521;
const transports = ['http', 'actor'] as const;
const stored = { bucket: 'demo', path: 'stored.bin' };

interface TestLine {
  readonly title: string;
  readonly rate: LineOptions['rate'];
}

const lines: readonly TestLine[] = [
  { title: '30 kB/s', rate: () => 30_000 },
  { title: '150 kB/s', rate: () => 150_000 },
  { title: '400 kB/s', rate: () => 400_000 },
  {
    title: '2 MB/s and 50 kB/s, 10 s each',
    rate: (ms) => (Math.floor(ms / 10_000) % 2 === 0 ? 2_000_000 : 50_000),
  },
  {
    title: '400 kB/s, none from the 20th to the 40th second',
    rate: (ms) => (ms >= 20_000 && ms < 40_000 ? 0 : 400_000),
  },
];

interface Service {
  readonly url: string;
  readonly canisterId: string;
  readonly apiKey: string;
  readonly identityPem: string;
  readonly front?: { readonly gateway: string } | undefined;
}

interface Transfer {
  readonly line: TestLine;
  readonly transport: (typeof transports)[number];
  readonly bytes: number;
}

/**
 * Returns the transfer's seconds and the share of the line's capacity that the file used. The time
 * begins when `work` calls `begin`, by default with `work` itself.
 */
async function measure(
  service: Service,
  { line, bytes }: Omit<Transfer, 'transport'>,
  work: (port: number, begin: () => void) => Promise<void>,
): Promise<string> {
  const port = Number(new URL(service.url).port);
  const slow = await openSlowLine(port, { rate: line.rate, latencyMs });
  const openedMs = performance.now();
  let startMs = openedMs;
  const begin = () => {
    startMs = performance.now();
  };
  try {
    await work(slow.port, begin);
    const endMs = performance.now();
    const share = bytes / carried(line, startMs - openedMs, endMs - openedMs);
    return `${((endMs - startMs) / 1_000).toFixed(0)} s (${share.toFixed(2)})`;
  } catch (error) {
    return `failed after ${((performance.now() - startMs) / 1_000).toFixed(0)} s: ${error}`;
  } finally {
    await slow.stop();
  }
}

function transfer(
  service: Service,
  { line, transport, bytes }: Transfer,
  work: (storage: ReturnType<typeof createNodeStorage>, name: string) => Promise<void>,
): Promise<string> {
  return measure(service, { line, bytes }, async (port) => {
    const url = `http://127.0.0.1:${port}`;
    const { apiKey, canisterId } = service;
    const way = transport === 'http' ? { url } : { host: url, canisterId };
    await work(createNodeStorage({ ...way, apiKey }), `${transport}/${line.title}`);
  });
}

/** A source that repeats a random sample, so that it costs the machine almost no work. */
function sourceOf(size: number) {
  const sample = new Uint8Array(2_000_000 + sampleStep);
  for (let at = 0; at < sample.length; at += 65_536) {
    crypto.getRandomValues(sample.subarray(at, at + 65_536));
  }
  const slice = async (start: number, end: number) => {
    const from = start % sampleStep;
    return sample.subarray(from, from + end - start);
  };
  return { size, slice };
}

/** Returns the bytes that the line could have carried between two times after its opening. */
function carried({ rate }: TestLine, fromMs: number, toMs: number): number {
  let bytes = 0;
  for (let at = fromMs; at < toMs; at += 100) bytes += rate(at) / 10;
  return bytes;
}

export interface LineRun {
  readonly megabytes: number;
  /** Selects the lines whose titles begin with this; '' selects all. */
  readonly line: string;
  /** Selects the columns in the same way. */
  readonly column: string;
  /** Writes a file of random bytes. */
  writeSample(path: string, bytes: number): Promise<void>;
  /** The page that receives the table; if undefined, the table is only printed. */
  readonly document: string | undefined;
}

/** A column of the table: one kind of transfer. */
interface Column {
  readonly title: string;
  run(measured: { readonly line: TestLine; readonly bytes: number }): Promise<string>;
}

export async function measureLines(run: LineRun): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-line-'));
  const measured = await startMeasured(folder, { hasProfile: false, network: 'mainnet' });
  const browser = isBrowserUnwanted ? undefined : await openBrowser();
  try {
    const service: Service = JSON.parse(await readFile(join(folder, 'state/service.json'), 'utf8'));
    const bytes = run.megabytes * 1e6;
    const path = join(folder, 'film.bin');
    if (browser !== undefined) await run.writeSample(path, bytes);
    await createNodeStorage(service).upload(sourceOf(bytes), { ...stored, contentType: 'a/b' });
    const columns = [
      ...libraryColumns(service),
      ...(browser === undefined ? [] : browserColumns({ service, browser, path })),
    ].filter(({ title }) => title.startsWith(run.column));
    const rows = await Promise.all(
      lines
        .filter(({ title }) => title.startsWith(run.line))
        .map(async (line) => {
          const cells = columns.map(async (column) => {
            const words = await column.run({ line, bytes });
            console.log(`${line.title}, ${column.title}: ${words}`);
            return words;
          });
          return [line.title, ...(await Promise.all(cells))];
        }),
    );
    const heads = ['line', ...columns.map(({ title }) => title)];
    const table = [heads, heads.map(() => '---'), ...rows]
      .map((cells) => `| ${cells.join(' | ')} |`)
      .join('\n');
    console.log(table);
    if (run.document === undefined) return;
    const text = await readFile(run.document, 'utf8');
    await writeFile(run.document, replaceTable(text, 'line', table));
  } finally {
    await browser?.close();
    await measured.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

function browserColumns(options: Parameters<typeof browserTransfers>[0]): Column[] {
  return browserTransfers(options).map(({ title, work }) => ({
    title,
    run: ({ line, bytes }) =>
      measure(options.service, { line, bytes }, (port, begin) =>
        work({ port, name: line.title, begin }),
      ),
  }));
}

function libraryColumns(service: Service): Column[] {
  return transports.flatMap((transport) => [
    {
      title: `up, ${transport}`,
      run: (measured) =>
        transfer(service, { ...measured, transport }, async (storage, path) => {
          const name = { bucket: 'demo', path, contentType: 'a/b' };
          await storage.upload(sourceOf(measured.bytes), name);
        }),
    },
    {
      // The file has the longest chunks, because it was uploaded without a slow line.
      title: `down, ${transport}`,
      run: (measured) =>
        transfer(service, { ...measured, transport }, async (storage) => {
          const { body } = await storage.download(stored);
          for await (const _ of body as unknown as AsyncIterable<Uint8Array>);
        }),
    },
  ]);
}
