// Kills `npm start` without warning during an upload and restarts it: the page continues by itself,
// and the stored file is the chosen one.

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createStorage } from '../../packages/client/src/storage.ts';
import { sampleBytes, sha256Hex } from '../support/service.ts';
import { type StartedService, startService } from '../support/started-service.ts';
import { type ConsoleBrowser, isBrowserUnwanted, openBrowser } from './support/browser.ts';
import { openPageServer, type PageServer } from './support/page-server.ts';

describe.skipIf(isBrowserUnwanted)('an upload', () => {
  let folder: string;
  let service: StartedService;
  let pages: PageServer;
  let browser: ConsoleBrowser;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'killed-console-'));
    [service, browser] = await Promise.all([startService(folder), openBrowser()]);
    pages = await openPageServer(frontUrl());
  });
  const frontUrl = () => service.front?.gateway ?? expect.fail('no front');
  afterAll(async () => {
    await browser?.close();
    await pages?.close();
    await service?.kill();
    await rm(folder, { recursive: true, force: true });
  });

  test('continues by itself after the service was killed and started again', async () => {
    const bytes = sampleBytes('film', 12_000_000);
    const path = join(folder, 'film.bin');
    await writeFile(path, bytes);
    const { page, faults } = await browser.open();
    const [, fragment = ''] = /Console\s+\S+?\/(#owner=\S+)/.exec(service.output) ?? [];
    await page.goto(`${pages.url}/${fragment}`);
    await page.getByRole('link', { name: 'demo' }).click();
    await page.getByRole('heading', { level: 1, name: 'demo' }).waitFor();
    let calls = 0;
    await page.route('**/call', async (route) => {
      calls += 1;
      if (calls === 5) await service.kill();
      await route.continue();
    });
    await page.getByLabel('Upload files').last().setInputFiles(path);
    await page.getByText('The service cannot be reached.').waitFor();
    service = await startService(folder);
    pages.serve(frontUrl());
    await page.getByText('1 file uploaded.').waitFor();
    const storage = createStorage({ url: service.url, apiKey: service.apiKey });
    const { bytes: stored } = await storage.download({ bucket: 'demo', path: 'film.bin' });
    expect(sha256Hex(await stored())).toBe(sha256Hex(bytes));
    expect(faults).toEqual([]);
  });
});
