// `npm run bench:client -- --line [MB]`: transfers through lines as slow as people have them, with
// the replica as slow as the network: the share of each line's speed that a file gets. All run at
// once, each through a line of its own, since they hardly use the machine; 30 MB take 20 minutes.

import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createNodeStorage } from '../packages/client/src/node/storage.ts';
import { type LineOptions, openSlowLine } from '../tests/support/slow-line.ts';
import { startMeasured } from './client-service.ts';

const latencyMs = 300;
const sampleStep = 65_521;
const transports = ['http', 'actor'] as const;

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
}

interface Transfer {
  readonly line: TestLine;
  readonly transport: (typeof transports)[number];
  readonly bytes: number;
}

/** Seconds of a transfer, and the share of the line's bytes meanwhile that are the file's. */
async function transfer(
  service: Service,
  { line, transport, bytes }: Transfer,
  work: (storage: ReturnType<typeof createNodeStorage>, name: string) => Promise<void>,
): Promise<string> {
  const port = Number(new URL(service.url).port);
  const slow = await openSlowLine(port, { rate: line.rate, latencyMs });
  const url = `http://127.0.0.1:${slow.port}`;
  const { apiKey, canisterId } = service;
  const way = transport === 'http' ? { url } : { host: url, canisterId };
  const storage = createNodeStorage({ ...way, apiKey });
  const startMs = performance.now();
  try {
    await work(storage, `${transport}/${line.title}`);
    const ms = performance.now() - startMs;
    const share = bytes / carried(line, ms);
    return `${(ms / 1_000).toFixed(0)} s (${share.toFixed(2)})`;
  } catch (error) {
    return `failed after ${((performance.now() - startMs) / 1_000).toFixed(0)} s: ${error}`;
  } finally {
    await slow.stop();
  }
}

/** Bytes that cost the machine next to nothing. */
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

/** Returns the bytes that the line could have carried in that time. */
function carried({ rate }: TestLine, ms: number): number {
  let bytes = 0;
  for (let at = 0; at < ms; at += 100) bytes += rate(at) / 10;
  return bytes;
}

export async function measureLines(megabytes: number): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-line-'));
  const measured = await startMeasured(folder, { hasProfile: false, network: 'mainnet' });
  try {
    const service: Service = JSON.parse(await readFile(join(folder, 'state/service.json'), 'utf8'));
    const bytes = megabytes * 1e6;
    const source = sourceOf(bytes);
    const stored = { bucket: 'demo', path: 'stored' };
    await createNodeStorage(service).upload(source, { ...stored, contentType: 'a/b' });
    const rows = await Promise.all(
      lines.map(async (line) => {
        const cells = await Promise.all(
          transports.map(async (transport) => {
            const one = { line, transport, bytes };
            const up = transfer(service, one, async (storage, path) => {
              await storage.upload(source, { bucket: 'demo', path, contentType: 'a/b' });
            });
            // A file with the longest chunks, as a fast line has stored it.
            const down = transfer(service, one, async (storage) => {
              const { body } = await storage.download(stored);
              for await (const _ of body as unknown as AsyncIterable<Uint8Array>);
            });
            for (const [way, cell] of Object.entries({ up, down })) {
              cell.then((words) => console.log(`${line.title}, ${transport}, ${way}: ${words}`));
            }
            return [await up, await down];
          }),
        );
        return [line.title, ...cells.flat()];
      }),
    );
    const heads = ['line', 'up, http', 'down, http', 'up, actor', 'down, actor'];
    const table = [heads, heads.map(() => '---'), ...rows]
      .map((cells) => `| ${cells.join(' | ')} |`)
      .join('\n');
    console.log(table);
  } finally {
    await measured.stop();
    await rm(folder, { recursive: true, force: true });
  }
}
