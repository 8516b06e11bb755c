// A browser for the console's tests: an installed Chromium or Chrome, else the one that npm
// provides for Linux. It records violations of the page's policy and errors of its scripts.

import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { projectDir } from '../../tidy/source-tree.ts';

const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
/** Settings for a restricted network, a machine without a display, and a container. */
const flags = [
  '--no-sandbox',
  '--disable-dev-shm-usage',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Whether to skip the tests that need a browser. */
export const isBrowserUnwanted = process.env.EFS_NO_BROWSER === '1';

async function browserPath(): Promise<string> {
  const folders = (process.env.PATH ?? '').split(delimiter);
  const installed = folders.flatMap((folder) => names.map((name) => join(folder, name)));
  const found = installed.find((path) => existsSync(path));
  if (found !== undefined) return found;
  if (process.platform === 'linux' && process.arch === 'x64') return unpackedBrowser();
  throw new Error(
    'The tests of the console need Chromium or Chrome: install one, or set EFS_NO_BROWSER=1 to ' +
      'leave them out.',
  );
}

/**
 * The package unpacks its browser into the folder for temporary files, so each worker unpacks into a
 * folder of its own; the first complete folder is then shared by all workers and later runs.
 */
async function unpackedBrowser(): Promise<string> {
  const { default: brought } = await import('@sparticuz/chromium');
  const shared = join(projectDir, 'build', 'browser');
  const path = join(shared, 'chromium');
  if (existsSync(path)) return path;
  const { TMPDIR: former } = process.env;
  await mkdir(join(projectDir, 'build'), { recursive: true });
  const own = await mkdtemp(join(projectDir, 'build', 'browser-'));
  try {
    process.env.TMPDIR = own;
    await brought.executablePath();
  } finally {
    if (former === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = former;
  }
  await rename(own, shared).catch((error) => {
    if (!existsSync(path)) throw error;
  });
  await rm(own, { recursive: true, force: true });
  return path;
}

export interface ConsoleBrowser {
  readonly browser: Browser;
  /** Opens a new visitor without stored data. */
  open(options?: Parameters<Browser['newContext']>[0]): Promise<Visit>;
  close(): Promise<void>;
}

export interface Visit {
  readonly context: BrowserContext;
  readonly page: Page;
  /** Violations of the policy and script errors of all opened pages. */
  readonly faults: string[];
}

export async function openBrowser(): Promise<ConsoleBrowser> {
  const executablePath = await browserPath();
  const browser = await chromium.launch({ executablePath, headless: true, args: flags });
  return {
    browser,
    async open(options = {}) {
      const context = await browser.newContext(options);
      const faults: string[] = [];
      context.on('weberror', (error) => faults.push(error.error().message));
      context.on('console', (message) => {
        if (/Content Security Policy|violates/i.test(message.text())) faults.push(message.text());
      });
      const page = await context.newPage();
      page.setDefaultTimeout(120_000);
      return { context, page, faults };
    },
    close: () => browser.close(),
  };
}
