// Rules, retention and legal holds in the page: what an owner sets is confirmed in plain words and
// stored, others only see it, and a refused deletion says why.

import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isBrowserUnwanted, type Visit } from './support/browser.ts';
import { openConsole, shownPrincipal, type TestedConsole } from './support/console.ts';
import { checkView } from './support/view-check.ts';

describe.skipIf(isBrowserUnwanted)('Rules and retention', () => {
  let tested: TestedConsole;
  let visit: Visit;
  let page: Page;
  let principal: string;

  beforeAll(async () => {
    tested = await openConsole();
    visit = await tested.open();
    page = visit.page;
    const { storage } = tested;
    await page.goto(tested.pages.url);
    await page.getByRole('button', { name: 'Use a key on this device' }).click();
    principal = await shownPrincipal(page);
    await storage.buckets.create('versioned', { keepVersionsDays: 30 });
    await storage.buckets.create('quiet', { endToEnd: { sealsNames: true } });
    for (const bucket of ['demo', 'versioned', 'quiet']) await giveRole(bucket, 'owner');
    for (const path of ['report.txt', 'notes.txt']) {
      await storage.upload(new Blob([path], { type: 'text/plain' }), { bucket: 'demo', path });
      await storage.upload(new Blob([path]), { bucket: 'versioned', path });
    }
  });
  afterAll(async () => {
    await visit?.context.close();
    await tested?.close();
  });

  const giveRole = (bucket: string, role: string) =>
    tested.storage.buckets.update(bucket, { addMembers: [{ principal, role }] });
  /** Opens the view anew, so that it asks for the role and the record again. */
  async function show(fragment: string): Promise<void> {
    await page.goto('about:blank');
    await page.goto(`${tested.pages.url}/#${fragment}`);
  }
  const button = (name: string) => page.getByRole('button', { name, exact: true });
  const dialog = () => page.getByRole('dialog');
  const region = (name: string) => page.getByRole('region', { name, exact: true });
  const check = (name: string) => checkView(visit, name);
  const file = { bucket: 'demo', path: 'report.txt' };

  describe('of a bucket', () => {
    test('add a rule after the owner has read what it deletes', async () => {
      await show('/bucket/demo');
      const rules = region('Rules');
      await rules.getByText('nothing is deleted because of its age').waitFor();
      await rules.getByLabel('Days after the last change').fill('30');
      await rules.getByLabel('Only paths that begin with').fill('logs/');
      await rules.getByLabel('Only with the tag').fill('debug');
      await rules
        .getByRole('status')
        .getByText('Files are deleted 30 days after their last change.')
        .waitFor();
      await button('Add the rule').click();
      await dialog().getByText('This cannot be undone.').waitFor();
      await dialog()
        .getByText('Paths that begin with “logs/”, only with the tag “debug”')
        .waitFor();
      await check('rule-question');
      expect(await tested.storage.rules.list('demo')).toEqual([]);
      await dialog().getByRole('button', { name: 'Add the rule' }).click();
      await dialog().waitFor({ state: 'detached' });
      await expect(tested.storage.rules.list('demo')).resolves.toMatchObject([
        { id: 'rule-1', prefix: 'logs/', tag: 'debug', deleteAfterDays: 30 },
      ]);
    });

    test.each([
      ['Limit former versions', 'Former versions of each file', '1', { keepVersions: 1 }],
      [
        'Erase old former versions',
        'Days after the replacement or deletion',
        '90',
        { eraseVersionsAfterDays: 90 },
      ],
      ['Cancel unfinished uploads', 'Hours after they began', '24', { endUploadsAfterHours: 24 }],
    ])('add a rule to %s', async (action, count, value, stored) => {
      const rules = region('Rules');
      await rules.getByLabel('New rule').selectOption(action);
      await rules.getByLabel(count).fill(value);
      await button('Add the rule').click();
      await dialog().getByRole('button', { name: 'Add the rule' }).click();
      await dialog().waitFor({ state: 'detached' });
      const all = await tested.storage.rules.list('demo');
      expect(all.at(-1)).toMatchObject({ prefix: '', ...stored });
    });

    test('remove a rule after the owner has read what stays', async () => {
      await region('Rules').scrollIntoViewIfNeeded();
      await check('rules');
      await button('Remove the rule rule-1').click();
      await dialog().getByText('The bucket then has these rules:').waitFor();
      expect(await dialog().getByRole('listitem').count()).toBe(3);
      await dialog().getByRole('button', { name: 'Remove the rule' }).click();
      await dialog().waitFor({ state: 'detached' });
      const ids = (await tested.storage.rules.list('demo')).map(({ id }) => id);
      expect(ids).toEqual(['rule-2', 'rule-3', 'rule-4']);
    });

    test('that keeps former versions say that deleted files can be restored', async () => {
      await show('/bucket/versioned');
      await region('Rules').getByLabel('Days after the last change').fill('1');
      await button('Add the rule').click();
      await dialog().getByText('Deleted files can be restored for 30 days.').waitFor();
      await page.keyboard.press('Escape');
      expect(await tested.storage.rules.list('versioned')).toEqual([]);
    });

    test('that seals names take no prefix', async () => {
      await show('/bucket/quiet');
      await region('Rules').getByLabel('Only with the tag').waitFor();
      expect(await page.getByLabel('Only paths that begin with').count()).toBe(0);
    });

    test('set retention after a warning that nobody can shorten it', async () => {
      await show('/bucket/versioned');
      const retention = region('Retention of new files');
      await retention.getByText('New files are not retained').waitFor();
      await retention.getByLabel('Mode').selectOption('compliance');
      await retention.getByLabel('Days from the storing').fill('2');
      await retention.getByLabel('Only paths that begin with').fill('books/');
      await button('Set the retention').click();
      await dialog().getByText('This cannot be shortened').waitFor();
      await check('retention-question');
      await dialog().getByRole('button', { name: 'Set the retention' }).click();
      await dialog().waitFor({ state: 'detached' });
      await retention.getByText('Nobody can end this earlier.').waitFor();
      await retention.getByLabel('Days from the storing').fill('2');
      await button('Set the retention').click();
      await dialog().getByRole('button', { name: 'Set the retention' }).click();
      await dialog().waitFor({ state: 'detached' });
      await retention.getByText('An owner can end this earlier.').waitFor();
      for (const language of ['de', 'es', 'en']) {
        await page.getByRole('combobox').first().selectOption(language);
        await page.locator(`html[lang=${language}]`).waitFor();
        await check(`retention-${language}`);
      }
      const { retention: stored } = await tested.storage.buckets.get('versioned');
      expect(stored).toEqual([
        { prefix: 'books/', mode: 'compliance', days: 2 },
        { prefix: '', mode: 'governance', days: 2 },
      ]);
      await button('Remove the retention: Whole bucket').click();
      await expect.poll(() => retention.getByRole('listitem').count()).toBe(1);
    });
  });

  describe('of a file', () => {
    test('hold it, and refuse its deletion with the reason', async () => {
      await show('/file/demo/report.txt');
      await region('Protection').getByText('Nothing protects this file').waitFor();
      await button('Add a legal hold').click();
      await region('Protection').getByText('Under a legal hold').waitFor();
      expect((await tested.storage.stat(file)).retention).toEqual({ hold: true });
      await check('file-held');
      await show('/files/demo/');
      const row = page.getByRole('row', { name: 'report.txt' });
      await row.getByRole('img', { name: 'Protected by retention or a legal hold' }).waitFor();
      await check('files-held');
      expect(await page.getByRole('row', { name: 'notes.txt' }).getByRole('img').count()).toBe(0);
      await page.getByLabel('Select report.txt').check();
      await button('Delete').click();
      await dialog().getByRole('button', { name: 'Delete' }).click();
      await dialog().getByRole('alert').getByText('report.txt was not deleted').waitFor();
      await dialog().getByText('Retention or a legal hold protects the file').waitFor();
      await check('delete-held');
      await page.keyboard.press('Escape');
      await show('/file/demo/report.txt');
      await button('Remove the legal hold').click();
      await region('Protection').getByText('Nothing protects this file').waitFor();
    });

    test('retain it, and end a retention in governance mode', async () => {
      await button('Retain …').click();
      await dialog().getByLabel('Days from now').fill('3');
      await check('retain');
      await dialog().getByRole('button', { name: 'Retain the file' }).click();
      await region('Protection').getByText('an owner can end this earlier').waitFor();
      const { retention } = await tested.storage.stat(file);
      expect(retention).toMatchObject({ mode: 'governance', hold: false });
      const days = (Date.parse(retention?.retainUntil ?? '') - Date.now()) / 86_400_000;
      expect(Math.round(days)).toBe(3);
      await button('End the retention').click();
      await dialog().getByRole('button', { name: 'End the retention' }).click();
      await region('Protection').getByText('Nothing protects this file').waitFor();
      expect((await tested.storage.stat(file)).retention).toBeUndefined();
    });

    test('show that a deleted file has versions that stay', async () => {
      const held = { bucket: 'versioned', path: 'report.txt' };
      await tested.storage.retention.hold(held);
      await tested.storage.remove(held);
      await show('/deleted/versioned');
      await button('Erase report.txt').click();
      await dialog().getByRole('button', { name: 'Erase' }).click();
      await dialog().getByText('Retention or a legal hold protects 1 version').waitFor();
    });
  });

  test('are shown to a reader, who can change nothing', async () => {
    await tested.storage.retention.hold(file);
    await giveRole('demo', 'reader');
    await show('/bucket/demo');
    await region('Rules').getByText('Unfinished uploads are cancelled 24 hours').waitFor();
    await region('Retention of new files').waitFor();
    for (const name of ['Add the rule', 'Remove the rule rule-2', 'Set the retention']) {
      expect(await button(name).count()).toBe(0);
    }
    await check('rules-reader');
    await show('/file/demo/report.txt');
    await region('Protection').getByText('Under a legal hold').waitFor();
    expect(await button('Remove the legal hold').count()).toBe(0);
    expect(await button('Retain …').count()).toBe(0);
  });
});
