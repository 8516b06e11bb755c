// The views as a language that is written from the right would show them: mirrored, and without
// overflow. No such language has texts yet, so the test turns the page of English ones.

import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isBrowserUnwanted, type Visit } from './support/browser.ts';
import { openConsole, shownPrincipal, sizes, type TestedConsole } from './support/console.ts';
import { storeFiles } from './support/files.ts';
import { mirrorFaults } from './support/layout.ts';
import { checkView } from './support/view-check.ts';

describe.skipIf(isBrowserUnwanted)('from right to left', () => {
  let tested: TestedConsole;
  let visit: Visit;
  let page: Page;

  beforeAll(async () => {
    tested = await openConsole();
    await storeFiles(tested);
    visit = await tested.open();
    page = visit.page;
    await page.goto(tested.pages.url);
    await page.getByRole('button', { name: 'Use a key on this device' }).click();
    const addMembers = [{ principal: await shownPrincipal(page), role: 'owner' }];
    await tested.storage.buckets.update('demo', { addMembers });
    await page.reload();
    await page.getByRole('link', { name: 'demo' }).waitFor();
    await turn();
  });
  afterAll(async () => {
    await visit?.context.close();
    await tested?.close();
  });

  const turn = () =>
    page.evaluate(() => {
      document.documentElement.dir = 'rtl';
    });
  /** A new fragment does not load the page again, so its direction stays. */
  const show = (fragment: string) => page.goto(`${tested.pages.url}/#${fragment}`);
  async function check(name: string): Promise<void> {
    await checkView(visit, `${name}-rtl`);
    for (const size of sizes) {
      await page.setViewportSize(size);
      const faults = await mirrorFaults(page);
      expect(faults, `${name} ${size.width}`).toEqual([]);
    }
    expect(await page.locator('html').getAttribute('dir')).toBe('rtl');
  }
  /** Returns the computed direction of each element. */
  const directions = (selector: string) =>
    page.locator(selector).evaluateAll((all) => all.map((one) => getComputedStyle(one).direction));
  const leftOf = async (selector: string) =>
    (await page.locator(selector).first().boundingBox())?.x ?? 0;

  test('the overview is mirrored, and commands are not', async () => {
    await page.getByRole('heading', { name: 'Encryption' }).waitFor();
    await check('overview');
    const codes = await directions('.copy-text code');
    expect(codes.length).toBeGreaterThan(1);
    expect(new Set(codes)).toEqual(new Set(['ltr']));
  });

  test('the service and a bucket are mirrored', async () => {
    await show('/service');
    await page.getByRole('heading', { name: 'Uploads under way' }).waitFor();
    await check('service');
    await show('/bucket/demo');
    await page.getByText('Backup').waitFor();
    await check('bucket');
    expect(new Set(await directions('code.principal'))).toEqual(new Set(['ltr']));
  });

  test('a folder with selected files and a dialog are mirrored, names keep their direction', async () => {
    await show('/files/demo/');
    await page.getByRole('link', { name: 'notes.md' }).waitFor();
    await check('files');
    expect(await leftOf('.cell-name')).toBeLessThan(await leftOf('.cell-check'));
    const latin = page.locator('.name', { hasText: 'notes.md' });
    const hebrew = page.locator('.name', { hasText: 'צילומים' });
    const directionOf = (one: typeof latin) =>
      one.evaluate((element) => getComputedStyle(element).direction);
    expect(await directionOf(latin)).toBe('ltr');
    expect(await directionOf(hebrew)).toBe('rtl');
    await page.getByLabel('Select notes.md').check();
    await page.getByLabel('Select 2026', { exact: true }).check();
    await page.getByText('2 selected').waitFor();
    await check('selection');
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByText('you can undo this').waitFor();
    await check('delete');
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Move' }).click();
    await page.getByRole('dialog').getByText('New folder in it').waitFor();
    await check('move');
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Clear' }).click();
  });

  test('a file is mirrored, and the left arrow opens the next one', async () => {
    await show('/file/demo/notes.md');
    await page.getByRole('heading', { name: 'Former versions' }).waitFor();
    await page.getByRole('link', { name: 'Next' }).waitFor();
    await check('file');
    await page.keyboard.press('ArrowLeft');
    await page.getByRole('heading', { level: 1, name: 'צילומים.txt' }).waitFor();
  });
});
