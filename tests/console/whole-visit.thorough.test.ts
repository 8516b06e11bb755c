// One visit with the mouse, as a person would make it, and its clicks: make a bucket, upload a folder
// of 300 files of which ten exist, find a file, move it, delete it, restore it, send it to a phone.

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ownerKeyOf } from '../../scripts/local-service.ts';
import { isBrowserUnwanted, type Visit } from './support/browser.ts';
import { openConsole, type TestedConsole } from './support/console.ts';

const clicksMax = 30;
const fileCount = 300;
const existing = Array.from({ length: 10 }, (_, index) => `trip/day-${100 + index}.txt`);
const sought = 'day-250.txt';

describe.skipIf(isBrowserUnwanted)('a visit', () => {
  let tested: TestedConsole;
  let visit: Visit;
  let page: Page;
  let disk: string;
  let clicks = 0;

  beforeAll(async () => {
    tested = await openConsole();
    visit = await tested.open();
    page = visit.page;
    disk = await mkdtemp(join(tmpdir(), 'visit-'));
    await mkdir(join(disk, 'trip'));
    for (let index = 0; index < fileCount; index++) {
      await writeFile(join(disk, `trip/day-${100 + index}.txt`), `new ${index}`);
    }
  });
  afterAll(async () => {
    await visit?.context.close();
    await tested?.close();
    await rm(disk, { recursive: true, force: true });
  });

  async function click(place: Locator): Promise<void> {
    clicks += 1;
    await place.click();
  }
  const button = (name: string | RegExp) => page.getByRole('button', { name });
  const inDialog = (name: string | RegExp) =>
    page.getByRole('dialog').getByRole('button', { name });

  async function createBucket(): Promise<void> {
    await page.goto(`${tested.pages.url}/#owner=${ownerKeyOf(tested.service.identityPem)}`);
    await click(button('Create a bucket'));
    await page.getByLabel('Name of the bucket').fill('holiday-photos');
    await click(inDialog('Create a bucket'));
    await page.getByRole('heading', { level: 1, name: 'holiday-photos' }).waitFor();
  }

  async function uploadFolder(): Promise<void> {
    const files = existing.map((path) => ({ path, source: new Blob(['old']) }));
    for await (const { error } of tested.storage.uploadAll(files, { bucket: 'holiday-photos' })) {
      expect(error).toBeUndefined();
    }
    // Choosing a folder: the button, and one click in the system's dialog
    clicks += 2;
    await page.getByLabel('Upload a folder').last().setInputFiles(join(disk, 'trip'));
    await click(button('Replace all'));
    await page.getByText(`${fileCount} files uploaded.`).waitFor();
    const usage = await tested.storage.usage({ bucket: 'holiday-photos', prefix: 'trip/' });
    expect(usage.files).toBe(fileCount);
    const replaced = { bucket: 'holiday-photos', path: existing[0] ?? '' };
    const bytes = await (await tested.storage.download(replaced)).bytes();
    expect(new TextDecoder().decode(bytes)).toBe('new 0');
  }

  async function find(): Promise<void> {
    await click(page.getByRole('searchbox'));
    await page.keyboard.type(sought);
    await click(button('Search the bucket'));
    await page.getByRole('link', { name: sought }).waitFor();
  }

  async function move(): Promise<void> {
    await click(page.getByLabel(`Select trip/${sought}`));
    await click(button('Move'));
    await page.getByLabel('New folder in it').fill('best');
    await click(inDialog(/^Move /));
    await page.getByText('1 entry moved to').waitFor();
    await page.getByRole('searchbox').fill('');
    await click(page.getByRole('link', { name: 'best' }));
    await page.getByRole('heading', { level: 1, name: 'best' }).waitFor();
  }

  async function deleteAndRestore(): Promise<void> {
    await click(page.getByLabel(`Select ${sought}`));
    await click(button('Delete'));
    await click(inDialog('Delete'));
    await page.getByText('Nothing here yet.').waitFor();
    await click(page.getByRole('link', { name: 'Deleted' }));
    await click(button(/^Restore/));
    await click(
      page.getByRole('navigation', { name: 'holiday-photos' }).getByRole('link', { name: 'Files' }),
    );
    await click(page.getByRole('link', { name: 'best' }));
    await page.getByRole('link', { name: sought }).waitFor();
  }

  async function sendToPhone(): Promise<void> {
    await click(page.getByLabel(`Select ${sought}`));
    await click(button('Share'));
    await click(inDialog('Create a link'));
    await page.getByRole('img', { name: 'The link as a QR code' }).waitFor();
    const address = (await page.getByText(/^https?:\/\//).textContent()) ?? '';
    const { pathname, search } = new URL(address);
    const onPhone = await fetch(new URL(pathname + search, tested.service.base));
    expect(await onPhone.text()).toBe('new 150');
  }

  test(`from a new bucket to a file on a phone takes at most ${clicksMax} clicks`, async () => {
    await createBucket();
    await uploadFolder();
    await find();
    await move();
    await deleteAndRestore();
    await sendToPhone();
    expect(clicks).toBeLessThanOrEqual(clicksMax);
    expect(visit.faults).toEqual([]);
  });
});
