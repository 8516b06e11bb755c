// Arranges files in the console: the dialog with folders and buckets, dragging, renaming in a row.

import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isBrowserUnwanted, type Visit } from './support/browser.ts';
import {
  accessFaults,
  openConsole,
  shownPrincipal,
  type TestedConsole,
} from './support/console.ts';

describe.skipIf(isBrowserUnwanted)('arranging', () => {
  let tested: TestedConsole;
  let visit: Visit;
  let page: Page;

  beforeAll(async () => {
    tested = await openConsole();
    visit = await tested.open();
    page = visit.page;
    const { storage } = tested;
    await storage.buckets.create('attic');
    await storage.buckets.create('letters', { endToEnd: {} });
    await storage.buckets.create('library');
    await page.goto(tested.pages.url);
    await page.getByRole('button', { name: 'Use a key on this device' }).click();
    const principal = await shownPrincipal(page);
    for (const [bucket, role] of roles) {
      await storage.buckets.update(bucket, { addMembers: [{ principal, role }] });
    }
    for (const path of paths) await store('demo', path);
    await open('demo');
  });
  afterAll(async () => {
    await visit?.context.close();
    await tested?.close();
  });

  const roles = [
    ['demo', 'owner'],
    ['attic', 'writer'],
    ['letters', 'writer'],
    ['library', 'reader'],
  ] as const;
  const paths = [
    'a.txt',
    'b.txt',
    'c.txt',
    'deep/er/d.txt',
    ...[1, 2, 3, 4, 5].map((index) => `summer/${index}.txt`),
  ];
  const store = (bucket: string, path: string) =>
    tested.storage.upload(new Blob([path], { type: 'text/plain' }), { bucket, path });
  const open = async (bucket: string, prefix = '') => {
    await page.goto('about:blank');
    await page.goto(`${tested.pages.url}/#/files/${bucket}/${prefix}`);
    await page.getByRole('row').nth(1).waitFor();
  };
  const names = () => page.getByRole('row').getByRole('link').allTextContents();
  const stored = async (bucket: string, prefix = '') => {
    const found: string[] = [];
    for await (const { path } of tested.storage.list({ bucket, prefix })) found.push(path);
    return found;
  };
  const row = (name: string) => page.getByRole('row', { name });
  const select = (name: string) => page.getByLabel(`Select ${name}`, { exact: true }).check();
  const button = (name: string) => page.getByRole('button', { name, exact: true });
  const dialog = () => page.getByRole('dialog');
  const inDialog = (name: string | RegExp) => dialog().getByRole('button', { name, exact: true });
  const undo = () => button('Undo').last().click();

  test('moves to a folder that is chosen by mouse, and back up by its path', async () => {
    await select('a.txt');
    await button('Move').click();
    await expect.poll(() => inDialog('deep').count()).toBe(1);
    expect(await accessFaults(page)).toEqual([]);
    await inDialog('deep').click();
    await inDialog('er').click();
    await dialog().getByText('No folders here.').waitFor();
    await inDialog('deep').click();
    await page.getByRole('group', { name: 'Folders in deep' }).waitFor();
    await inDialog(/^Move /).click();
    await page.getByText('1 entry moved to').waitFor();
    expect(await stored('demo', 'deep/')).toEqual(['deep/a.txt', 'deep/er/d.txt']);
    await expect.poll(names).toEqual(['deep', 'summer', 'b.txt', 'c.txt']);
    await undo();
    await expect.poll(names).toEqual(['deep', 'summer', 'a.txt', 'b.txt', 'c.txt']);
  });

  test('copies to a new folder in one that is chosen by keyboard', async () => {
    await select('deep');
    await button('Copy').click();
    await expect.poll(() => inDialog('summer').count()).toBe(1);
    // A folder cannot go into itself.
    expect(await inDialog('deep').isDisabled()).toBe(true);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.getByRole('group', { name: 'Folders in summer' }).waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.type('old/times');
    await page.keyboard.press('Enter');
    await page.getByText('1 entry copied to').waitFor();
    expect(await stored('demo', 'summer/old/')).toEqual(['summer/old/times/deep/er/d.txt']);
    await tested.storage.remove({ bucket: 'demo', path: 'summer/old/times/deep/er/d.txt' });
  });

  test('to another bucket offers those that the caller may write to', async () => {
    await open('demo');
    await select('b.txt');
    await button('Move').click();
    const buckets = dialog().getByLabel('Bucket');
    await expect
      .poll(() => buckets.getByRole('option').allTextContents())
      .toEqual(['attic', 'demo', 'letters']);
    await buckets.selectOption('letters');
    await page.getByText('The bucket letters is end-to-end encrypted').waitFor();
    expect(await inDialog(/^Move /).isDisabled()).toBe(true);
    expect(await accessFaults(page)).toEqual([]);
    await buckets.selectOption('attic');
    await inDialog(/^Move /).click();
    await page.getByText('1 entry moved to').waitFor();
    expect(await stored('attic')).toEqual(['b.txt']);
    await expect.poll(names).toEqual(['deep', 'summer', 'a.txt', 'c.txt']);
    await undo();
    await page.getByText('1 entry moved back to').waitFor();
    await expect.poll(names).toEqual(['deep', 'summer', 'a.txt', 'b.txt', 'c.txt']);
    expect(await stored('attic')).toEqual([]);
  });

  test('that fails in the middle loses no file, and continues where it failed', async () => {
    const { storage } = tested;
    await storage.buckets.update('attic', { quotaFiles: 3 });
    await select('summer');
    await button('Move').click();
    await dialog().getByLabel('Bucket').selectOption('attic');
    await inDialog(/^Move /).click();
    await page.getByText('The bucket is full.').waitFor();
    const moved = await stored('attic');
    expect(moved).toHaveLength(3);
    const all = [...moved, ...(await stored('demo', 'summer/'))].sort();
    expect(all).toEqual(paths.filter((path) => path.startsWith('summer/')));
    await storage.buckets.update('attic', { quotaFiles: 0 });
    await inDialog(/^Move /).click();
    await page.getByText('1 entry moved to').last().waitFor();
    expect(await stored('attic')).toEqual(all);
    await expect.poll(names).toEqual(['deep', 'a.txt', 'b.txt', 'c.txt']);
  });

  test('never replaces a file of the other bucket', async () => {
    await store('demo', 'attic/summer/1.txt');
    await open('attic', 'summer/');
    await select('1.txt');
    await select('2.txt');
    await button('Move').click();
    await dialog().getByLabel('Bucket').selectOption('demo');
    await inDialog('attic').click();
    await inDialog('summer').click();
    await page.getByRole('group', { name: 'Folders in summer' }).waitFor();
    await inDialog(/^Move /).click();
    await page.getByText('The file "1.txt" already exists.').waitFor();
    await page.keyboard.press('Escape');
    expect(await stored('attic')).toHaveLength(5);
    await button('Clear').click();
    await open('attic');
    await select('summer');
    await button('Move').click();
    await dialog().getByLabel('Bucket').selectOption('demo');
    await inDialog(/^Move /).click();
    await page.getByText('1 entry moved to').waitFor();
    expect(await stored('attic')).toEqual([]);
    expect(await stored('demo', 'summer/')).toHaveLength(5);
    await tested.storage.remove({ bucket: 'demo', path: 'attic/summer/1.txt' });
  });

  test('by dragging moves a row, or the selection, to a folder and to a step of the path', async () => {
    await open('demo');
    await row('a.txt').dragTo(row('deep'));
    await page.getByText('1 entry moved to').waitFor();
    await expect.poll(names).toEqual(['deep', 'summer', 'b.txt', 'c.txt']);
    await undo();
    await expect.poll(names).toEqual(['deep', 'summer', 'a.txt', 'b.txt', 'c.txt']);
    await select('b.txt');
    await select('summer');
    await row('b.txt').dragTo(row('deep'));
    await page.getByText('2 entries moved to').waitFor();
    expect(await stored('demo', 'deep/')).toHaveLength(7);
    await open('demo', 'deep/');
    const target = page.getByRole('navigation', { name: 'Folders' }).getByText('demo');
    await row('b.txt').dragTo(target);
    await expect.poll(names).toEqual(['er', 'summer']);
    await undo();
    await expect.poll(names).toEqual(['er', 'summer', 'b.txt']);
    await row('b.txt').dragTo(target);
    await expect.poll(names).toEqual(['er', 'summer']);
    await row('summer').dragTo(target);
    await expect.poll(names).toEqual(['er']);
    expect(await stored('demo', 'summer/')).toHaveLength(5);
  });

  test('by dragging highlights the folder, and no file', async () => {
    await open('demo');
    const boxOf = async (name: string) => {
      const box = await row(name).boundingBox();
      return [(box?.x ?? 0) + 300, (box?.y ?? 0) + 20] as const;
    };
    const classOf = (name: string) => row(name).getAttribute('class');
    await page.mouse.move(...(await boxOf('a.txt')));
    await page.mouse.down();
    await page.mouse.move(...(await boxOf('deep')), { steps: 4 });
    await expect.poll(() => classOf('deep')).toContain('over');
    await page.mouse.move(...(await boxOf('b.txt')), { steps: 4 });
    await expect.poll(() => classOf('deep')).not.toContain('over');
    expect(await classOf('b.txt')).not.toContain('over');
    await page.mouse.up();
    expect(await names()).toEqual(['deep', 'summer', 'a.txt', 'b.txt', 'c.txt']);
  });

  test('renames in the row by F2, and keeps the typed name when it is taken', async () => {
    await open('demo');
    await select('a.txt');
    await page.keyboard.press('F2');
    const field = page.getByLabel('New name of a.txt');
    await field.waitFor();
    const marked = () => page.evaluate(() => getSelection()?.toString());
    await expect.poll(marked).toBe('a');
    await page.keyboard.type('b');
    await page.keyboard.press('Enter');
    await page.getByText('The file "b.txt" already exists.').waitFor();
    expect(await field.inputValue()).toBe('b.txt');
    expect(await accessFaults(page)).toEqual([]);
    await field.fill('x/y');
    await page.keyboard.press('Enter');
    await page.getByText('A name cannot contain "/".').waitFor();
    await page.keyboard.press('Escape');
    await expect.poll(names).toEqual(['deep', 'summer', 'a.txt', 'b.txt', 'c.txt']);
    const focused = () => page.evaluate(() => document.activeElement?.textContent ?? '');
    await expect.poll(focused).toContain('a.txt');
    await page.keyboard.press('F2');
    await field.fill('z.txt');
    await page.keyboard.press('Enter');
    await expect.poll(names).toEqual(['deep', 'summer', 'b.txt', 'c.txt', 'z.txt']);
    await expect.poll(focused).toContain('z.txt');
    await undo();
    await expect.poll(names).toEqual(['deep', 'summer', 'a.txt', 'b.txt', 'c.txt']);
  });

  test('renames a folder from the bar', async () => {
    await select('summer');
    await button('Rename').click();
    await page.getByLabel('New name of summer').fill('winter');
    await page.keyboard.press('Enter');
    await expect.poll(names).toEqual(['deep', 'winter', 'a.txt', 'b.txt', 'c.txt']);
    expect(await stored('demo', 'winter/')).toHaveLength(5);
  });

  test('with an API key offers no other bucket', async () => {
    const other = await tested.open();
    await tested.signIn(other);
    await other.page.getByLabel('Select a.txt', { exact: true }).check();
    await other.page.getByRole('button', { name: 'Copy', exact: true }).click();
    const box = other.page.getByRole('dialog');
    await box.getByRole('button', { name: 'winter', exact: true }).click();
    await other.page.getByRole('group', { name: 'Folders in winter' }).waitFor();
    expect(await box.getByLabel('Bucket').count()).toBe(0);
    await box.getByRole('button', { name: /^Copy / }).click();
    await other.page.getByText('1 entry copied to').waitFor();
    expect(await stored('demo', 'winter/a')).toEqual(['winter/a.txt']);
    expect(other.faults).toEqual([]);
    await other.context.close();
    expect(visit.faults).toEqual([]);
  });
});
