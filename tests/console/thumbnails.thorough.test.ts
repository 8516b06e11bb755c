// Thumbnails in the list of files: stored by the page that uploads a picture, and shown to
// everybody who may read the folder.

import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isBrowserUnwanted, type Visit } from './support/browser.ts';
import { openConsole, shownPrincipal, type TestedConsole } from './support/console.ts';
import { picture } from './support/picture.ts';

describe.skipIf(isBrowserUnwanted)('thumbnails', () => {
  let tested: TestedConsole;
  let visit: Visit;
  let page: Page;
  let image: Buffer;

  beforeAll(async () => {
    tested = await openConsole();
    visit = await tested.open();
    page = visit.page;
    image = Buffer.from(await (await picture(page)).arrayBuffer());
    await tested.signIn(visit);
  });
  afterAll(async () => {
    await visit?.context.close();
    await tested?.close();
  });

  const imageIn = (shown: Page, name: string) => shown.getByRole('row', { name }).locator('img');
  const widthOf = (shown: Page, name: string) =>
    imageIn(shown, name).evaluate(({ naturalWidth }: HTMLImageElement) => naturalWidth);

  test('of uploaded pictures are stored, and shown in their rows', async () => {
    const files = ['harbour.png', 'quay.png'].map((name) => ({
      ...{ name, mimeType: 'image/png' },
      buffer: image,
    }));
    const broken = { name: 'broken.png', mimeType: 'image/png', buffer: Buffer.from('none') };
    await page
      .getByLabel('Upload files')
      .last()
      .setInputFiles([...files, broken]);
    for (const { name } of files) {
      await imageIn(page, name).waitFor();
      expect(await widthOf(page, name)).toBe(320);
    }
    const paths = ['harbour.png', 'quay.png', 'broken.png'];
    const stored = await tested.storage.thumbnails.read({ bucket: 'demo', paths });
    expect([...stored.keys()]).toEqual(['harbour.png', 'quay.png']);
    expect(stored.get('harbour.png')?.contentType).toBe('image/webp');
    expect(await imageIn(page, 'broken.png').count()).toBe(0);
  });

  test('are read by one query for all rows of a folder, without the files', async () => {
    const other = await tested.open();
    const methods: string[] = [];
    other.page.on('request', (request) => {
      const body = request.postDataBuffer()?.toString('latin1') ?? '';
      const [method] = /read(?:Thumbnails|Files?)/.exec(body) ?? [];
      if (method !== undefined) methods.push(method);
    });
    await tested.signIn(other);
    await imageIn(other.page, 'harbour.png').waitFor();
    expect(await widthOf(other.page, 'quay.png')).toBe(320);
    expect(methods).toEqual(['readThumbnails']);
    await other.context.close();
  });

  test('of a replaced file disappear', async () => {
    await tested.storage.upload(new Blob(['text']), { bucket: 'demo', path: 'quay.png' });
    await page.reload();
    await imageIn(page, 'harbour.png').waitFor();
    expect(await imageIn(page, 'quay.png').count()).toBe(0);
  });

  describe.each([false, true])('in an end-to-end bucket with sealed names: %s', (sealsNames) => {
    const bucket = sealsNames ? 'quiet' : 'post';
    let member: Visit;
    let shown: Page;

    beforeAll(async () => {
      const { storage, pages } = tested;
      member = await tested.open();
      shown = member.page;
      await shown.goto(pages.url);
      await shown.getByRole('button', { name: 'Use a key on this device' }).click();
      const principal = await shownPrincipal(shown);
      await storage.buckets.create(bucket, { endToEnd: { sealsNames } });
      await storage.buckets.update(bucket, { addMembers: [{ principal, role: 'writer' }] });
      // The recipient of a bucket is published by its owner.
      await storage.upload(new Blob(['text']), { bucket, path: 'note.txt' });
    });
    afterAll(() => member?.context.close());

    test('are encrypted in the page, and shown again after a reload', async () => {
      const sent: string[] = [];
      shown.on('request', (request) => {
        sent.push(request.postDataBuffer()?.toString('latin1') ?? '');
      });
      await shown.goto(`${tested.pages.url}/#/files/${bucket}/`);
      const chosen = { name: 'harbour.png', mimeType: 'image/png', buffer: image };
      await shown.getByLabel('Upload files').last().setInputFiles([chosen]);
      await imageIn(shown, 'harbour.png').waitFor();
      const paths = ['harbour.png'];
      const read = () => tested.storage.thumbnails.read({ bucket, paths });
      await expect.poll(async () => (await read()).size).toBe(1);
      expect((await read()).get('harbour.png')?.contentType).toBe('image/webp');
      await shown.reload();
      await imageIn(shown, 'harbour.png').waitFor();
      expect(await widthOf(shown, 'harbour.png')).toBe(320);
      const stores = sent.filter((body) => body.includes('putThumbnail'));
      expect(stores).toHaveLength(1);
      expect(stores[0]).toContain('age-encryption.org/v1');
      expect(sent.filter((body) => body.includes('WEBP') || body.includes('IHDR'))).toEqual([]);
      expect(member.faults).toEqual([]);
    });

    test.skipIf(sealsNames)('are not requested by a key, which cannot decrypt them', async () => {
      const permissions = ['read'] as const;
      const made = await tested.storage.keys.create({ name: 'k', buckets: [bucket], permissions });
      const other = await tested.open();
      const asked: string[] = [];
      other.page.on('request', (request) => {
        if (request.postDataBuffer()?.includes('readThumbnails')) asked.push(request.url());
      });
      await other.page.goto(`${tested.pages.url}/#key=${made.secret}&bucket=${bucket}`);
      await other.page.getByRole('row', { name: 'harbour.png' }).waitFor();
      await other.page.getByRole('link', { name: 'harbour.png' }).click();
      await other.page.getByText('This session cannot decrypt').waitFor();
      expect(asked).toEqual([]);
      await other.context.close();
    });
  });
});
