// The recipes of docs/how-to/uploads.md in Chromium, with the real widgets, in a page of another
// origin than the service. EFS_WIDGET_MB sets the size of the large files.

import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { build } from 'esbuild';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { identityFromPem } from '../../packages/client/src/node/identity.ts';
import { createStorage, type Storage } from '../../packages/client/src/storage.ts';
import { type ConsoleBrowser, isBrowserUnwanted, openBrowser } from '../console/support/browser.ts';
import { openPageServer, type PageServer } from '../console/support/page-server.ts';
import { readPages } from '../documents/support/pages.ts';
import { openService, type Service, sampleBytes } from '../support/service.ts';
import { projectDir } from '../tidy/source-tree.ts';

const largeBytes = Number(process.env.EFS_WIDGET_MB ?? 12) * 1_000_000;
const html = '<!doctype html><input type="file"><output></output>';

/** Returns the program of the page that has all these words. */
function recipe(...words: string[]): string {
  const page = readPages().find(({ path }) => path === 'docs/how-to/uploads.md');
  const found = (page?.blocks ?? []).filter(({ text, isForBrowsers }) => {
    return isForBrowsers && words.every((word) => text.includes(word));
  });
  if (found.length !== 1) throw new Error(`${found.length} recipes have ${words.join(', ')}`);
  return found[0]?.text ?? '';
}

async function bundled(contents: string): Promise<string> {
  const stdin = { contents, resolveDir: projectDir, loader: 'ts' } as const;
  const made = await build({ stdin, bundle: true, format: 'esm', write: false });
  return made.outputFiles[0]?.text ?? '';
}

const recipes = {
  fetch: recipe("method: 'PUT'"),
  'Uppy with XHR': recipe('XHRUpload'),
  FilePond: recipe('filepond', 'formUrl'),
  'Uppy with tus': recipe('@uppy/tus'),
  'tus-js-client': recipe('findPreviousUploads'),
  'FilePond with tus-js-client': recipe('filepond', 'tusUrl'),
};
type Recipe = keyof typeof recipes;

describe.skipIf(isBrowserUnwanted)('uploadLinks with the widgets of docs/how-to/uploads.md', () => {
  let service: Service;
  let gateway: PageServer;
  let owner: Storage;
  let browser: ConsoleBrowser;
  let pages: Server;
  let folder: string;
  const programs = new Map<string, string>();

  beforeAll(async () => {
    service = await openService();
    gateway = await openPageServer(service.base);
    const { host, canisterId, identityPem, apiKey } = service;
    owner = createStorage({ host, canisterId, identity: identityFromPem(identityPem) });
    const ofGateway = createStorage({ url: gateway.url, apiKey });
    browser = await openBrowser();
    folder = await mkdtemp(join(tmpdir(), 'widgets-'));
    await writeFile(join(folder, 'small.txt'), 'a small file');
    await writeFile(join(folder, 'large.bin'), sampleBytes('widget', largeBytes));
    for (const [name, program] of Object.entries(recipes)) {
      programs.set(encodeURIComponent(name), await bundled(program));
    }
    const links = new Map<string, object>();
    pages = createServer(async (request, response) => {
      const { pathname } = new URL(request.url ?? '/', 'http://page');
      const name = decodeURIComponent((request.headers.referer ?? '').split('/').at(-1) ?? '');
      if (pathname === '/upload-link') {
        // One link for each recipe, as a server remembers it for its user
        const prefix = `${name}/`;
        const link =
          links.get(name) ?? (await ofGateway.uploadLinks.create({ bucket: 'demo', prefix }));
        links.set(name, link);
        response.setHeader('Content-Type', 'application/json');
        response.end(JSON.stringify(link));
      } else if (pathname.endsWith('.js')) {
        response.setHeader('Content-Type', 'text/javascript');
        response.end(programs.get(pathname.slice(1, -3)));
      } else {
        response.setHeader('Content-Type', 'text/html');
        response.end(`${html}<script type="module" src="${pathname}.js"></script>`);
      }
    });
    await new Promise<void>((resolve) => pages.listen(0, 'localhost', resolve));
  });

  afterAll(async () => {
    await browser?.close();
    pages?.close();
    await gateway?.close();
    await service?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  async function visit(page: Page, name: Recipe): Promise<void> {
    const { port } = pages.address() as AddressInfo;
    const ready = page.waitForResponse((response) => response.url().endsWith('/upload-link'));
    await page.goto(`http://localhost:${port}/${encodeURIComponent(name)}`);
    await (await ready).finished();
    await page.waitForTimeout(200);
  }

  const choose = (page: Page, file: string) =>
    page.setInputFiles('input[type=file]', join(folder, file));
  const isStored = (page: Page) =>
    page.locator('output', { hasText: 'stored' }).waitFor({ timeout: 240_000 });

  async function expectStored(name: Recipe, file: string): Promise<void> {
    const stored = await owner.download({ bucket: 'demo', path: `${name}/${file}` });
    const hash = createHash('sha256').update(await stored.bytes());
    const wanted = createHash('sha256');
    for await (const bytes of createReadStream(join(folder, file))) wanted.update(bytes);
    expect(hash.digest('hex')).toBe(wanted.digest('hex'));
  }

  test.each(['fetch', 'Uppy with XHR', 'FilePond'] as const)(
    '%s stores a small file',
    async (name) => {
      const { page, context } = await browser.open();
      await visit(page, name);
      await choose(page, 'small.txt');
      await isStored(page);
      await expectStored(name, 'small.txt');
      await context.close();
    },
  );

  test('FilePond with tus-js-client stores a large file', async () => {
    const name = 'FilePond with tus-js-client';
    const { page, context } = await browser.open();
    await visit(page, name);
    await choose(page, 'large.bin');
    await isStored(page);
    await expectStored(name, 'large.bin');
    await context.close();
  });

  test.each(['Uppy with tus', 'tus-js-client'] as const)(
    '%s stores a large file in spite of a reload and a lost network',
    async (name) => {
      const { page, context } = await browser.open();
      // Lasts long enough to be interrupted
      await context.route('**/tus/**', async (route) => {
        await setTimeout(200);
        await route.continue().catch(() => undefined);
      });
      await visit(page, name);
      const sent = () => gateway.requests.filter((line) => line.startsWith('PATCH')).length;
      const before = sent();
      await choose(page, 'large.bin');
      await expect.poll(() => sent() - before, { timeout: 60_000 }).toBeGreaterThan(1);
      await visit(page, name);
      await choose(page, 'large.bin');
      await expect.poll(() => sent() - before, { timeout: 60_000 }).toBeGreaterThan(3);
      await context.setOffline(true);
      await page.waitForTimeout(1_500);
      const lost = sent();
      await page.waitForTimeout(500);
      expect(sent()).toBe(lost);
      await context.setOffline(false);
      await isStored(page);
      await expectStored(name, 'large.bin');
      // Each part was sent once, besides the two that were interrupted
      const parts = Math.ceil(largeBytes / 1_900_000);
      expect(sent() - before).toBeLessThanOrEqual(parts + 4);
      await context.close();
    },
  );
});
