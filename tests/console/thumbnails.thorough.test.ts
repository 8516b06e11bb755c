// Thumbnails in the list of files: stored by the page that uploads a picture, and shown to
// everybody who may read the folder.

import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isBrowserUnwanted, type Visit } from './support/browser.ts';
import { openConsole, type TestedConsole } from './support/console.ts';
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
});
