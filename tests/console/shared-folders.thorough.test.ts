// Folders of end-to-end buckets, shared by the page of a front, and opened there by strangers.

import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isBrowserUnwanted, type Visit } from './support/browser.ts';
import { openConsole, shownPrincipal, type TestedConsole } from './support/console.ts';
import { checkView } from './support/view-check.ts';

describe.skipIf(isBrowserUnwanted)('Share folder in an end-to-end bucket', () => {
  let tested: TestedConsole;
  let visit: Visit;
  let page: Page;
  const addresses = new Map<string, string>();
  const longId = `quiet-${'x'.repeat(54)}`;

  const put = (bucket: string, path: string, text = `words of ${path}`) =>
    tested.storage.upload(new Blob([text]), { bucket, path });

  beforeAll(async () => {
    tested = await openConsole();
    visit = await tested.open();
    page = visit.page;
    await page.goto(tested.pages.url);
    await page.getByRole('button', { name: 'Use a key on this device' }).click();
    const principal = await shownPrincipal(page);
    for (const [bucket, sealsNames] of [
      ['quiet', true],
      ['post', false],
      [longId, true],
    ] as const) {
      await tested.storage.buckets.create(bucket, { endToEnd: { sealsNames } });
      await tested.storage.buckets.update(bucket, { addMembers: [{ principal, role: 'owner' }] });
      await put(bucket, 'trip/sea.txt');
      await put(bucket, 'trip/day 1/harbour.txt');
      await put(bucket, 'letter.txt');
    }
  });
  afterAll(async () => {
    await visit?.context.close();
    await tested?.close();
  });

  async function shareTrip(bucket: string): Promise<string> {
    await page.goto(`${tested.pages.url}/#/files/${bucket}/trip/`);
    await page.getByRole('button', { name: 'Share folder' }).click();
    await page.getByText('see the names in this folder and download its present files').waitFor();
    expect(await page.getByText('also later ones').count()).toBe(0);
    if (bucket === 'post') await checkView(visit, 'share-folder');
    await page.getByRole('button', { name: 'Create the address' }).click();
    const address = (await page.getByText(/#link=folder&key=efs_/).textContent()) ?? '';
    await page.getByText(/The address opens 2 files/).waitFor();
    if (bucket === 'post') await checkView(visit, 'share-folder-address');
    await page.keyboard.press('Escape');
    return address;
  }

  test('names the key without the name of the folder, whatever id the bucket has', async () => {
    await shareTrip(longId);
    const [key] = await tested.storage.keys.list(longId);
    expect(key?.name).toMatch(/^Link to a folder [\w-]{16}$/);
  });

  test.each(['quiet', 'post'])(
    'opens the folder of %s with plain names and contents',
    async (bucket) => {
      const address = await shareTrip(bucket);
      addresses.set(bucket, address);
      const keys = await tested.storage.keys.list(bucket);
      expect(keys.some(({ name }) => name.includes('trip'))).toBe(bucket === 'post');
      const other = await tested.open();
      const opened = other.page;
      await opened.goto(`${tested.pages.url}/${new URL(address).hash}`);
      await opened.getByRole('link', { name: 'day 1' }).waitFor();
      if (bucket === 'quiet') await checkView(other, 'shared-folder');
      await opened.getByRole('link', { name: 'day 1' }).click();
      await opened.getByRole('link', { name: 'harbour.txt' }).click();
      await opened.getByText('words of trip/day 1/harbour.txt').waitFor();
      expect(opened.url()).not.toMatch(/efs_|secret/);
      await opened.reload();
      await opened.getByText('words of trip/day 1/harbour.txt').waitFor();
      await opened.getByRole('link', { name: 'trip' }).click();
      await opened.getByRole('link', { name: 'sea.txt' }).waitFor();
      for (const absent of ['efs-shared', 'letter.txt', 'Sign out', 'Delete']) {
        expect(await opened.getByText(absent).count(), absent).toBe(0);
      }
      await opened.getByRole('checkbox', { name: 'Select all' }).check();
      await opened.evaluate(() => Reflect.deleteProperty(globalThis, 'showSaveFilePicker'));
      const saved = opened.waitForEvent('download');
      await opened.getByRole('button', { name: 'Download', exact: true }).click();
      const zip = await readFile(await (await saved).path(), 'latin1');
      for (const part of ['sea.txt', 'day 1/harbour.txt', 'words of trip/sea.txt']) {
        expect(zip).toContain(part);
      }
      expect(zip).not.toMatch(/age-encryption|efs-shared/);
      expect(other.faults).toEqual([]);
      await other.context.close();
    },
  );

  test('marks files that were stored later, until the link is refreshed', async () => {
    const address = addresses.get('post') ?? '';
    await put('post', 'trip/late.txt');
    const other = await tested.open();
    await other.page.goto(`${tested.pages.url}/${new URL(address).hash}`);
    await other.page.getByText('this link does not open it').first().waitFor();
    await checkView(other, 'shared-folder-later');
    await other.page.getByRole('link', { name: 'late.txt' }).click();
    await other.page.getByText('this link does not open it').waitFor();
    await checkView(other, 'shared-file-later');
    await other.page.goto(`${tested.pages.url}/#/files/post/trip/`);
    await other.page.getByRole('checkbox', { name: 'Select all' }).check();
    await other.page.evaluate(() => Reflect.deleteProperty(globalThis, 'showSaveFilePicker'));
    const saved = other.page.waitForEvent('download');
    await other.page.getByRole('button', { name: 'Download', exact: true }).click();
    expect(await readFile(await (await saved).path(), 'latin1')).not.toContain('late.txt');
    await other.page.getByText('The zip lacks 1 file that the link does not open').waitFor();
    await other.page.getByRole('link', { name: 'late.txt' }).click();
    await tested.storage.folderLinks.refresh(address);
    await other.page.reload();
    await other.page.getByText('words of trip/late.txt').waitFor();
    await other.context.close();
  });

  test('refuses an address that is cut off, and one that was revoked with its list', async () => {
    const { hash } = new URL(addresses.get('post') ?? '');
    const other = await tested.open();
    for (const end of ['key=efs_', '&bucket', 'bucket=', 'post', '&secret', '&list', '&shared']) {
      const cut = hash.slice(0, hash.indexOf(end) + (/^&/.test(end) ? 0 : end.length));
      await other.page.goto('about:blank');
      await other.page.goto(`${tested.pages.url}/${cut}`);
      await other.page.getByText(/cut off|incomplete/).waitFor();
      expect(await other.page.evaluate(() => Object.keys(sessionStorage).length)).toBe(0);
    }
    await page.goto(`${tested.pages.url}/#/bucket/post`);
    await page.getByRole('button', { name: /^Revoke Link to trip/ }).click();
    await expect.poll(() => tested.storage.keys.list('post')).toEqual([]);
    const lists = { bucket: 'post', prefix: 'trip/.efs-shared/' };
    await expect.poll(async () => (await tested.storage.usage(lists)).files).toBe(0);
    await other.page.goto(`${tested.pages.url}/?again${hash}`);
    await other.page.getByText('The key is unknown').waitFor();
    await checkView(other, 'shared-folder-revoked');
    await other.context.close();
  });

  test('says that the network is lost, and opens the folder when it is back', async () => {
    const address = addresses.get('quiet') ?? '';
    const other = await tested.open();
    await other.page.goto(`${tested.pages.url}/${new URL(address).hash}`);
    await other.page.getByRole('link', { name: 'sea.txt' }).waitFor();
    await other.context.setOffline(true);
    await other.page.getByRole('link', { name: 'day 1' }).click();
    await other.page.getByRole('button', { name: 'Try again' }).waitFor();
    await checkView(other, 'shared-folder-offline');
    await other.context.setOffline(false);
    await other.page.getByRole('button', { name: 'Try again' }).click();
    await other.page.getByRole('link', { name: 'harbour.txt' }).waitFor();
    await other.context.close();
  });
});
