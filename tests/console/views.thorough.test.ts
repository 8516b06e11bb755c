// Every view: axe-core and the layout have no fault. states.thorough.test.ts has their states.

import { generateX25519Identity, identityToRecipient } from 'age-encryption';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isBrowserUnwanted, type Visit } from './support/browser.ts';
import { openConsole, shownPrincipal, sizes, type TestedConsole } from './support/console.ts';
import { picture } from './support/picture.ts';
import { checkView } from './support/view-check.ts';

const texts: readonly (readonly [path: string, contentType: string, text: string])[] = [
  ['2026/summer/list.txt', 'text/plain', 'towels\nbooks\n'],
  ['2026/winter/list.txt', 'text/plain', 'gloves\n'],
  [
    'letters/to-anna.md',
    'text/markdown',
    '# Dear Anna\n\nThe *harbour* is quiet.\n\n- fish\n- boats\n',
  ],
  [
    'notes.md',
    'text/markdown',
    '# Notes\n\nThe *harbour* is **quiet** today.\n\n- fish\n- boats\n',
  ],
  ['accounts.csv', 'text/csv', 'month,sum\n1,20\n'],
  ['a-rather-long-name-of-a-file-that-does-not-fit-on-a-phone-2026-11-22.txt', 'text/plain', 'x'],
];

describe.skipIf(isBrowserUnwanted)('no accessibility fault and no overflow in the view', () => {
  let tested: TestedConsole;
  let visit: Visit;
  let page: Page;
  let image: Blob;
  let dropBox: string;

  beforeAll(async () => {
    tested = await openConsole();
    visit = await tested.open();
    page = visit.page;
    const { storage } = tested;
    const files = texts.map(([path, type, text]) => ({
      path,
      source: new Blob([text], { type }),
    }));
    image = await picture(page);
    const harbour = { path: 'harbour.png', source: image };
    for await (const { error } of storage.uploadAll([...files, harbour], { bucket: 'demo' })) {
      expect(error).toBeUndefined();
    }
    const quotaBytes = 4_000_000;
    await storage.buckets.update('demo', { quotaBytes, keepVersionsDays: 30 });
    await storage.links.create({ bucket: 'demo', path: 'harbour.png' });
    await storage.keys.create({ name: 'Backup', buckets: ['demo'], permissions: ['write'] });
  });
  afterAll(async () => {
    await visit?.context.close();
    await tested?.close();
  });

  const check = (name: string) => checkView(visit, name);

  test('of the sign-in', async () => {
    await page.goto(tested.pages.url);
    await page.getByRole('heading', { name: 'Sign in', exact: true }).waitFor();
    await check('sign-in');
  });

  test('of a folder with selected files', async () => {
    await tested.signIn(visit);
    await page.getByRole('link', { name: 'harbour.png' }).waitFor();
    await check('files');
    await page.getByRole('button', { name: 'Show pictures' }).click();
    const thumbnail = page.getByRole('row', { name: 'harbour.png' }).locator('img');
    await thumbnail.waitFor();
    expect(await thumbnail.evaluate((shown: HTMLImageElement) => shown.naturalWidth)).toBe(320);
    await check('pictures');
    await page.getByRole('button', { name: 'Hide pictures' }).click();
    for (const size of sizes) {
      await page.setViewportSize(size);
      const top = async () => (await page.getByRole('row').first().boundingBox())?.y;
      const before = await top();
      await page.getByLabel('Select notes.md').check();
      await page.getByLabel('Select 2026', { exact: true }).check();
      await page.getByText('2 selected').waitFor();
      // The list does not move under the finger.
      expect(await top(), `at ${size.width}`).toBe(before);
      await page.getByLabel('Select 2026', { exact: true }).uncheck();
      await page.getByLabel('Select notes.md').uncheck();
    }
    await page.getByLabel('Select notes.md').check();
    await page.getByLabel('Select 2026', { exact: true }).check();
    await page.getByText('2 selected').waitFor();
    await check('selection');
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByText('you can undo this').waitFor();
    await check('delete');
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Clear' }).click();
    await page.keyboard.press('?');
    await page.getByRole('heading', { name: 'Keyboard' }).waitFor();
    await check('keyboard');
    await page.keyboard.press('Escape');
  });

  test('of creating a link', async () => {
    await page.getByLabel('Select harbour.png').check();
    await page.getByRole('button', { name: 'Share' }).click();
    await page.getByRole('button', { name: 'Create a link' }).click();
    await page.getByRole('img', { name: 'The link as a QR code' }).waitFor();
    await check('share');
    await page.keyboard.press('Escape');
  });

  test('of a picture and a text', async () => {
    await page.getByRole('link', { name: 'harbour.png' }).click();
    await page.getByRole('img', { name: 'harbour.png' }).waitFor();
    await check('picture');
    await page.getByRole('link', { name: 'demo' }).click();
    await page.getByRole('link', { name: 'notes.md' }).click();
    await page.getByRole('heading', { name: 'Notes', exact: true }).waitFor();
    await check('text');
  });

  test('of uploads that need a decision', async () => {
    await page.getByRole('link', { name: 'demo' }).click();
    await page.getByRole('link', { name: 'notes.md' }).waitFor();
    const file = { name: 'notes.md', mimeType: 'text/markdown', buffer: Buffer.from('other') };
    await page.getByLabel('Upload files').last().setInputFiles([file]);
    await page.getByText('“notes.md” already exists. Replace it?').waitFor();
    await page.getByText('5 bytes, changed just now').waitFor();
    await page.getByText('59 bytes, changed').waitFor();
    await check('uploads');
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Cancel all' }).click();
  });

  test('of a link for its recipient', async () => {
    const { storage, pages } = tested;
    await storage.buckets.create('safe', { endToEnd: {} });
    const path = 'summer/harbour.png';
    await storage.upload(image, { bucket: 'safe', path });
    const link = await storage.links.create({ bucket: 'safe', path });
    await page.goto(tested.linkAtPage(link.url).href);
    await page.getByRole('img', { name: 'harbour.png' }).waitFor();
    await check('link');
    await page.goto(pages.url);
  });

  test('of the buckets, and of one bucket for its owner', async () => {
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('button', { name: 'Use a key on this device' }).click();
    const principal = await shownPrincipal(page);
    const addMembers = [{ principal, role: 'owner' }];
    const recipients = [await identityToRecipient(await generateX25519Identity())];
    await tested.storage.buckets.update('demo', { addMembers });
    await tested.storage.buckets.update('safe', { addMembers, endToEnd: { recipients } });
    await page.reload();
    await page.getByRole('link', { name: 'demo' }).waitFor();
    await page.getByText('Encryption').waitFor();
    await check('overview');
    await page.getByRole('link', { name: 'Service' }).click();
    await page.getByRole('heading', { name: 'Uploads under way' }).waitFor();
    await check('service');
    await page.goBack();
    await page.getByRole('link', { name: 'demo' }).click();
    await page.getByRole('button', { name: 'Drop box' }).click();
    await page.getByRole('button', { name: 'Create the address' }).click();
    await page.getByRole('img', { name: 'The address as a QR code' }).waitFor();
    dropBox = (await page.getByText(/#key=efs_/).textContent()) ?? '';
    await check('drop-box-address');
    await page.keyboard.press('Escape');
    await page.getByRole('link', { name: 'Settings' }).click();
    await page.getByText('Backup').waitFor();
    await check('bucket');
    await page.goto(`${tested.pages.url}/#/bucket/safe`);
    await page.getByLabel('Recipient, age1…').scrollIntoViewIfNeeded();
    await check('bucket-end-to-end');
  });

  test('of a drop box for its senders', async () => {
    await page.goto('about:blank');
    await page.goto(dropBox);
    await page.getByText('Drop files or folders here').waitFor();
    const file = { name: 'boat.jpg', mimeType: 'image/jpeg', buffer: Buffer.from('boat') };
    await page.getByLabel('Upload files').last().setInputFiles([file]);
    await page.getByRole('heading', { name: '1 file sent' }).waitFor();
    await check('drop-box');
  });

  test('of a drop box whose recipients are not those of its address', async () => {
    const request = { name: 'box', buckets: ['safe'], permissions: ['write'] } as const;
    const { secret } = await tested.storage.keys.create(request);
    const recipients = 'A'.repeat(43);
    const told = new URLSearchParams({ key: secret, bucket: 'safe', recipients, folder: '' });
    await page.goto('about:blank');
    await page.goto(`${tested.pages.url}/#${told}`);
    await page.getByRole('button', { name: 'Accept the recipients' }).waitFor();
    await check('drop-box-question');
  });
});
