// Debian's Chromium without a window, driven by playwright-core; downloads are stored in a separate
// folder, under the names that the browser gives them.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BrowserContext, chromium, type Page } from 'playwright-core';
import { findProgram } from './programs.ts';

export interface Chromium {
  readonly context: BrowserContext;
  readonly page: Page;
  readonly downloads: string;
  close(): Promise<void>;
}

export async function openChromium(options: readonly string[] = []): Promise<Chromium> {
  const folder = await mkdtemp(join(tmpdir(), 'chromium-'));
  const downloads = join(folder, 'downloads');
  const context = await chromium.launchPersistentContext(join(folder, 'profile'), {
    executablePath: findProgram('chromium') ?? 'chromium',
    headless: true,
    args: ['--no-sandbox', '--disable-dev-shm-usage', ...options],
  });
  const browser = context.browser();
  const page = context.pages()[0] ?? (await context.newPage());
  const session = browser
    ? await browser.newBrowserCDPSession()
    : await context.newCDPSession(page);
  await session.send('Browser.setDownloadBehavior', {
    behavior: 'allow',
    downloadPath: downloads,
  });
  return {
    context,
    page,
    downloads,
    async close() {
      await context.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
