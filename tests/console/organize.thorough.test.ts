// Files in the console for an owner and a reader: selection by mouse, the menu of a row, undo, new
// folders, deleted files, public addresses, and only what the viewer's role permits.

import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isBrowserUnwanted, type Visit } from './support/browser.ts';
import {
  accessFaults,
  openConsole,
  shownPrincipal,
  sizes,
  type TestedConsole,
} from './support/console.ts';

describe.skipIf(isBrowserUnwanted)('files of a member', () => {
  let tested: TestedConsole;
  let visit: Visit;
  let page: Page;
  let principal: string;

  beforeAll(async () => {
    tested = await openConsole();
    visit = await tested.open();
    page = visit.page;
    const { storage } = tested;
    await storage.buckets.update('demo', { keepVersionsDays: 30 });
    for (let index = 1; index <= 6; index++) await store(`file-${index}.txt`);
    await store('summer/sea.txt');
    await page.goto(tested.pages.url);
    await page.getByRole('button', { name: 'Use a key on this device' }).click();
    principal = await shownPrincipal(page);
    await giveRole('owner');
    await top();
  });
  afterAll(async () => {
    await visit?.context.close();
    await tested?.close();
  });

  const store = (path: string) =>
    tested.storage.upload(new Blob([path], { type: 'text/plain' }), { bucket: 'demo', path });
  const giveRole = (role: string) =>
    tested.storage.buckets.update('demo', { addMembers: [{ principal, role }] });
  const top = async () => {
    await page.goto('about:blank');
    await page.goto(`${tested.pages.url}/#/files/demo/`);
    await page.getByRole('link', { name: 'file-1.txt' }).waitFor();
  };
  const row = (name: string) => page.getByRole('row', { name });
  const size = (name: string) => row(name).getByRole('gridcell').nth(2);
  const button = (name: string) => page.getByRole('button', { name, exact: true });
  const chosen = () => page.getByRole('region', { name: 'Selected files' }).getByRole('status');
  const path = () => page.getByRole('navigation', { name: 'Folders' });
  const tabs = () =>
    page
      .getByRole('navigation', { name: 'demo' })
      .getByRole('link')
      .evaluateAll((all) =>
        all.map(({ textContent, ariaCurrent }) => textContent + (ariaCurrent ? ' (current)' : '')),
      );
  const names = () => page.getByRole('row').getByRole('link').allTextContents();

  test('are selected by Shift and Ctrl, and opened by a click on the row', async () => {
    await page.getByLabel('Select file-2.txt').check();
    await page.getByLabel('Select file-4.txt').click({ modifiers: ['Shift'] });
    await expect.poll(() => chosen().textContent()).toBe('3 selected');
    await size('file-6.txt').click({ modifiers: ['Control'] });
    await expect.poll(() => chosen().textContent()).toBe('4 selected');
    await page.getByRole('link', { name: 'file-5.txt' }).click({ modifiers: ['Shift'] });
    await expect.poll(() => chosen().textContent()).toBe('5 selected');
    expect(visit.context.pages()).toHaveLength(1);
    await button('Clear').click();
    await size('file-3.txt').click();
    await page.getByRole('heading', { level: 1, name: 'file-3.txt' }).waitFor();
    expect(await page.title()).toBe('file-3.txt – demo – Files');
    await page.goBack();
    await page.getByRole('link', { name: 'file-1.txt' }).waitFor();
    expect(await page.title()).toBe('demo – Files');
  });

  test.each(sizes)(
    'that are selected leave the list its room at $width × $height',
    async (size) => {
      const { width } = size;
      await page.setViewportSize(size);
      await page.getByLabel('Select file-1.txt').check();
      const bar = await page.getByRole('region', { name: 'Selected files' }).boundingBox();
      expect(bar?.height).toBeLessThanOrEqual(60);
      const list = await page.getByRole('rowgroup').boundingBox();
      expect(list?.height).toBeGreaterThanOrEqual((width === 360 ? 6 : 9) * 52);
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
      expect(await accessFaults(page)).toEqual([]);
      await button('Clear').click();
    },
  );

  test('have a menu by right click, by a button and by keyboard', async () => {
    await size('file-1.txt').click({ button: 'right' });
    const items = page.getByRole('menuitem');
    const all = ['Download', 'Share', 'Rename', 'Move', 'Copy', 'Delete'];
    await expect.poll(() => items.allTextContents()).toEqual(all);
    const menu = await page.getByRole('dialog', { name: 'Actions' }).boundingBox();
    expect(menu?.width).toBeLessThanOrEqual(240);
    expect(await accessFaults(page)).toEqual([]);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.getByLabel('New name of file-1.txt').fill('first.txt');
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'first.txt' }).waitFor();
    await button('Undo').click();
    await page.getByRole('link', { name: 'file-1.txt' }).waitFor();
    await page.getByText('1 entry moved back to').waitFor();
    expect(await names()).toHaveLength(7);
    await button('Actions for file-2.txt').click();
    await expect.poll(() => items.count()).toBe(6);
    expect(await chosen().textContent()).toBe('file-2.txt');
    await page.keyboard.press('Escape');
    await row('file-1.txt').focus();
    await page.keyboard.press('Shift+F10');
    await expect.poll(() => items.count()).toBe(6);
    await page.keyboard.press('Escape');
    await expect.poll(() => items.count()).toBe(0);
    await button('Clear').click();
  });

  test('are uploaded into a new folder', async () => {
    await button('New folder').click();
    await page.getByLabel('Name of the folder').fill('2026/winter');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'winter' }).waitFor();
    const snow = { name: 'snow.txt', mimeType: 'text/plain', buffer: Buffer.from('snow') };
    await page.getByLabel('Upload files').last().setInputFiles([snow]);
    await page.getByText('1 file uploaded.').waitFor();
    const { size } = await tested.storage.stat({ bucket: 'demo', path: '2026/winter/snow.txt' });
    expect(size).toBe(4);
  });

  test('that were deleted are listed, restored and erased', async () => {
    const { storage } = tested;
    for (const path of ['file-5.txt', 'file-6.txt', 'summer/sea.txt']) {
      await storage.remove({ bucket: 'demo', path });
    }
    // A former version of a file that still exists is no deleted file.
    await store('file-1.txt');
    await top();
    await page.getByRole('link', { name: 'Deleted' }).click();
    await expect.poll(tabs).toEqual(['Files', 'Deleted (current)', 'Activity', 'Settings']);
    await path().getByRole('link', { name: 'demo' }).waitFor();
    const restored = page.getByRole('button', { name: /^Restore / });
    await expect.poll(() => restored.count()).toBe(3);
    await page.getByText('expires in 30 days').first().waitFor();
    expect(await accessFaults(page)).toEqual([]);
    await button('Restore summer/sea.txt').click();
    await page.getByText('“sea.txt” is restored.').waitFor();
    // A file that was stored again meanwhile keeps its former versions.
    await store('file-6.txt');
    await button('Erase file-6.txt').click();
    await button('Erase').click();
    await page.getByText('The file exists again. Open it to see its versions.').waitFor();
    await page.keyboard.press('Escape');
    await button('Restore file-6.txt').click();
    await page.getByText('The file has changed meanwhile.').waitFor();
    await storage.remove({ bucket: 'demo', path: 'file-6.txt' });
    await button('Erase file-6.txt').click();
    await button('Erase').click();
    await expect.poll(() => restored.count()).toBe(1);
    await storage.stat({ bucket: 'demo', path: 'summer/sea.txt' });
    const left: string[] = [];
    for await (const { path } of storage.versions.list({ bucket: 'demo' })) left.push(path);
    expect(left).toEqual(['file-1.txt', 'file-5.txt']);
    // A former address of the file says what became of it.
    await page.goto(`${tested.pages.url}/#/file/demo/file-5.txt`);
    await page.getByText('was deleted').waitFor();
    await button('Restore').click();
    await page.getByText('SHA-256').waitFor();
  });

  test('have a public address in a public bucket only', async () => {
    const { storage, service } = tested;
    const open = async () => {
      await page.goto('about:blank');
      await page.goto(`${tested.pages.url}/#/file/demo/file-2.txt`);
      await page.getByText('SHA-256').waitFor();
    };
    await storage.buckets.update('demo', { isPublic: false });
    await open();
    await button('Edit type, tags and headers').waitFor();
    expect(await page.getByText('Public address').count()).toBe(0);
    await storage.buckets.update('demo', { isPublic: true });
    await open();
    await page.getByText('/cloud/demo/file-2.txt').waitFor();
    const response = await fetch(`${service.base}/cloud/demo/file-2.txt`);
    expect(await response.text()).toBe('file-2.txt');
    await storage.buckets.update('demo', { isPublic: false });
  });

  test('are changed by a writer too', async () => {
    await giveRole('writer');
    await top();
    await button('Upload files').waitFor();
    expect(await button('Drop box').count()).toBe(0);
  });

  test('offer a reader only what a reader may do', async () => {
    await giveRole('reader');
    await top();
    await page.getByRole('link', { name: 'Deleted' }).waitFor();
    for (const name of ['Upload files', 'New folder', 'Drop box']) {
      expect(await button(name).count()).toBe(0);
    }
    await size('file-1.txt').click({ button: 'right' });
    const items = page.getByRole('menuitem');
    await expect.poll(() => items.allTextContents()).toEqual(['Download', 'Share']);
    await page.keyboard.press('Escape');
    await page.keyboard.press('Delete');
    expect(await page.getByRole('dialog').count()).toBe(0);
    await page.goto(`${tested.pages.url}/#/file/demo/file-1.txt`);
    await page.getByText('Former versions').waitFor();
    expect(await button('Edit type, tags and headers').count()).toBe(0);
    expect(await button('Restore version 1').count()).toBe(0);
    await tested.storage.buckets.update('demo', { keepVersionsDays: 0 });
    await path().getByRole('link', { name: 'demo' }).click();
    await expect.poll(tabs).toEqual(['Files (current)', 'Activity', 'Settings']);
    expect(visit.faults).toEqual([]);
  });
});
