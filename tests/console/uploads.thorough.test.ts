// Uploads: many at once, through a reload, through a network failure, and with existing names.

import { mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page, Request } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sampleBytes } from '../support/service.ts';
import { isBrowserUnwanted, type Visit } from './support/browser.ts';
import { openConsole, type TestedConsole } from './support/console.ts';

/** Size of a file of several chunks, so that a test can stop in the middle. */
const largeBytes = 12_000_000;

/** Playwright sees the body without the bytes of the file. */
function isChunk(request: Request): boolean {
  const isCall = request.url().endsWith('/call');
  return isCall && request.postDataBuffer()?.includes('uploadChunk') === true;
}

function gate(): { readonly opened: Promise<void>; open(): void } {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open: () => open() };
}

describe.skipIf(isBrowserUnwanted)('an upload', () => {
  let tested: TestedConsole;
  let visit: Visit;
  let page: Page;
  let folder: string;
  let largeFile: string;

  beforeAll(async () => {
    // Without a front a resumed upload goes over HTTP: each chunk has its number in the URL.
    tested = await openConsole({ hasFront: false });
    visit = await tested.open();
    page = visit.page;
    folder = await mkdtemp(join(tmpdir(), 'console-'));
    largeFile = join(folder, 'film.bin');
    await writeFile(largeFile, sampleBytes('film', largeBytes));
    await utimes(largeFile, 1_700_000_000, 1_700_000_000);
    await tested.signIn(visit);
  });
  afterAll(async () => {
    await visit?.context.close();
    await tested?.close();
    await rm(folder, { recursive: true, force: true });
  });
  const choose = (files: Parameters<ReturnType<Page['getByLabel']>['setInputFiles']>[0]) =>
    page.getByLabel('Upload files').last().setInputFiles(files);
  const stored = (path: string) => tested.storage.stat({ bucket: 'demo', path });

  async function drop(files: readonly { readonly name: string; readonly text: string }[]) {
    const transfer = await page.evaluateHandle((dropped) => {
      const data = new DataTransfer();
      for (const { name, text } of dropped) data.items.add(new File([text], name));
      return data;
    }, files);
    await page
      .getByRole('heading', { level: 1 })
      .dispatchEvent('dragover', { dataTransfer: transfer });
    await page.getByText('Drop to upload to demo/').waitFor();
    await page.getByRole('heading', { level: 1 }).dispatchEvent('drop', { dataTransfer: transfer });
  }

  test('of dropped files shows them in the list, and takes few requests', async () => {
    const requests: string[] = [];
    page.on('request', (request) => {
      // POST /cloud/ measures the upload rate and stores nothing; the page may send several.
      const isMeasurement = new URL(request.url()).pathname === '/cloud/';
      if (request.method() !== 'GET' && !isMeasurement) requests.push(request.url());
    });
    const files = Array.from({ length: 300 }, (_, index) => ({
      name: `part-${1_000 + index}.txt`,
      text: 'x'.repeat(1_000),
    }));
    await drop(files);
    await page.getByText('300 files uploaded.').waitFor();
    await page.getByRole('link', { name: 'part-1000.txt' }).waitFor();
    // Two batches, and two requests for the bucket's end-to-end mode, which the network signs
    expect(requests.length).toBeLessThanOrEqual(4);
    const usage = await tested.storage.usage({ bucket: 'demo', prefix: 'part-' });
    expect(usage).toEqual({ files: 300, bytes: 300_000 });
  });

  test('asks before it replaces another file', async () => {
    await tested.storage.upload(sampleBytes('film', 10), { bucket: 'demo', path: 'film.bin' });
    await choose([{ name: 'film.bin', mimeType: '', buffer: Buffer.from('other') }]);
    await page.getByText('“film.bin” already exists. Replace it?').waitFor();
    await page.getByRole('button', { name: 'Keep both' }).click();
    await page.getByText('1 file uploaded.').waitFor();
    expect((await stored('film (2).bin')).size).toBe(5);
    await choose([{ name: 'film.bin', mimeType: '', buffer: Buffer.from('other') }]);
    await page.getByRole('button', { name: 'Replace' }).click();
    await page.getByText('1 file uploaded.').waitFor();
    expect((await stored('film.bin')).size).toBe(5);
  });

  test('asks once about several existing files, and uploads the others meanwhile', async () => {
    const place = (path: string) => ({ bucket: 'demo', path });
    const names = Array.from({ length: 10 }, (_, index) => `page-${index}.txt`);
    for (const name of [...names, 'page-0 (2).txt']) {
      await tested.storage.upload(new Blob(['before']), place(name));
    }
    const chosen = [...names, 'new.txt'].map((name) => ({
      name,
      mimeType: 'text/plain',
      buffer: Buffer.from(`other ${name}`),
    }));
    const question = page.getByText('10 of these files already exist. Replace them?');
    const button = (name: string) => page.getByRole('button', { name, exact: true });
    await choose(chosen);
    await question.waitFor();
    await page.getByText('1 file uploaded, 10 waiting for your answer.').waitFor();
    await button('Skip all').click();
    await page.getByText('1 file uploaded.').waitFor();
    expect((await stored('page-0.txt')).size).toBe(6);

    await choose(chosen.slice(0, 10));
    await question.waitFor();
    await button('Keep both').click();
    await page.getByText('10 files uploaded.').waitFor();
    // The second name was taken too.
    expect((await stored('page-0 (2).txt')).size).toBe(6);
    expect((await stored('page-0 (3).txt')).size).toBe(16);

    await choose(chosen.slice(0, 10));
    await button('Decide each').click();
    await button('Replace').first().click();
    await page.getByText('1 file uploaded, 9 waiting for your answer.').waitFor();
    expect((await stored('page-0.txt')).size).toBe(16);
    for (let rest = 9; rest > 0; rest--) await button('Skip').first().click();

    await choose(chosen.slice(0, 10));
    await question.waitFor();
    await button('Replace all').click();
    await page.getByText('10 files uploaded.').waitFor();
    expect((await stored('page-9.txt')).size).toBe(16);
  });

  test('of pasted files names screenshots by their time; a field keeps what is pasted there', async () => {
    const paste = (selector: string, name: string) =>
      page.locator(selector).evaluate((element, pasted) => {
        const clipboardData = new DataTransfer();
        clipboardData.items.add(new File(['picture'], pasted, { type: 'image/png' }));
        element.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true }));
      }, name);
    await paste('[type=search]', 'field.png');
    await paste('[role=grid]', 'image.png');
    const pastedNames = async () => {
      const { items } = await tested.storage.listFolder({ bucket: 'demo', prefix: 'pasted ' });
      return items.map(({ path }) => path.replaceAll(/\d/g, '0'));
    };
    await expect.poll(pastedNames).toEqual(['pasted 0000-00-00 00.00.00.png']);
    await paste('[role=grid]', 'map.png');
    await page.getByRole('link', { name: 'map.png' }).waitFor();
    expect(await page.getByRole('link', { name: 'field.png' }).count()).toBe(0);
  });

  test('can be paused and resumed, and waits while the browser is offline', async () => {
    const held = gate();
    await page.route('**/call', async (route) => {
      await held.opened;
      await route.continue().catch(() => {});
    });
    await choose({ name: 'second.bin', mimeType: '', buffer: Buffer.alloc(4_000_000, 1) });
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByText('Paused: 1 file to go.').waitFor();
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByText('Uploading 1 file').waitFor();
    await visit.context.setOffline(true);
    await page.getByText('You are offline.').waitFor();
    held.open();
    // A request that is still held when its route is removed would never be answered.
    await page.unrouteAll({ behavior: 'wait' });
    await visit.context.setOffline(false);
    await page.getByText('1 file uploaded.').waitFor();
    expect((await stored('second.bin')).size).toBe(4_000_000);
  });

  test('continues after a reload from the stored chunks, when the same file is chosen again', async () => {
    await tested.storage.remove({ bucket: 'demo', path: 'film.bin' });
    const held = gate();
    let sent = 0;
    let answered = 0;
    await page.route('**/call', async (route) => {
      if (isChunk(route.request())) sent += 1;
      if (sent > 3) await held.opened;
      await route.continue().catch(() => {});
    });
    page.on('response', (response) => {
      if (isChunk(response.request())) answered += 1;
    });
    await choose(largeFile);
    await expect.poll(() => answered).toBe(3);
    page.on('dialog', (dialog) => void dialog.accept());
    await page.reload();
    held.open();
    await page.unrouteAll({ behavior: 'wait' });
    await page.getByText('The upload of film.bin was interrupted.').waitFor();
    const chunks: string[] = [];
    page.on('request', (request) => {
      if (/\/chunk\/\d+$/.test(request.url())) chunks.push(request.url());
    });
    await page.getByLabel('Files to continue with').setInputFiles(largeFile);
    await page.getByText('1 file uploaded.').waitFor();
    expect((await stored('film.bin')).size).toBe(largeBytes);
    expect(chunks.length).toBeLessThanOrEqual(4);
    expect(visit.faults).toEqual([]);
  });

  test('says how long it waits if the service names a time', async () => {
    await page.route('**/call', (route) =>
      isChunk(route.request())
        ? route.fulfill({ status: 429, headers: { 'Retry-After': '100' } })
        : route.continue(),
    );
    await choose({ name: 'busy.bin', mimeType: '', buffer: Buffer.alloc(4_000_000, 1) });
    // Several chunks wait, but the page says it once.
    await page.getByText('The service is busy: trying again in 2 minutes.').waitFor();
  });
});
