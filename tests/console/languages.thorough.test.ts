// The views in German and Spanish: nothing overflows, axe-core finds no fault, and dates and sizes
// have the form of the language. The chosen language survives a reload.

import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Language, languages } from '../../console/src/language.ts';
import type { Texts } from '../../console/src/texts/en.ts';
import { isBrowserUnwanted, type Visit } from './support/browser.ts';
import { openConsole, shownPrincipal, type TestedConsole } from './support/console.ts';
import { storeFiles } from './support/files.ts';
import { checkView } from './support/view-check.ts';

describe.skipIf(isBrowserUnwanted)('the console in another language', () => {
  let tested: TestedConsole;

  beforeAll(async () => {
    tested = await openConsole();
    await storeFiles(tested);
  });
  afterAll(() => tested?.close());

  describe.each([
    ['de', 'de-AT', '3,4 kB', /gerade eben|vor \d+ Minuten?/],
    ['es', 'es-MX', '3,4 kB', /ahora mismo|hace \d+ minutos?/],
  ] as const)('%s', (tag, locale, size, age) => {
    let visit: Visit;
    let page: Page;
    let texts: Texts;

    beforeAll(async () => {
      ({ texts } = await languages[tag].load());
      visit = await tested.open({ locale });
      page = visit.page;
    });
    afterAll(() => visit?.context.close());

    const button = (name: string) => page.getByRole('button', { name, exact: true });
    const heading = (name: string) => page.getByRole('heading', { name, exact: true }).first();
    const check = (name: string) => checkView(visit, `${name}-${tag}`);
    const show = (fragment: string) => page.goto(`${tested.pages.url}/#${fragment}`);

    test('signs in with the language of the browser', async () => {
      await page.goto(tested.pages.url);
      await heading(texts.signIn.title).waitFor();
      expect(await page.locator('html').getAttribute('lang')).toBe(tag);
      expect(await page.locator('html').getAttribute('dir')).toBe('ltr');
      await expect.poll(() => page.title()).toBe(texts.page.name);
      await check('sign-in');
    });

    test('shows the overview and the service', async () => {
      await button(texts.signIn.byDevice).click();
      const addMembers = [{ principal: await shownPrincipal(page), role: 'owner' }];
      await tested.storage.buckets.update('demo', { addMembers });
      await page.reload();
      await page.getByRole('link', { name: 'demo' }).waitFor();
      await heading(texts.state.encryption).waitFor();
      await check('overview');
      await button(texts.addBucket.create).click();
      await page.getByLabel(texts.addBucket.name).waitFor();
      await check('add-bucket');
      await button(texts.page.close).click();
      await show('/service');
      await heading(texts.checks.uploads.title).waitFor();
      expect(await page.title()).toBe(`${texts.service.title} – ${texts.page.name}`);
      await check('service');
    });

    test('shows a folder, its dialogs, and a file', async () => {
      await show('/files/demo/');
      const row = page.getByRole('row', { name: 'notes.md' });
      await row.getByText(size).waitFor();
      await row.getByText(age).waitFor();
      const moment = await row.locator('[title]').getAttribute('title');
      const format = new Intl.DateTimeFormat(tag, { dateStyle: 'long' });
      expect(moment).toContain(format.format(new Date()));
      await check('files');
      await page.getByLabel(texts.grid.select('notes.md')).check();
      await page.getByLabel(texts.grid.select('2026'), { exact: true }).check();
      await page.getByText(texts.selection.count(2)).waitFor();
      await check('selection');
      await button(texts.selection.delete).click();
      await page.getByText(texts.deletion.canUndo).waitFor();
      await check('delete');
      await page.keyboard.press('Escape');
      await button(texts.selection.move).click();
      await page.getByText(texts.moving.newFolderHint).waitFor();
      await check('move');
      await page.keyboard.press('Escape');
      await button(texts.selection.clear).click();
      await show('/file/demo/notes.md');
      await heading(texts.versions.title).waitFor();
      await check('file');
    });

    test('shows a bucket', async () => {
      await show('/bucket/demo');
      await page.getByText('Backup').waitFor();
      await page.getByText(texts.keys.read).first().waitFor();
      await check('bucket');
    });

    test('says in the language what went wrong', async () => {
      await show('/files/nowhere/');
      await page.getByText(texts.failures.byCode.NoSuchBucket).waitFor();
      await show('/files/demo/');
      const file = { name: 'notes.md', mimeType: 'text/markdown', buffer: Buffer.from('other') };
      await page.getByLabel(texts.files.upload, { exact: true }).last().setInputFiles([file]);
      await page.getByText(texts.uploads.oneExists('notes.md')).waitFor();
      await check('uploads');
      await page.keyboard.press('Escape');
      await button(texts.uploads.decide).waitFor();
      await button(texts.uploads.cancelAll).click();
    });
  });

  test('English is shown if the texts of the language do not arrive', async () => {
    const visit = await tested.open({ locale: 'de-AT' });
    const { page } = visit;
    await page.route(/assets\/de-/, (route) => route.abort());
    await page.goto(tested.pages.url);
    await page.getByRole('heading', { name: 'Sign in', exact: true }).waitFor();
    await page.getByText('A part of this page did not load.').waitFor();
    await visit.context.close();
  });

  test('a chosen language is shown without a reload, and survives one', async () => {
    const visit = await tested.open({ locale: 'fr-FR' });
    const { page } = visit;
    await page.goto(tested.pages.url);
    // French has no texts.
    await page.getByRole('heading', { name: 'Sign in', exact: true }).waitFor();
    await page.getByLabel('API key').fill('half a key');
    const loaded = page.waitForEvent('framenavigated', { timeout: 1_000 }).catch(() => undefined);
    await page.getByRole('combobox', { name: 'Language' }).selectOption('Deutsch');
    await page.getByRole('heading', { name: 'Anmelden', exact: true }).waitFor();
    expect(await loaded).toBeUndefined();
    expect(await page.getByLabel('API-Schlüssel').inputValue()).toBe('half a key');
    expect(await languageFiles(page)).toEqual(['de', 'en']);
    await page.reload();
    await page.getByRole('heading', { name: 'Anmelden', exact: true }).waitFor();
    expect(await page.locator('html').getAttribute('lang')).toBe('de');
    expect(await languageFiles(page)).toEqual(['de']);
    await visit.context.close();
  });
});

/** Returns the languages whose texts this page has loaded. */
async function languageFiles(page: Page): Promise<Language[]> {
  const names = await page.evaluate(() =>
    performance.getEntriesByType('resource').map(({ name }) => new URL(name).pathname),
  );
  const tags = Object.keys(languages) as Language[];
  return tags.filter((tag) => names.some((name) => name.startsWith(`/assets/${tag}-`)));
}
