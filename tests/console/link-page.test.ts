// What somebody is sent: a link to a file of an end-to-end bucket, opened in a browser, by nothing
// but its address; and what such a file cannot do there.

import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isBrowserUnwanted, type Visit } from './support/browser.ts';
import { openConsole, type TestedConsole } from './support/console.ts';
import { picture } from './support/picture.ts';

const bucket = 'safe';
const script = "document.title = 'taken ' + Object.values(sessionStorage).join()";
/** `shown`: what there is of it in the preview. */
const hostile: readonly (readonly [name: string, text: string, shown: string])[] = [
  ['page.html', `<h1>Page</h1><script>${script}</script>`, 'pre'],
  [
    'drawing.svg',
    `<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9" onload="${script}"><script>${script}</script></svg>`,
    'img[src^="blob:"]',
  ],
  ['letter.md', `<img src=x onerror="${script}">\n\n[here](javascript:${script})\n`, '.markdown'],
  ['false.pdf', `<script>${script}</script>`, 'iframe[src^="blob:"]'],
];

describe.skipIf(isBrowserUnwanted)('somebody who was sent a link', () => {
  let tested: TestedConsole;
  let visit: Visit;
  let page: Page;

  beforeAll(async () => {
    tested = await openConsole();
    visit = await tested.open();
    page = visit.page;
    const { storage } = tested;
    await storage.buckets.create(bucket, { endToEnd: {} });
    const texts = [...hostile, ['notes.txt', 'the harbour is quiet'] as const];
    const files = texts.map(([path, text]) => ({ path, source: new Blob([text]) }));
    const image = { path: 'summer/harbour.png', source: await picture(page) };
    for await (const { error } of storage.uploadAll([...files, image], { bucket })) {
      expect(error).toBeUndefined();
    }
  });
  afterAll(async () => {
    await visit?.context.close();
    await tested?.close();
  });

  /** Here, where the page's server is. */
  async function linkTo(path: string, expiresAt?: Date): Promise<URL> {
    const { pathname, search, hash } = new URL(
      (await tested.storage.links.create({ bucket, path, expiresAt })).url,
    );
    return new URL(pathname + search + hash, tested.pages.url);
  }

  async function go(link: URL | string): Promise<void> {
    // Else the same document with another end.
    await page.goto('about:blank');
    await page.goto(String(link));
  }

  test('sees the file, its name and size, saves it, and reloads', async () => {
    const link = await linkTo('summer/harbour.png');
    await go(link);
    await page.getByRole('heading', { level: 1, name: 'harbour.png' }).waitFor();
    await page.getByText('It was encrypted before it was sent').waitFor();
    const shown = page.getByRole('img', { name: 'harbour.png' });
    const width = () => shown.evaluate((image) => (image as HTMLImageElement).naturalWidth);
    await expect.poll(width).toBe(640);
    const saving = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download' }).click();
    const saved = await saving;
    expect(saved.suggestedFilename()).toBe('harbour.png');
    const bytes = await readFile((await saved.path()) ?? '');
    expect(bytes.subarray(1, 4).toString()).toBe('PNG');
    await page.reload();
    await expect.poll(width).toBe(640);
    expect(visit.faults).toEqual([]);
  });

  test('sends nobody the end of the address, which goes from the address bar at once', async () => {
    const link = await linkTo('notes.txt');
    const ending = link.hash.slice(1);
    expect(ending.length).toBeGreaterThan(20);
    await go(link);
    await page.getByText('the harbour is quiet').waitFor();
    expect(page.url()).toBe(link.href.slice(0, -link.hash.length));
    expect(await page.evaluate(() => JSON.stringify(history.state))).toBe('null');
    expect(tested.pages.requests.filter((request) => request.includes(ending))).toEqual([]);
    const asked = tested.pages.requests.filter((request) => request.includes(link.pathname));
    expect(asked.length).toBeGreaterThan(1);
    await page.goto(tested.pages.url);
    await page.goBack();
    await page.getByText('the harbour is quiet').waitFor();
    expect(page.url()).not.toContain('#');
  });

  test('is told what is wrong with the address', async () => {
    const link = await linkTo('notes.txt');
    const other = await linkTo('page.html');
    const failure = () => page.getByRole('alert').textContent();
    await go(link.href.slice(0, -3));
    await expect.poll(failure).toMatch(/end of this address does not open the file/);
    // In the same tab, where the page is open already.
    await page.goto(link.href.replace(link.hash, other.hash));
    await expect.poll(failure).toMatch(/another file has taken its place/);
    await page.goto(link.href);
    await page.getByText('the harbour is quiet').waitFor();
    const fresh = await tested.open();
    await fresh.page.goto(link.href.replace(link.hash, ''));
    await fresh.page.getByText('behind #, is missing').waitFor();
    const saving = fresh.page.waitForEvent('download');
    await fresh.page.getByRole('button', { name: 'Download' }).click();
    expect((await saving).suggestedFilename()).toBe('notes.txt.age');
    await fresh.context.close();
  });

  test('is told of a link that was taken back, or that there never was', async () => {
    const link = await linkTo('notes.txt');
    const [, , id = ''] = link.pathname.split('/');
    await tested.storage.links.remove(bucket, id);
    for (const dead of [link, `${tested.pages.url}/s/none/notes.txt?k=x#AAAA`]) {
      await go(dead);
      await expect
        .poll(() => page.getByRole('alert').textContent())
        .toMatch(/expired or was taken/);
    }
  });

  test.each(hostile)('is harmed by nothing in %s', async (path, _, shown) => {
    await go(await linkTo(path));
    await page.getByRole('region', { name: 'Preview' }).locator(shown).waitFor();
    expect(await page.title()).toBe('Files');
    expect(await page.locator('a[href^="javascript"]').count()).toBe(0);
  });
});
