// Hostile files of a bucket reach neither the page's keys nor its address. Another test limits the
// page's size.

import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { languages } from '../../console/src/language.ts';
import { buildConsole } from '../../scripts/console-build.ts';
import { isBrowserUnwanted, type Visit } from './support/browser.ts';
import { openConsole, type TestedConsole } from './support/console.ts';

const script = "document.title = 'taken ' + Object.values(sessionStorage).join()";
const hostileFiles: readonly (readonly [path: string, contentType: string, text: string])[] = [
  ['page.html', 'text/html', `<h1>Page</h1><script>${script}</script>`],
  [
    'drawing.svg',
    'image/svg+xml',
    `<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9" onload="${script}"><script>${script}</script></svg>`,
  ],
  [
    'letter.md',
    'text/markdown',
    `# Letter\n\n<img src=x onerror="${script}">\n\n[here](javascript:void(document.title='taken'))\n\n` +
      '[there](https://example.com/) ![](https://example.com/pixel.png)\n',
  ],
  ['false.pdf', 'application/pdf', `<script>${script}</script>`],
  ['"><script>x<.txt', 'text/plain', 'its name is hostile'],
];

describe.skipIf(isBrowserUnwanted)('a hostile file', () => {
  let tested: TestedConsole;
  let visit: Visit;
  let page: Page;
  const elsewhere: string[] = [];

  beforeAll(async () => {
    tested = await openConsole();
    visit = await tested.open();
    page = visit.page;
    const files = hostileFiles.map(([path, type, text]) => ({
      path,
      source: new Blob([text], { type }),
    }));
    for await (const { error } of tested.storage.uploadAll(files, { bucket: 'demo' })) {
      expect(error).toBeUndefined();
    }
    visit.context.on('request', (request) => {
      const { port } = new URL(tested.pages.url);
      const volume = `http://${tested.service.canisterId}.localhost:${port}/`;
      const own = [tested.pages.url, volume].some((origin) => request.url().startsWith(origin));
      if (!own && !/^(?:blob|data|about|chrome)/.test(request.url())) elsewhere.push(request.url());
    });
    await tested.signIn(visit);
  });
  afterAll(async () => {
    await visit?.context.close();
    await tested?.close();
  });

  test.each(hostileFiles)('%s neither runs nor fetches anything when it is shown', async (path) => {
    await page.goto(`${tested.pages.url}/#/file/demo/${encodeURIComponent(path)}`);
    await page.getByRole('heading', { level: 1, name: path }).waitFor();
    await page.getByText('SHA-256').waitFor();
    await expect
      .poll(() => page.getByRole('region', { name: 'Preview' }).getByText('Loading').count())
      .toBe(0);
    expect(await page.title()).toBe(`${path} – demo – Files`);
    expect(page.frames().map((frame) => frame.url().includes('efs_'))).not.toContain(true);
    expect(await page.locator('a[href^="javascript"]').count()).toBe(0);
    expect(elsewhere).toEqual([]);
  });

  test('that is opened at its own address runs in an origin that cannot read the key', async () => {
    const link = await tested.storage.links.create({ bucket: 'demo', path: 'page.html' });
    const { pathname, search } = new URL(link.url);
    const second = await visit.context.newPage();
    await second.goto(tested.pages.url + pathname + search);
    await second.getByRole('heading', { name: 'Page' }).waitFor();
    expect(await second.title()).not.toContain('taken');
    await second.close();
  });
});

test('the first view with its language has at most 60 kB compressed, all of the console 340 kB', async () => {
  const folder = await buildConsole();
  const page = await readFile(join(folder, 'index.html'), 'utf8');
  const names = await readdir(join(folder, 'assets'));
  const sizes = new Map<string, number>();
  for (const name of names) {
    sizes.set(name, gzipSync(await readFile(join(folder, 'assets', name))).length);
  }
  const sum = (wanted: readonly string[]) =>
    wanted.reduce((total, name) => total + (sizes.get(name) ?? 0), gzipSync(page).length);
  const texts = Object.keys(languages).map((tag) =>
    names.filter((name) => name.startsWith(`${tag}-`)),
  );
  expect(texts.map(({ length }) => length)).toEqual(texts.map(() => 1));
  const named = names.filter((name) => page.includes(name));
  for (const text of texts) expect(sum([...named, ...text])).toBeLessThanOrEqual(60_000);
  // Three languages take 34 kB of it, of which a visitor loads one, and several volumes 7 kB.
  expect(sum(names)).toBeLessThanOrEqual(340_000);
  // The page that the canister serves must work under its Content-Security-Policy.
  expect(page).not.toMatch(/<script>|<style|style=|\son\w+=|https?:/);
  expect(await readdir(folder)).toEqual(['assets', 'index.html']);
  expect(names.filter((name) => !/^[\w.-]+-[\w-]{8}\.(?:js|css|svg)$/.test(name))).toEqual([]);
});
