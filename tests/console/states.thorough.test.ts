// The states of the views: empty, failed, offline, read-only, questions, menus, results and long
// lists. axe-core and the layout have no fault in any.

import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isBrowserUnwanted, type Visit } from './support/browser.ts';
import { openConsole, shownPrincipal, sizes, type TestedConsole } from './support/console.ts';
import { checkView } from './support/view-check.ts';

const rowCount = 1_200;

describe.skipIf(isBrowserUnwanted)('no fault in the state', () => {
  let tested: TestedConsole;
  let visit: Visit;
  let page: Page;
  let principal: string;

  beforeAll(async () => {
    tested = await openConsole();
    visit = await tested.open();
    page = visit.page;
    const { storage } = tested;
    await storage.buckets.create('empty');
    await storage.buckets.update('demo', { keepVersionsDays: 30 });
    const file = (path: string) => ({ path, source: new Blob([path], { type: 'text/plain' }) });
    const many = Array.from({ length: rowCount }, (_, index) => file(`many/${10_000 + index}.txt`));
    const csv = new Blob(['month,sum,remark\n1,20,\n2,30,a longer remark\n'], { type: 'text/csv' });
    const few = [file('a.txt'), file('b.txt'), file('2026/c.txt'), file('gone.txt')];
    const files = [...few, { path: 'sums.csv', source: csv }, ...many];
    for await (const { error } of storage.uploadAll(files, { bucket: 'demo' })) {
      expect(error).toBeUndefined();
    }
    await storage.remove({ bucket: 'demo', path: 'gone.txt' });
    await page.goto(tested.pages.url);
    await page.getByRole('button', { name: 'Use a key on this device' }).click();
    principal = await shownPrincipal(page);
    await giveRole('demo', 'owner');
    await giveRole('empty', 'owner');
  });
  afterAll(async () => {
    await visit?.context.close();
    await tested?.close();
  });

  const giveRole = (bucket: string, role: string) =>
    tested.storage.buckets.update(bucket, { addMembers: [{ principal, role }] });
  /** Opens the view anew, so that it asks for the role and the files again. */
  async function show(fragment: string): Promise<void> {
    await page.goto('about:blank');
    await page.goto(`${tested.pages.url}/#${fragment}`);
  }
  const button = (name: string) => page.getByRole('button', { name, exact: true });
  const check = (name: string) => checkView(visit, name);
  /** A place without files has no heads of columns. */
  async function checkWithoutList(name: string): Promise<void> {
    expect(await page.getByRole('grid').count()).toBe(0);
    await check(name);
  }

  test('of an empty folder, and of a bucket that does not exist', async () => {
    await show('/files/empty/');
    await page.getByText('Nothing here yet.').waitFor();
    await button('Choose files').waitFor();
    await checkWithoutList('empty');
    await show('/deleted/empty');
    await page.getByText('This bucket keeps no deleted files.').waitFor();
    await checkWithoutList('nothing-deleted');
    await show('/files/nowhere/');
    await page.getByRole('alert').getByRole('button', { name: 'Try again' }).waitFor();
    await checkWithoutList('error');
  });

  test('of a long list, a search, and a search without results', async () => {
    await show('/files/demo/many/');
    await page.getByText('500 entries so far').waitFor();
    await check('many-rows');
    const field = page.getByRole('searchbox');
    for (const size of sizes) {
      await page.setViewportSize(size);
      const before = await field.boundingBox();
      await field.fill('1119');
      await button('Search this folder').waitFor();
      expect(await field.boundingBox(), `typed at ${size.width}`).toEqual(before);
      await check('search');
      await page.setViewportSize(size);
      await button('Search this folder').click();
      await page.getByText('11 files found among 1,200 files').waitFor();
      expect(await field.boundingBox(), `found at ${size.width}`).toEqual(before);
      await page.keyboard.type('8');
      expect(await field.inputValue()).toBe('11198');
      await field.fill('');
      await page.getByText('500 entries so far').waitFor();
    }
    await field.fill('1119');
    await button('Search this folder').click();
    await page.getByText('11 files found among 1,200 files').waitFor();
    await check('found');
    await page.getByRole('searchbox').fill('nothing of this name');
    await button('Search the bucket').click();
    await page.getByText('Nothing found.').waitFor();
    await checkWithoutList('nothing-found');
    await button('Clear the search').click();
    await page.getByText('500 entries so far').waitFor();
    expect(await field.inputValue()).toBe('');
  });

  test('of a menu, and of a form', async () => {
    await show('/files/demo/');
    // On a wide window the menu would stand where a phone has no screen.
    await page.setViewportSize({ width: 360, height: 640 });
    await page.getByRole('row', { name: 'a.txt' }).click({ button: 'right' });
    await page.getByRole('menu').waitFor();
    await check('menu');
    await page.keyboard.press('Escape');
    // The actions of selected files cover the tools.
    await button('Clear').click();
    await page.setViewportSize({ width: 360, height: 640 });
    await button('More actions').click();
    await page.getByRole('menuitem', { name: 'New folder' }).waitFor();
    await check('folder-menu');
    await page.getByRole('menuitem', { name: 'New folder' }).click();
    await page.getByRole('dialog').waitFor();
    await check('new-folder');
    await page.keyboard.press('Escape');
  });

  test('of a folder picker', async () => {
    await page.getByLabel('Select b.txt').check();
    await button('Move').click();
    await page.getByRole('dialog').waitFor();
    await check('move');
    await page.keyboard.press('Escape');
    await button('Clear').click();
  });

  test('of a table, and of a deleted file', async () => {
    await show('/file/demo/sums.csv');
    await page.getByRole('cell', { name: 'a longer remark' }).waitFor();
    await check('table');
    await show('/deleted/demo');
    await page.getByText('gone.txt').waitFor();
    await check('deleted-files');
    await show('/file/demo/gone.txt');
    await page.getByText('This file, 8 bytes, was deleted').waitFor();
    await check('deleted-file');
  });

  test('of a question about existing files, and of uploads without a network', async () => {
    await show('/files/demo/');
    await page.getByRole('link', { name: 'a.txt' }).waitFor();
    const chosen = (names: readonly string[], length: number) =>
      names.map((name) => ({ name, mimeType: 'text/plain', buffer: Buffer.alloc(length) }));
    const input = page.getByLabel('Upload files').last();
    await input.setInputFiles(chosen(['a.txt', 'b.txt'], 3));
    await page.getByText('2 of these files already exist. Replace them?').waitFor();
    await check('question');
    await button('Skip all').click();
    await visit.context.setOffline(true);
    await input.setInputFiles(chosen(['film.bin'], 3_000_000));
    await page.getByText('You are offline.').waitFor();
    await check('offline');
    await visit.context.setOffline(false);
    await page.getByText('1 file uploaded.').waitFor();
  });

  test('of a reader', async () => {
    await giveRole('demo', 'reader');
    await show('/files/demo/');
    await page.getByRole('link', { name: 'a.txt' }).waitFor();
    await expect.poll(() => button('Upload files').count()).toBe(0);
    await page.getByLabel('Select a.txt').check();
    await check('reader');
    await giveRole('demo', 'owner');
  });
});
