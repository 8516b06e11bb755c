// <efs-gallery> and <efs-file> in Chromium, in the pages of docs/how-to/elements.md, over a bucket
// of 260 files, and over lists that a lying node invents.

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { isBrowserUnwanted, type Visit } from '../console/support/browser.ts';
import { picture } from '../console/support/picture.ts';
import { testPicture } from '../support/domain-fixture.ts';
import {
  documentedHtml,
  type ElementPages,
  expectAccessible,
  openElementPages,
  pageWith,
} from './support/element-pages.ts';

const bucket = 'gallery';
const hostileName = '<img src=x onerror=globalThis.broken=1>.txt';
let pages: ElementPages;
let visit: Visit;

/** 200 texts, 40 pictures and others at the top, and 20 files in folders. */
async function fill(image: Blob): Promise<void> {
  const text = (words: string, type = 'text/plain') => new Blob([words], { type });
  const numbered = (count: number, name: (number: string) => string, source: Blob) =>
    Array.from({ length: count }, (_, index) => {
      return { path: name(String(index).padStart(3, '0')), source };
    });
  const files = [
    ...numbered(200, (number) => `text-${number}.txt`, text('a line\n')),
    ...numbered(40, (number) => `picture-${number}.png`, image),
    ...numbered(10, (number) => `albums/sea/wave-${number}.png`, image),
    ...numbered(10, (number) => `albums/wood/tree-${number}.txt`, text('tree')),
    { path: hostileName, source: text('hostile') },
    { path: 'notes.txt', source: text('first line\nsecond line') },
    { path: 'long.txt', source: text('x'.repeat(150_000)) },
    { path: 'page.html', source: text('<script>alert(1)</script>', 'text/html') },
    { path: 'broken.png', source: text('no picture', 'image/png') },
    { path: 'sound.wav', source: text('no sound', 'audio/wav') },
  ];
  for await (const { error } of pages.owner.uploadAll(files, { bucket })) {
    if (error !== undefined) throw error;
  }
  await addThumbnails(new Uint8Array(await image.arrayBuffer()));
}

/** Gives a text the picture as its thumbnail, and two pictures bytes that no browser can draw. */
async function addThumbnails(image: Uint8Array): Promise<void> {
  const undrawn = testPicture(500);
  for (const [path, bytes] of [
    ['notes.txt', image],
    ['picture-001.png', undrawn],
    ['broken.png', undrawn],
  ] as const) {
    const { etag } = await pages.owner.stat({ bucket, path });
    await pages.owner.thumbnails.put({ bucket, path, etag }, bytes);
  }
}

const gallery = (attributes = '', url = pages.gateway.url) =>
  pageWith(`<efs-gallery url="${url}" bucket="${bucket}" ${attributes}></efs-gallery>`);
const items = ({ page }: Visit) => page.locator('efs-gallery .item');
const tile = ({ page }: Visit, name: string) =>
  page.locator('efs-gallery .tile').filter({ has: page.locator(`.name:text-is("${name}")`) });

/** Whether the browser has decoded the picture. */
const isDrawn = (image: Locator) =>
  image.evaluate((node) => (node as HTMLImageElement).naturalWidth);

async function evaluateIn(page: Page, words: string): Promise<string> {
  return String(await page.evaluate(words));
}

beforeAll(async () => {
  if (isBrowserUnwanted) return;
  pages = await openElementPages();
  await pages.owner.buckets.create(bucket, { isPublic: true, isListed: true });
  const painter = await pages.browser.open();
  await fill(await picture(painter.page));
  await painter.context.close();
});

afterAll(() => pages?.close());

beforeEach(async () => {
  if (!isBrowserUnwanted) visit = await pages.browser.open();
});

afterEach(() => visit?.context.close());

describe.skipIf(isBrowserUnwanted)('<efs-gallery>', () => {
  test('shows 268 entries page by page, and loads only visible pictures', async () => {
    const { page } = visit;
    await pages.visit(visit, documentedHtml('<h1>Pictures</h1>'));
    await expect.poll(() => items(visit).count()).toBe(60);
    await expectAccessible(visit);
    await expect.poll(() => isDrawn(tile(visit, 'picture-000.png').locator('img'))).toBe(640);
    await tile(visit, 'broken.png').locator('.sign').waitFor();
    expect(await tile(visit, hostileName).count()).toBe(1);
    const more = page.getByRole('button', { name: 'Show more' });
    await more.focus();
    for (const count of [120, 180, 240]) {
      await page.keyboard.press('Enter');
      await expect.poll(() => items(visit).count()).toBe(count);
      await page.getByText(`${count} entries shown.`).waitFor({ state: 'attached' });
    }
    await page.keyboard.press('Enter');
    await more.waitFor({ state: 'detached' });
    // One folder, and all files at the top
    expect(await items(visit).count()).toBe(1 + 246);
    const focused =
      "document.activeElement.shadowRoot.activeElement.querySelector('.name').textContent";
    expect(await evaluateIn(page, focused)).toMatch(/^text-/);
    expect(await page.evaluate('globalThis.broken')).toBeUndefined();
    await expectAccessible(visit);
  });

  test('shows thumbnails, and the picture if its thumbnail cannot be drawn', async () => {
    await pages.visit(visit, gallery('page-size="300"'));
    const image = (name: string) => tile(visit, name).locator('img');
    await expect.poll(() => isDrawn(image('notes.txt'))).toBe(640);
    const shown = await image('notes.txt').getAttribute('src');
    expect(shown).toBe(`${pages.gateway.url}/cloud/${bucket}/notes.txt?thumbnail`);
    await expect.poll(() => isDrawn(image('picture-001.png'))).toBe(640);
    expect(await image('picture-001.png').getAttribute('src')).toMatch(/picture-001\.png$/);
    expect(await image('picture-000.png').getAttribute('src')).toMatch(/picture-000\.png$/);
    await tile(visit, 'broken.png').locator('.sign').waitFor();
  });

  test('loads pages when they are scrolled into view', async () => {
    await pages.visit(visit, gallery('auto page-size="100"'));
    await expect.poll(() => items(visit).count()).toBe(100);
    await visit.page.mouse.wheel(0, 100_000);
    await expect.poll(() => items(visit).count()).toBeGreaterThan(199);
  });

  test('enters folders and returns by keyboard', async () => {
    const { page } = visit;
    await pages.visit(visit, gallery());
    await tile(visit, 'albums').focus();
    await page.keyboard.press('Enter');
    await tile(visit, 'sea').click();
    await tile(visit, 'wave-009.png').waitFor();
    expect(await items(visit).count()).toBe(10);
    await expectAccessible(visit);
    const focused = 'document.activeElement.shadowRoot.activeElement.textContent';
    expect(await evaluateIn(page, focused)).toBe('sea');
    await page.getByRole('button', { name: 'All files' }).click();
    await tile(visit, 'notes.txt').waitFor();
    expect(await page.locator('efs-gallery nav').isVisible()).toBe(false);
  });

  test('sorts by name and by date, and shows a prefix only', async () => {
    await pages.visit(visit, gallery('sort="name_desc"'));
    const first = items(visit).first().locator('.name');
    await expect.poll(() => first.textContent()).toBe('text-199.txt');
    await pages.owner.upload(new Blob(['new']), { bucket, path: 'albums/newest.bin' });
    await pages.visit(visit, gallery('sort="date_desc"'));
    await expect.poll(() => first.textContent()).toBe('newest.bin');
    await visit.page.getByRole('button', { name: 'Show more' }).click();
    await expect.poll(() => items(visit).count()).toBe(100);
    await pages.visit(visit, gallery('prefix="albums/wood/"'));
    await expect.poll(() => items(visit).count()).toBe(10);
  });

  test('opens files in a dialog with neighbours, or as the page wants', async () => {
    const { page } = visit;
    await pages.visit(visit, gallery());
    await tile(visit, 'picture-000.png').focus();
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'picture-000.png' });
    const shown = dialog.locator('efs-file img');
    await expect.poll(() => isDrawn(shown)).toBe(640);
    await expectAccessible(visit);
    await dialog.getByRole('button', { name: 'Next' }).click();
    await page.getByRole('dialog', { name: 'picture-001.png' }).waitFor();
    await page.keyboard.press('ArrowLeft');
    await dialog.waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'hidden' });
    const focused =
      "document.activeElement.shadowRoot.activeElement.querySelector('.name').textContent";
    expect(await evaluateIn(page, focused)).toBe('picture-000.png');
    await page.evaluate(() => {
      document.addEventListener('efs-gallery-open', (event) => {
        event.preventDefault();
        document.querySelector('h1')?.append((event as CustomEvent).detail.path);
      });
    });
    await tile(visit, 'picture-002.png').click();
    await page.getByRole('heading', { name: 'picture-002.png' }).waitFor();
    expect(await page.getByRole('dialog').count()).toBe(0);
  });

  test('says that a bucket is not listed, is empty, or that none is named', async () => {
    const { page } = visit;
    await pages.visit(visit, gallery().replace('"gallery"', '"demo"'));
    await page.getByText('The files of “demo” are not listed publicly.').waitFor();
    await expectAccessible(visit);
    await pages.visit(visit, gallery('prefix="nothing/"'));
    await page.getByText('No files.').waitFor();
    await pages.visit(visit, pageWith('<efs-gallery></efs-gallery>'));
    await page.getByText('does not say whose files').waitFor();
    await pages.visit(visit, gallery('', 'javascript:alert(1)'));
    await page.getByText('does not say whose files').waitFor();
    await expectAccessible(visit);
  });

  test('takes texts of the page, also before it is defined', async () => {
    const script = `<script>
      const early = document.querySelector('efs-gallery');
      early.texts = { more: 'Mehr zeigen' };
      early.pageSize = 5;
    </script>`;
    await pages.visit(visit, gallery().replace('</main>', `</main>${script}`));
    await visit.page.getByRole('button', { name: 'Mehr zeigen' }).waitFor();
    expect(await items(visit).count()).toBe(5);
    expect(await visit.page.locator('efs-gallery').getAttribute('page-size')).toBe('5');
  });
});

describe.skipIf(isBrowserUnwanted)('<efs-gallery> before a lying node', () => {
  let liar: Server;
  let answer: object;
  let asked = 0;

  beforeAll(async () => {
    liar = createServer((request, response) => {
      if (request.url?.startsWith('/api/')) asked += 1;
      response.setHeader('Access-Control-Allow-Origin', '*');
      response.setHeader('Content-Type', 'application/json');
      response.end(JSON.stringify(answer));
    });
    await new Promise<void>((resolve) => liar.listen(0, 'localhost', resolve));
  });

  afterAll(() => liar?.close());

  const address = () => `http://localhost:${(liar.address() as AddressInfo).port}`;

  /** The page's policy would refuse the requests. */
  async function visitLiar(attributes = ''): Promise<void> {
    visit = await pages.browser.open({ bypassCSP: true });
    await pages.visit(visit, gallery(attributes, address()));
  }

  test('links only to the same address, and shows names as text', async () => {
    const bait = { size: 1, contentType: 'image/png', url: 'javascript:alert(1)', name: 'bait' };
    answer = {
      items: [
        { ...bait, path: 'javascript:alert(1)' },
        { ...bait, path: '//evil.example/x.png' },
        { ...bait, path: 'a/../../../s/x.png', thumbnail: {} },
        { ...bait, path: '\\\\evil.example\\x.png?q#f' },
        { ...bait, path: hostileName, size: 'many', contentType: 'text/html' },
        { ...bait, path: 7 },
        null,
      ],
      folders: [{ path: '<b>folder/' }, { path: 'no folder' }, 5],
      nextCursor: null,
    };
    await visitLiar();
    await expect.poll(() => items(visit).count()).toBe(6);
    const targets = await visit.page
      .locator('efs-gallery :is(a, img)')
      .evaluateAll((nodes) =>
        nodes.map((node) => node.getAttribute('href') ?? node.getAttribute('src')),
      );
    const links = targets.filter((target) => target !== null);
    expect(links.length).toBeGreaterThan(2);
    for (const link of links) expect(new URL(link).href).toMatch(`${address()}/cloud/${bucket}/`);
    await tile(visit, '<b>folder').waitFor();
    expect(await visit.page.evaluate('globalThis.broken')).toBeUndefined();
  });

  test('does not follow a list without end, and limits the entries of a page', async () => {
    answer = { items: [], folders: [], nextCursor: 'again' };
    asked = 0;
    await visitLiar('auto');
    await visit.page.getByRole('button', { name: 'Show more' }).waitFor();
    await visit.page.waitForTimeout(500);
    expect(asked).toBe(1);
    const item = { size: 1, contentType: 'text/plain' };
    const many = Array.from({ length: 5_000 }, (_, index) => ({ ...item, path: `${index}.txt` }));
    answer = { items: many, folders: [], nextCursor: null };
    await visitLiar('page-size="20"');
    await expect.poll(() => items(visit).count()).toBe(20);
  });

  test('offers another attempt after an answer that is no list', async () => {
    answer = { items: 'none' };
    await visitLiar();
    const again = visit.page.getByRole('button', { name: 'Try again' });
    await again.waitFor();
    answer = { items: [], folders: [], nextCursor: null };
    await again.click();
    await visit.page.getByText('No files.').waitFor();
  });
});

describe.skipIf(isBrowserUnwanted)('<efs-file>', () => {
  const fileAt = (path: string, attributes = '') =>
    pageWith(`<efs-file src="${pages.gateway.url}/cloud/${path}" ${attributes}></efs-file>`);

  test('shows the text of the documented page, with name, size and type', async () => {
    const { page } = visit;
    await pages.visit(visit, documentedHtml('<h1>One file</h1>'));
    await page.getByRole('region', { name: 'notes.txt' }).getByText('second line').waitFor();
    await page.getByText('22 bytes, text/plain').waitFor();
    await expectAccessible(visit);
  });

  test('shows the beginning of a long text, and a picture of a link', async () => {
    const { page } = visit;
    await pages.visit(visit, fileAt(`${bucket}/long.txt`));
    await page.getByText('Only the first 100 kB are shown.').waitFor();
    expect(await page.locator('pre').textContent()).toHaveLength(100_000);
    await expectAccessible(visit);
    const { url } = await pages.owner.links.create({ bucket, path: 'picture-000.png' });
    const { pathname, search } = new URL(url, pages.gateway.url);
    const src = `${pages.gateway.url}${pathname}${search}`.replaceAll('&', '&amp;');
    await pages.visit(visit, pageWith(`<efs-file src="${src}"></efs-file>`));
    await expect.poll(() => isDrawn(page.locator('efs-file img'))).toBe(640);
    await page.getByText('picture-000.png').waitFor();
    await expectAccessible(visit);
  });

  test('gives sound and what cannot be drawn a card, and a page no element that loads it', async () => {
    const { page } = visit;
    await pages.visit(visit, fileAt(`${bucket}/sound.wav`));
    await page.getByText('audio/wav').waitFor();
    await expectAccessible(visit);
    await pages.visit(visit, fileAt(`${bucket}/broken.png`));
    await page.locator('efs-file .sign').waitFor();
    await pages.visit(visit, fileAt(`${bucket}/page.html`));
    await page.getByText('25 bytes, text/html').waitFor();
    const loading = page.locator('efs-file :is(iframe, object, embed, img, video)');
    expect(await loading.count()).toBe(0);
    await expectAccessible(visit);
  });

  test('links to the page of a link with a password, and requests nothing', async () => {
    const { page } = visit;
    const path = '/s/AAAA/secret.png#p.c2FsdA';
    const src = `${pages.gateway.url}${path}`;
    const before = pages.gateway.requests.length;
    await pages.visit(visit, pageWith(`<efs-file src="${src}" type="image/png"></efs-file>`));
    const link = page.getByRole('link', { name: 'Open: secret.png' });
    expect(await link.getAttribute('href')).toBe(src);
    expect(pages.gateway.requests).toHaveLength(before);
    await expectAccessible(visit);
  });

  test('says that a file is missing, and shows no other address', async () => {
    const { page } = visit;
    await pages.visit(visit, fileAt(`${bucket}/missing.txt`));
    await page.getByText('does not exist').waitFor();
    await expectAccessible(visit);
    for (const src of [
      'javascript:alert(1)',
      'data:text/plain,x',
      `${pages.gateway.url}/api/v1/x`,
    ]) {
      await pages.visit(visit, pageWith(`<efs-file src="${src}"></efs-file>`));
      await page.getByText('does not say which file').waitFor();
    }
  });
});
