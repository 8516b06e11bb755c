// <efs-upload> in Chromium, in the pages of docs/how-to/elements.md, against the service.

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { isBrowserUnwanted, type Visit } from '../console/support/browser.ts';
import { readElementExamples, withoutImports } from '../documents/support/examples.ts';
import { sampleBytes, sha256Hex } from '../support/service.ts';
import {
  documentedHtml,
  type ElementPages,
  expectAccessible,
  openElementPages,
  pageWith,
} from './support/element-pages.ts';

const largeBytes = sampleBytes('element', 12_000_000);
let pages: ElementPages;
let folder: string;
let visit: Visit;

async function stored(path: string): Promise<string> {
  const { bytes } = await pages.owner.download({ bucket: 'demo', path });
  return sha256Hex(await bytes());
}

const choose = (page: Page, ...names: string[]) =>
  page.setInputFiles(
    'input[type=file]',
    names.map((name) => join(folder, name)),
  );

const row = (page: Page, name: string) => page.getByRole('listitem').filter({ hasText: name });

/** Records the details of the element's events in the page. */
async function recordEvents({ page }: Visit): Promise<void> {
  await page.evaluate(() => {
    const seen: object[] = [];
    Object.assign(globalThis, { seen });
    for (const type of ['done', 'error', 'complete', 'progress']) {
      document.addEventListener(`efs-upload-${type}`, (event) => {
        const { name, address, error, state, sentBytes } = (event as CustomEvent).detail;
        seen.push({ type, name, address, code: error?.code, state, sentBytes });
      });
    }
  });
}

interface Seen {
  readonly type: string;
  readonly name?: string;
  readonly address?: string;
  readonly code?: string;
  readonly sentBytes?: number;
}

const seen = ({ page }: Visit): Promise<Seen[]> => page.evaluate('globalThis.seen');

describe.skipIf(isBrowserUnwanted)('<efs-upload>', () => {
  beforeAll(async () => {
    pages = await openElementPages();
    folder = await mkdtemp(join(tmpdir(), 'elements-'));
    await writeFile(join(folder, 'small.txt'), 'a small file');
    await writeFile(join(folder, 'empty.txt'), '');
    await writeFile(join(folder, 'picture.png'), 'not really');
    await writeFile(join(folder, 'large.bin'), largeBytes);
  });

  afterAll(async () => {
    await pages?.close();
    await rm(folder, { recursive: true, force: true });
  });

  beforeEach(async () => {
    visit = await pages.browser.open();
  });

  afterEach(() => visit.context.close());

  test('stores files by the documented page, and says so', async () => {
    const { page } = visit;
    await pages.link({ prefix: 'documented/' });
    await pages.visit(visit, documentedHtml('Send us your files'));
    await recordEvents(visit);
    await page.getByText('5 files, up to 1 GB').waitFor();
    await expectAccessible(visit);
    await choose(page, 'small.txt', 'empty.txt', 'large.bin');
    for (const name of ['small.txt', 'empty.txt', 'large.bin']) {
      await row(page, name).getByText('Stored').waitFor();
    }
    await page.getByText('large.bin is stored.').first().waitFor();
    await expectAccessible(visit);
    expect(await stored('documented/small.txt')).toBe(sha256Hex(Buffer.from('a small file')));
    expect(await stored('documented/empty.txt')).toBe(sha256Hex(Buffer.from('')));
    expect(await stored('documented/large.bin')).toBe(sha256Hex(largeBytes));
    const events = await seen(visit);
    const done = events.filter(({ type }) => type === 'done');
    expect(done.map(({ address }) => address)).toContain(
      `${pages.gateway.url}/cloud/demo/documented/large.bin`,
    );
    const sizes = events.flatMap(({ name, type, sentBytes = 0 }) => {
      return name === 'large.bin' && type === 'progress' ? [sentBytes] : [];
    });
    expect(sizes.length).toBeGreaterThan(6);
    expect(sizes).toEqual(sizes.toSorted((one, other) => one - other));
    expect(events.at(-1)?.type).toBe('complete');
    expect(await page.evaluate('localStorage.length')).toBe(0);
  });

  test('refuses wrong types, large files and too many, each with its reason', async () => {
    const { page } = visit;
    const link = await pages.link({ prefix: 'limits/', maxFileBytes: 1_000_000 });
    const html = pageWith(`<efs-upload upload-link="${link}" accept=".txt,.bin" max-files="2"
      max-bytes="13000000"></efs-upload>`);
    await pages.visit(visit, html);
    await recordEvents(visit);
    await choose(page, 'picture.png', 'large.bin');
    await row(page, 'picture.png').getByText('only .txt,.bin').waitFor();
    await row(page, 'large.bin').getByText('larger than the upload link allows').waitFor();
    await choose(page, 'small.txt', 'empty.txt', 'small.txt');
    await page.getByText('At most 2 files: 1 left out.').waitFor();
    await row(page, 'empty.txt').getByText('Stored').waitFor();
    await expectAccessible(visit);
    const codes = (await seen(visit)).flatMap(({ type, code }) => (type === 'error' ? [code] : []));
    expect(codes).toEqual(['NotAccepted', 'EntityTooLarge']);
  });

  test('reports a name that is taken, a wrong link, and a missing link', async () => {
    const { page } = visit;
    const link = await pages.link({ prefix: 'taken/' });
    await pages.visit(visit, pageWith(`<efs-upload upload-link="${link}"></efs-upload>`));
    await choose(page, 'small.txt');
    await row(page, 'small.txt').getByText('Stored').waitFor();
    await row(page, 'small.txt').getByRole('button', { name: 'Remove' }).click();
    await choose(page, 'small.txt');
    await row(page, 'small.txt').getByText('stored already').waitFor();
    const wrong = link.slice(0, -4) + (link.endsWith('aaaa') ? 'bbbb' : 'aaaa');
    await page.evaluate((address) => {
      document.querySelector('efs-upload')?.setAttribute('upload-link', address);
    }, wrong);
    await choose(page, 'empty.txt');
    await row(page, 'empty.txt').getByText('link has expired').waitFor();
    await page.evaluate(() => {
      document.querySelector('efs-upload')?.setAttribute('upload-link', 'javascript:alert(1)');
    });
    await page.getByRole('alert').getByText('no valid upload link').waitFor();
    expect(await page.getByRole('button', { name: 'Choose files' }).isDisabled()).toBe(true);
    await expectAccessible(visit);
  });

  test('continues after a lost network and a reload, and sends each part once', async () => {
    const { page, context } = visit;
    const link = await pages.link({ prefix: 'interrupted/' });
    await context.route('**/tus/**', async (route) => {
      await setTimeout(150);
      await route.continue().catch(() => undefined);
    });
    const html = pageWith(`<efs-upload upload-link="${link}"></efs-upload>`);
    const parts = () => pages.gateway.requests.filter((line) => line.startsWith('PATCH')).length;
    const before = parts();
    await pages.visit(visit, html);
    await choose(page, 'large.bin');
    await expect.poll(() => parts() - before).toBeGreaterThan(1);
    await pages.visit(visit, html);
    await choose(page, 'large.bin');
    await expect.poll(() => parts() - before).toBeGreaterThan(3);
    await context.setOffline(true);
    await row(page, 'large.bin').getByText('No network').waitFor();
    await expectAccessible(visit);
    const lost = parts();
    await page.waitForTimeout(500);
    expect(parts()).toBe(lost);
    await context.setOffline(false);
    await row(page, 'large.bin').getByText('Stored').waitFor();
    expect(await stored('interrupted/large.bin')).toBe(sha256Hex(largeBytes));
    // Each of the seven parts, and those that were interrupted
    expect(parts() - before).toBeLessThanOrEqual(7 + 3);
  });

  test('cancels an upload and frees its bytes', async () => {
    const { page, context } = visit;
    const link = await pages.link({ prefix: 'cancelled/' });
    await context.route('**/tus/**', async (route) => {
      await setTimeout(150);
      await route.continue().catch(() => undefined);
    });
    await pages.visit(visit, pageWith(`<efs-upload upload-link="${link}"></efs-upload>`));
    await choose(page, 'large.bin');
    await row(page, 'large.bin')
      .getByText(/[1-9]\d? %/)
      .waitFor();
    await page.getByRole('button', { name: 'Cancel: large.bin' }).focus();
    await page.keyboard.press('Enter');
    await row(page, 'large.bin').waitFor({ state: 'detached' });
    const focused = 'document.activeElement.shadowRoot.activeElement.textContent';
    expect(await page.evaluate(focused)).toBe('Choose files');
    const isFreed = () => pages.gateway.requests.some((line) => /^DELETE \S+tus\//.test(line));
    await expect.poll(isFreed).toBe(true);
    expect(await page.evaluate('localStorage.length')).toBe(0);
  });

  test('sends the addresses of stored files with its form, once they are stored', async () => {
    const { page } = visit;
    await pages.link({ prefix: 'form/' });
    await pages.visit(visit, documentedHtml('<h1>Apply</h1>'));
    await page.getByLabel('Name').fill('Ada');
    await page.getByRole('button', { name: 'Choose files' }).waitFor();
    const isValid = () => page.evaluate(() => document.querySelector('form')?.checkValidity());
    await expect.poll(isValid).toBe(false);
    await choose(page, 'small.txt');
    await row(page, 'small.txt').getByText('Stored').waitFor();
    expect(await isValid()).toBe(true);
    await expectAccessible(visit);
    await page.getByRole('button', { name: 'Send' }).click();
    await page.waitForURL('**/applied?*');
    expect(new URL(page.url()).searchParams.getAll('paper')).toEqual([
      `${pages.gateway.url}/cloud/demo/form/small.txt`,
    ]);
  });

  test('uploads with a key of several buckets, which no attribute and no storage contains', async () => {
    const { page } = visit;
    await pages.owner.buckets.create('other');
    const permissions = ['upload'] as const;
    const key = { name: 'page', buckets: ['demo', 'other'], permissions };
    const { secret: apiKey } = await pages.owner.keys.create(key);
    await pages.visit(visit, pageWith('<efs-upload bucket="demo" prefix="keyed/"></efs-upload>'));
    await page.evaluate(
      ([url, key]) => {
        const upload = document.querySelector('efs-upload');
        Object.assign(upload ?? {}, { url, apiKey: key, nameFile: () => 'renamed.txt' });
      },
      [pages.gateway.url, apiKey],
    );
    await choose(page, 'small.txt');
    await row(page, 'renamed.txt').getByText('Stored').waitFor();
    expect(await stored('keyed/renamed.txt')).toBe(sha256Hex(Buffer.from('a small file')));
    const everything = await page.evaluate(() => {
      const { outerHTML } = document.documentElement;
      return outerHTML + JSON.stringify({ ...localStorage, ...sessionStorage });
    });
    expect(everything).not.toContain(apiKey);
  });

  test('sends a failed file again when the visitor asks for it', async () => {
    const { page, context } = visit;
    const link = await pages.link({ prefix: 'again/' });
    await pages.visit(visit, pageWith(`<efs-upload upload-link="${link}"></efs-upload>`));
    const error = { code: 'UploadIncomplete', message: 'of no use' };
    const headers = { 'Access-Control-Allow-Origin': '*' };
    await context.route('**/tus/**', async (route) => {
      const isPart = route.request().method() === 'PATCH';
      await (isPart ? route.fulfill({ status: 409, headers, json: { error } }) : route.continue());
    });
    await choose(page, 'small.txt');
    await row(page, 'small.txt').getByText('The upload failed: of no use').waitFor();
    await expectAccessible(visit);
    await context.unroute('**/tus/**');
    await row(page, 'small.txt').getByRole('button', { name: 'Try again' }).click();
    await row(page, 'small.txt').getByText('Stored').waitFor();
    expect(await stored('again/small.txt')).toBe(sha256Hex(Buffer.from('a small file')));
  });

  test('sends shorter parts over a line that brings no long ones', async () => {
    const { page } = visit;
    const link = await pages.link({ prefix: 'slow/' });
    // As a gateway ends a body that takes more than a minute
    await page.addInitScript(() => {
      const { send } = XMLHttpRequest.prototype;
      XMLHttpRequest.prototype.send = function (body) {
        const isLong = body instanceof Blob && body.size > 1_000_000;
        if (isLong) globalThis.setTimeout(() => this.dispatchEvent(new ProgressEvent('error')), 50);
        else send.call(this, body);
      };
    });
    await pages.visit(visit, pageWith(`<efs-upload upload-link="${link}"></efs-upload>`));
    await choose(page, 'large.bin');
    await row(page, 'large.bin').getByText('Stored').waitFor();
    expect(await stored('slow/large.bin')).toBe(sha256Hex(largeBytes));
  });

  test('takes dropped files, and shows names as text only', async () => {
    const { page } = visit;
    const link = await pages.link({ prefix: 'dropped/' });
    await pages.visit(visit, pageWith(`<efs-upload upload-link="${link}"></efs-upload>`));
    const name = '<img src=x onerror=globalThis.broken=1>.txt';
    await page.evaluate((fileName) => {
      const data = new DataTransfer();
      data.items.add(new File(['dropped'], fileName));
      const options = { dataTransfer: data, bubbles: true, cancelable: true };
      const drop = document.querySelector('efs-upload')?.shadowRoot?.querySelector('.drop');
      drop?.dispatchEvent(new DragEvent('dragover', options));
      drop?.dispatchEvent(new DragEvent('drop', options));
    }, name);
    await row(page, name).getByText('Stored').waitFor();
    expect(await page.evaluate('globalThis.broken')).toBeUndefined();
    expect(await stored(`dropped/${name}`)).toBe(sha256Hex(Buffer.from('dropped')));
  });

  describe('with folders', () => {
    // A reader of a folder returns at most a hundred entries
    const fileCount = 102;
    let trip: string;

    beforeAll(async () => {
      trip = join(folder, 'trip');
      await mkdir(join(trip, 'day 1'), { recursive: true });
      for (let index = 0; index < fileCount; index++) {
        await writeFile(join(trip, 'day 1', `${index}.txt`), `file ${index}`);
      }
      await writeFile(join(trip, 'top.txt'), 'at the top');
    });

    /** Drops what has the path on the element, as a file manager does. */
    async function drop({ page, context }: Visit, path: string): Promise<void> {
      const box = await page.locator('efs-upload').boundingBox();
      if (box === null) throw new Error('The element is not visible.');
      const at = { x: box.x + box.width / 2, y: box.y + 40 };
      const session = await context.newCDPSession(page);
      const data = { items: [], files: [path], dragOperationsMask: 1 };
      for (const type of ['dragEnter', 'dragOver', 'drop'] as const) {
        await session.send('Input.dispatchDragEvent', { type, ...at, data });
      }
    }

    test('stores a dropped and a chosen folder with the paths of its files', async () => {
      const { page } = visit;
      const link = await pages.link({ prefix: 'folders/' });
      const element = `<efs-upload upload-link="${link}" accept=".txt" folders></efs-upload>`;
      await pages.visit(visit, pageWith(element));
      await recordEvents(visit);
      await expectAccessible(visit);
      await drop(visit, trip);
      await row(page, 'trip/top.txt').getByText('Stored').waitFor();
      await expect
        .poll(async () => (await seen(visit)).at(-1)?.type, { timeout: 60_000 })
        .toBe('complete');
      const paths: string[] = [];
      for await (const { path } of pages.owner.list({ bucket: 'demo', prefix: 'folders/' })) {
        paths.push(path);
      }
      expect(paths.length).toBe(fileCount + 1);
      expect(await stored('folders/trip/day 1/101.txt')).toBe(sha256Hex(Buffer.from('file 101')));
      await page.evaluate(`document.querySelector('efs-upload').nameFile =
        (file, path) => 'chosen/' + path`);
      await page.getByRole('button', { name: 'Choose a folder' }).waitFor();
      await page.setInputFiles('input[webkitdirectory]', trip);
      await row(page, 'chosen/trip/top.txt').getByText('Stored').waitFor();
      expect(await stored('folders/chosen/trip/top.txt')).toBe(
        sha256Hex(Buffer.from('at the top')),
      );
    });

    test('refuses a dropped folder by default, and stores no file of it', async () => {
      const { page } = visit;
      const link = await pages.link({ prefix: 'no folders/' });
      await pages.visit(visit, pageWith(`<efs-upload upload-link="${link}"></efs-upload>`));
      await drop(visit, trip);
      await page.getByText('Folders are not accepted').waitFor();
      await drop(visit, join(folder, 'small.txt'));
      await row(page, 'small.txt').getByText('Stored').waitFor();
      expect(await page.getByRole('listitem').count()).toBe(1);
      expect(await page.getByRole('button', { name: 'Choose a folder' }).count()).toBe(0);
    });
  });
});

describe.skipIf(isBrowserUnwanted)('@example of the elements', () => {
  /** Text that the page shows then, for each example that adds an element to it. */
  const shown: Readonly<Record<string, string | undefined>> = {
    EfsUpload: 'hello.txt is at http',
    apiKey: 'Stored',
    nameFile: undefined,
    EfsGallery: 'hello.txt',
    EfsFile: 'an example',
  };
  const examples = readElementExamples();
  let samples: ElementPages;

  beforeAll(async () => {
    samples = await openElementPages();
    const { owner } = samples;
    await owner.buckets.update('demo', { isPublic: true, isListed: true });
    const file = new Blob(['an example'], { type: 'text/plain' });
    await owner.upload(file, { bucket: 'demo', path: 'notes/hello.txt' });
    await owner.upload(file, { bucket: 'demo', path: 'hello.txt' });
  });

  afterAll(() => samples?.close());

  test('is in the docstring of each element', () => {
    expect(examples.map(({ name }) => name).sort()).toEqual(Object.keys(shown).sort());
  });

  test.each(examples)('of $name runs', async ({ name, code }) => {
    const opened = await samples.browser.open();
    const putUrl = await samples.link({ prefix: 'examples/' });
    const values = JSON.stringify([samples.gateway.url, putUrl, samples.service.apiKey]);
    const script = `const [url, putUrl, apiKey] = ${values};\n${withoutImports(code)}`;
    const html = pageWith('<output></output>');
    await samples.visit(
      opened,
      html.replace('</body>', `<script type="module">${script}</script></body>`),
    );
    const text = shown[name];
    if (text !== undefined) await opened.page.getByText(text).first().waitFor();
    expect(opened.faults).toEqual([]);
    await opened.context.close();
  });
});

describe.skipIf(isBrowserUnwanted)('<efs-upload> at a gateway that answers OPTIONS', () => {
  let answering: ElementPages;

  beforeAll(async () => {
    answering = await openElementPages({ preflights: 'answered' });
    folder = await mkdtemp(join(tmpdir(), 'elements-'));
    await writeFile(join(folder, 'small.txt'), 'a small file');
    await writeFile(join(folder, 'large.bin'), largeBytes);
  });

  afterAll(async () => {
    await answering?.close();
    await rm(folder, { recursive: true, force: true });
  });

  test('stores small files by PUT, and says why it refuses large ones', async () => {
    const opened = await answering.browser.open();
    const link = await answering.link({ prefix: 'put/' });
    await answering.visit(opened, pageWith(`<efs-upload upload-link="${link}"></efs-upload>`));
    await choose(opened.page, 'small.txt', 'large.bin');
    await row(opened.page, 'small.txt').getByText('Stored').waitFor();
    await row(opened.page, 'large.bin').getByText('accepts no file of this size').waitFor();
    const { size } = await answering.owner.stat({ bucket: 'demo', path: 'put/small.txt' });
    expect(size).toBe(12);
    await opened.context.close();
  });
});
