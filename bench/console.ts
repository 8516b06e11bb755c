// `npm run bench:console` measures the console with the browser's clock against a local replica on
// the same machine: the first view, a folder of 10,000 files, many small files and a large one; and
// as slow as the network, a folder of photographs.
// Linux only, since it reads the page's memory from /proc. Writes the table in
// docs/reference/costs.md.

import { mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { openConsole, type TestedConsole } from '../tests/console/support/console.ts';
import { photographs } from './console-photographs.ts';
import { replaceTable } from './table.ts';

const costsPage = join(
  dirname(fileURLToPath(import.meta.url)),
  '..',
  'docs',
  'reference',
  'costs.md',
);
const openings = 7;
const folderFiles = 10_000;
const smallFiles = 500;
const smallBytes = 10_000;
const largeBytes = 300_000_000;
const pollMs = 100;

/** Returns the time by the page's clock when the list of files is drawn. */
async function openedIn(page: Page, url: string): Promise<number> {
  await page.goto(url);
  await page.getByRole('heading', { level: 1, name: 'demo' }).waitFor();
  await page.waitForFunction(() => performance.getEntriesByName('efs-usable').length > 0);
  return page.evaluate(
    () => performance.getEntriesByName('efs-usable')[0]?.startTime ?? Number.NaN,
  );
}

/**
 * Runs in the page before its own scripts. It is a string, because a function would call helpers of
 * tsx, which the page lacks.
 */
const markUsable = `requestAnimationFrame(function look() {
  if (document.querySelector('[role=grid]')) performance.mark('efs-usable');
  else requestAnimationFrame(look);
})`;

function median(values: readonly number[]): number {
  return [...values].sort((one, other) => one - other)[values.length >> 1] ?? Number.NaN;
}

async function firstViews(tested: TestedConsole): Promise<{ cold: number; again: number }> {
  const cold: number[] = [];
  const again: number[] = [];
  const address = `${tested.pages.url}/#key=${tested.service.apiKey}&bucket=demo`;
  // An empty bucket has no list
  await tested.storage.upload(new Blob(['first']), { bucket: 'demo', path: 'first.txt' });
  for (let round = 0; round < openings; round++) {
    const { context, page } = await tested.open();
    await context.addInitScript({ content: markUsable });
    cold.push(await openedIn(page, address));
    await page.goto('about:blank');
    again.push(await openedIn(page, address));
    await context.close();
  }
  return { cold: median(cold), again: median(again) };
}

async function fillFolder({ storage }: TestedConsole): Promise<void> {
  const files = Array.from({ length: folderFiles }, (_, index) => ({
    path: `many/${100_000 + index}.txt`,
    source: new TextEncoder().encode(`file ${index}`),
  }));
  for await (const { error } of storage.uploadAll(files, { bucket: 'demo' })) {
    if (error) throw error;
  }
}

/** Milliseconds of the longest frame while the list loads further pages, and afterwards. */
async function longestFrames(page: Page, url: string): Promise<{ loading: number; all: number }> {
  await page.goto(`${url}/#/files/demo/many/`);
  await page.getByText('entries so far').waitFor();
  const scroll = () =>
    page.evaluate(async () => {
      const list = document.querySelector('[role=rowgroup]');
      if (list === null) throw new Error('The page has no list of files');
      let last = performance.now();
      let longest = 0;
      for (let step = 1; step <= 240; step++) {
        list.scrollTop = (list.scrollHeight * step) / 240;
        await new Promise(requestAnimationFrame);
        longest = Math.max(longest, performance.now() - last);
        last = performance.now();
      }
      return longest;
    });
  let loading = 0;
  while ((await page.getByText(`${folderFiles.toLocaleString('en')} files`).count()) === 0) {
    loading = Math.max(loading, await scroll());
  }
  return { loading, all: await scroll() };
}

async function smallUploads(page: Page, url: string): Promise<{ requests: number; ms: number }> {
  await page.goto(`${url}/#/files/demo/small/`);
  let requests = 0;
  const count = (request: { method(): string }) => {
    if (request.method() !== 'GET') requests += 1;
  };
  page.on('request', count);
  const start = performance.now();
  await page
    .getByLabel('Upload files')
    .last()
    .setInputFiles(
      Array.from({ length: smallFiles }, (_, index) => ({
        name: `${index}.bin`,
        mimeType: '',
        buffer: Buffer.alloc(smallBytes, index),
      })),
    );
  await page.getByText(`${smallFiles} files uploaded.`).waitFor({ timeout: 120_000 });
  page.off('request', count);
  return { requests, ms: performance.now() - start };
}

/** Returns the memory of all processes that show pages. */
async function pageBytes(browser: Browser): Promise<number> {
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  await session.detach();
  let bytes = 0;
  for (const { type, id } of processInfo) {
    if (type !== 'renderer') continue;
    const text = await readFile(`/proc/${id}/smaps_rollup`, 'utf8').catch(() => '');
    bytes += Number(/^Pss:\s+(\d+) kB/m.exec(text)?.[1] ?? 0) * 1_024;
  }
  return bytes;
}

interface LargeUpload {
  readonly beforeBytes: number;
  readonly peakBytes: number;
  readonly ms: number;
}

async function largeUpload(tested: TestedConsole): Promise<LargeUpload> {
  const { browser } = tested.browser;
  const visit = await tested.open();
  const { page } = visit;
  await tested.signIn(visit);
  const folder = await mkdtemp(join(tmpdir(), 'bench-console-'));
  const path = join(folder, 'film.bin');
  try {
    const handle = await open(path, 'w');
    await handle.truncate(largeBytes);
    await handle.close();
    const beforeBytes = await pageBytes(browser);
    let peakBytes = beforeBytes;
    const start = performance.now();
    await page.getByLabel('Upload files').last().setInputFiles(path);
    const uploaded = page.getByText('1 file uploaded.');
    while ((await uploaded.count()) === 0) {
      peakBytes = Math.max(peakBytes, await pageBytes(browser));
      await new Promise((resolve) => setTimeout(resolve, pollMs));
    }
    return { beforeBytes, peakBytes, ms: performance.now() - start };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function tableOf(rows: readonly (readonly [what: string, measured: string, limit: string])[]) {
  const lines = [['in the browser', 'measured', 'at most'], ['---', '---', '---'], ...rows];
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

const mb = (bytes: number) => `${Math.round(bytes / 1e6)} MB`;
const ms = (milliseconds: number) => `${Math.round(milliseconds)} ms`;

const folders = [await photographs('plain'), await photographs('end-to-end')];
const tested = await openConsole();
try {
  const views = await firstViews(tested);
  await fillFolder(tested);
  const visit = await tested.open();
  await tested.signIn(visit);
  const { page } = visit;
  const frames = await longestFrames(page, tested.pages.url);
  const small = await smallUploads(page, tested.pages.url);
  await visit.context.close();
  const large = await largeUpload(tested);
  const name = `a folder of ${folderFiles.toLocaleString('en')} files: longest frame`;
  const table = tableOf([
    ['first view usable, empty cache', ms(views.cold), '1,000 ms'],
    ['first view usable, cached', ms(views.again), ''],
    [`${name} while the list loads`, ms(frames.loading), '100 ms'],
    [`${name} while scrolling`, ms(frames.all), '100 ms'],
    [
      `${smallFiles} files of ${smallBytes / 1_000} kB uploaded`,
      `${small.requests} requests, ${(small.ms / 1_000).toFixed(1)} s`,
      '',
    ],
    [
      `a file of ${mb(largeBytes)} uploaded`,
      `${mb(large.peakBytes)} of memory, ${mb(large.beforeBytes)} before; ${(large.ms / 1_000).toFixed(1)} s`,
      '300 MB',
    ],
    ...folders.flatMap(
      (folder) =>
        [
          [`${folder.name}, opened`, ms(folder.openedMs), '3,000 ms'],
          [`${folder.name}, scrolled to its end`, ms(folder.scrolledMs), ''],
        ] as const,
    ),
  ]);
  console.log(table);
  await writeFile(costsPage, replaceTable(await readFile(costsPage, 'utf8'), 'console', table));
} finally {
  await tested.close();
}
