// End-to-end buckets in the page: with an identity the page decrypts files, with a key it does not.
// The recipient of a link decrypts its file with only the address; hostile files do no harm.

import { readFile } from 'node:fs/promises';
import { generateX25519Identity, identityToRecipient } from 'age-encryption';
import type { Download, Page, Route } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createHttpStorage } from '../../packages/client/src/http-storage.ts';
import { isBrowserUnwanted, type Visit } from './support/browser.ts';
import { openConsole, shownPrincipal, type TestedConsole } from './support/console.ts';
import { picture } from './support/picture.ts';

const text = 'the plan of the harbour';
const file = (name: string, words: string) => ({
  name,
  mimeType: 'text/plain',
  buffer: Buffer.from(words),
});
const savedText = async (saved: Download) => readFile((await saved.path()) ?? '', 'latin1');

const bucket = 'safe';
const script = "document.title = 'taken ' + Object.values(sessionStorage).join()";
/** `shown`: selector of an element that the preview must contain. */
const hostile: readonly (readonly [name: string, text: string, shown: string])[] = [
  ['page.html', `<h1>Page</h1><script>${script}</script>`, 'pre'],
  [
    'drawing.svg',
    `<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9" onload="${script}"><script>${script}</script></svg>`,
    'img[src^="blob:"]',
  ],
  ['letter.md', `<img src=x onerror="${script}">\n\n[here](javascript:${script})\n`, '.markdown'],
  ['false.pdf', `<script>${script}</script>`, 'iframe[src^="blob:"]'],
];

describe.skipIf(isBrowserUnwanted)('end to end', () => {
  let tested: TestedConsole;
  beforeAll(async () => {
    tested = await openConsole();
  });
  afterAll(() => tested?.close());

  describe('an end-to-end bucket', () => {
    let visit: Visit;
    let page: Page;
    let apiKey: string;

    beforeAll(async () => {
      visit = await tested.open();
      page = visit.page;
      const { storage, pages } = tested;
      await page.goto(pages.url);
      await page.getByRole('button', { name: 'Use a key on this device' }).click();
      const principal = await shownPrincipal(page);
      for (const [id, sealsNames] of [
        ['quiet', true],
        ['post', false],
      ] as const) {
        await storage.buckets.create(id, { endToEnd: { sealsNames } });
        await storage.buckets.update(id, { addMembers: [{ principal, role: 'owner' }] });
      }
      await storage.access.update({ allow: [principal] });
      await upload('quiet', 'notes/plan.txt');
      await upload('post', 'plan.txt');
      const request = { name: 'all', buckets: ['post'], permissions: ['read', 'write'] as const };
      apiKey = (await storage.keys.create(request)).secret;
    });
    afterAll(async () => {
      await visit?.context.close();
    });

    const upload = (bucket: string, path: string) =>
      tested.storage.upload(new Blob([text]), { bucket, path });

    const clear = async (bucket: string, path: string) =>
      new TextDecoder().decode(await (await tested.storage.download({ bucket, path })).bytes());

    async function stored(path: string): Promise<string> {
      const { download } = createHttpStorage({ url: tested.service.base, apiKey });
      const { bytes } = await download({ bucket: 'post', path });
      return Buffer.from(await bytes()).toString('latin1');
    }

    const derivations = () =>
      tested.service.replica?.reports.filter(({ method }) => method === 'getBucketIdentity').length;

    async function saving(press: () => Promise<void>): Promise<Download> {
      const event = page.waitForEvent('download');
      await press();
      return event;
    }

    test('shows plain names to a member, and decrypts files in the page', async () => {
      await page.goto(`${tested.pages.url}/#/files/quiet/`);
      await page.getByRole('link', { name: 'notes' }).click();
      await page.getByRole('link', { name: 'plan.txt' }).click();
      await page.getByText(text).waitFor();
      const saved = await saving(() => page.getByRole('button', { name: 'Download' }).click());
      expect([saved.suggestedFilename(), await savedText(saved)]).toEqual(['plan.txt', text]);
    });

    test('lets a stranger read a file through a link, with its plain name', async () => {
      await page.goto(`${tested.pages.url}/#/file/quiet/notes/plan.txt`);
      await page.getByRole('button', { name: 'Create a link' }).click();
      await page.getByText('can read the current version of').waitFor();
      const link = new URL((await page.getByText(/\/s\/.+\?k=/).textContent()) ?? '');
      expect(link.pathname + link.search).not.toContain('plan');
      const stranger = await tested.open();
      await stranger.page.goto(tested.pages.url + link.pathname + link.search + link.hash);
      await stranger.page.getByRole('heading', { level: 1, name: 'plan.txt' }).waitFor();
      await stranger.page.getByText(text).waitFor();
      expect(stranger.faults).toEqual([]);
      await stranger.context.close();
    });

    test('encrypts dropped files, and downloads folders as a zip of decrypted files', async () => {
      await page.goto(`${tested.pages.url}/#/files/quiet/notes/`);
      const chosen = [file('one.txt', 'one'), file('two.txt', 'two')];
      await page.getByLabel('Upload files').last().setInputFiles(chosen);
      await page.getByText('2 files uploaded.').waitFor();
      expect(await clear('quiet', 'notes/two.txt')).toBe('two');
      await page.goto(`${tested.pages.url}/#/files/quiet/`);
      await page.getByLabel('Select notes').check();
      // With showSaveFilePicker the browser would open a dialog that a test cannot answer.
      await page.evaluate(() => Reflect.deleteProperty(globalThis, 'showSaveFilePicker'));
      const saved = await saving(() => page.getByRole('button', { name: 'Download' }).click());
      expect(saved.suggestedFilename()).toBe('notes.zip');
      const zip = await savedText(saved);
      for (const part of ['notes/plan.txt', 'notes/two.txt', text]) expect(zip).toContain(part);
    });

    test('is read after a reload without a new derivation; signing out deletes the identities', async () => {
      await page.goto(`${tested.pages.url}/#/files/quiet/`);
      await page.getByRole('link', { name: 'notes' }).waitFor();
      const before = derivations();
      expect(before).toBeGreaterThan(0);
      await page.reload();
      await page.getByRole('link', { name: 'notes' }).waitFor();
      expect(derivations()).toBe(before);
      const kept = () =>
        page.evaluate(async () => {
          const opening = indexedDB.open('encrypted-file-storage');
          await new Promise((resolve) => opening.addEventListener('success', resolve));
          const table = opening.result.transaction('identities').objectStore('identities');
          const counting = table.count();
          await new Promise((resolve) => counting.addEventListener('success', resolve));
          opening.result.close();
          return counting.result;
        });
      expect(await kept()).toBe(2);
      await page.getByRole('button', { name: 'Sign out' }).click();
      await page.getByRole('heading', { name: 'Sign in' }).waitFor();
      await expect.poll(kept).toBe(0);
      await page.getByRole('button', { name: 'Use a key on this device' }).click();
      await page.getByRole('heading', { name: 'Your buckets' }).waitFor();
    });

    test('decrypts nothing for a key, says so, and saves the encrypted bytes', async () => {
      const other = await tested.open();
      const { page: theirs } = other;
      await theirs.goto(`${tested.pages.url}/#key=${apiKey}&bucket=post`);
      await theirs.getByRole('link', { name: 'plan.txt' }).click();
      await theirs.getByText('This session cannot decrypt').waitFor();
      const event = theirs.waitForEvent('download');
      await theirs.getByRole('button', { name: 'Download' }).click();
      expect((await event).suggestedFilename()).toBe('plan.txt.age');
      await theirs.getByRole('button', { name: 'Create a link' }).click();
      await theirs.getByText('The file stays encrypted').waitFor();
      await theirs.goto(`${tested.pages.url}/#/files/post/`);
      await theirs
        .getByLabel('Upload files')
        .last()
        .setInputFiles([file('letter.txt', text)]);
      await theirs.getByText('1 file uploaded.').waitFor();
      expect(await clear('post', 'letter.txt')).toBe(text);
      expect(await stored('letter.txt')).toMatch(/^age-encryption\.org\/v1\n/);
      expect(other.faults).toEqual([]);
      await other.context.close();
    });

    test.each(['before it arrives', 'after it was stored'] as const)(
      'resumes an upload paused at its last chunk, %s, by an identity and by a key',
      async (when) => {
        const isStored = when === 'after it was stored';
        const name = `${when}.bin`;
        const large = { name, mimeType: '', buffer: Buffer.alloc(4_000_000, 7) };
        const other = await tested.open();
        await other.page.goto(`${tested.pages.url}/#key=${apiKey}&bucket=post`);
        await page.goto(`${tested.pages.url}/#/files/quiet/`);
        const sending = /\/call$/;
        for (const [uploading, bucket] of [
          [page, 'quiet'],
          [other.page, 'post'],
        ] as const) {
          const open = () =>
            tested.storage.buckets.get(bucket).then(({ openUploads }) => openUploads);
          let chunks = 0;
          const held: Route[] = [];
          // Holds back the last chunk, or the response to it, until the upload is paused.
          await uploading.route(sending, async (route) => {
            const isChunk = (route.request().postDataBuffer()?.length ?? 0) > 100_000;
            if (isChunk) chunks += 1;
            if (!isChunk || chunks < 3) return route.continue();
            if (isStored) await route.fetch();
            held.push(route);
          });
          await uploading.getByLabel('Upload files').last().setInputFiles([large]);
          await expect.poll(() => held.length).toBe(1);
          if (isStored) await expect.poll(open).toBe(0);
          await uploading.getByRole('button', { name: 'Pause' }).click();
          for (const route of held) await route.abort();
          await uploading.unroute(sending);
          await uploading.getByRole('button', { name: 'Continue' }).click();
          await uploading.getByText('1 file uploaded.').waitFor();
          const { bytes } = await tested.storage.download({ bucket, path: name });
          expect(Buffer.compare(await bytes(), large.buffer)).toBe(0);
          await expect.poll(open).toBe(0);
        }
        await other.context.close();
      },
    );

    test('is created by its owner, who adds a recipient and rotates its identity', async () => {
      await page.goto(`${tested.pages.url}/#/`);
      await page.getByRole('button', { name: 'Create a bucket' }).click();
      await page.getByLabel('Name of the bucket').fill('fresh-start');
      await page.getByLabel('End-to-end').check();
      await page.getByLabel('Also encrypt the names').check();
      await page.getByRole('dialog').getByRole('button', { name: 'Create a bucket' }).click();
      await page.getByRole('link', { name: 'Settings' }).click();
      await page.getByText('Their names are encrypted too.').waitFor();
      const made = await tested.storage.buckets.get('fresh-start');
      expect(made.endToEnd).toMatchObject({ usesVetKeys: true, sealsNames: true });
      const [first] = made.endToEnd?.epochs ?? [];
      expect(first?.recipient).toMatch(/^age1/);
      const section = page.getByRole('region', { name: 'End-to-end encryption' });
      await page.getByLabel('Recipient, age1…').fill('age1nobody');
      await section.getByRole('button', { name: 'Add' }).click();
      await page.getByRole('alert').waitFor();
      const own = await identityToRecipient(await generateX25519Identity());
      await page.getByLabel('Recipient, age1…').fill(own);
      await section.getByRole('button', { name: 'Add' }).click();
      await page.getByText('Added. This applies to new files.').waitFor();
      await page.getByRole('button', { name: 'Rotate the identity' }).click();
      await page.getByText('Identity 2, created').waitFor();
      const { endToEnd } = await tested.storage.buckets.get('fresh-start');
      expect(endToEnd?.recipients).toEqual([own]);
      expect(endToEnd?.epochs[1]?.recipient).toMatch(/^age1/);
      expect(endToEnd?.epochs[1]?.recipient).not.toBe(first?.recipient);
      await page.getByRole('button', { name: 'Remove age1' }).click();
      await page.getByText('Removed. This applies').waitFor();
      await page.getByRole('button', { name: 'Switch it off' }).click();
      await page.getByText('whoever runs the service could read them').waitFor();
      await page.getByRole('button', { name: 'Make it end-to-end' }).click();
      await page.getByText('Names, sizes and times are visible.').waitFor();
      await page.getByText('Identity 1, created').waitFor();
      expect(visit.faults).toEqual([]);
    });
  });

  describe('a recipient of a link', () => {
    let visit: Visit;
    let page: Page;

    beforeAll(async () => {
      visit = await tested.open();
      page = visit.page;
      const { storage } = tested;
      await storage.buckets.create(bucket, { endToEnd: {} });
      const quiet = ['notes.txt', "it's.txt"].map(
        (path) => [path, 'the harbour is quiet'] as const,
      );
      const texts = [...hostile, ...quiet];
      const files = texts.map(([path, text]) => ({ path, source: new Blob([text]) }));
      const image = { path: 'summer/harbour.png', source: await picture(page) };
      for await (const { error } of storage.uploadAll([...files, image], { bucket })) {
        expect(error).toBeUndefined();
      }
    });
    afterAll(async () => {
      await visit?.context.close();
    });

    /** Returns a link at the address of the page's server. */
    async function linkTo(path: string, expiresAt?: Date): Promise<URL> {
      const { url } = await tested.storage.links.create({ bucket, path, expiresAt });
      return tested.linkAtPage(url);
    }

    async function go(link: URL | string): Promise<void> {
      // Otherwise only the fragment of the same document would change.
      await page.goto('about:blank');
      await page.goto(String(link));
    }

    test('sees the file, its name and size, saves it, and reloads', async () => {
      const link = await linkTo('summer/harbour.png');
      await go(link);
      await page.getByRole('heading', { level: 1, name: 'harbour.png' }).waitFor();
      await page.getByText('It was encrypted before it was sent').waitFor();
      const shown = page.getByRole('img', { name: 'harbour.png' });
      const width = () => shown.evaluate((image) => (image as HTMLImageElement).naturalWidth);
      await expect.poll(width).toBe(640);
      const saving = page.waitForEvent('download');
      await page.getByRole('button', { name: 'Download' }).click();
      const saved = await saving;
      expect(saved.suggestedFilename()).toBe('harbour.png');
      const bytes = await readFile((await saved.path()) ?? '');
      expect(bytes.subarray(1, 4).toString()).toBe('PNG');
      await page.reload();
      await expect.poll(width).toBe(640);
      expect(visit.faults).toEqual([]);
    });

    test('sends the fragment to nobody, and it disappears from the address bar at once', async () => {
      const link = await linkTo('notes.txt');
      const ending = link.hash.slice(1);
      expect(ending.length).toBeGreaterThan(20);
      await go(link);
      await page.getByText('the harbour is quiet').waitFor();
      expect(page.url()).toBe(link.href.slice(0, -link.hash.length));
      expect(await page.evaluate(() => JSON.stringify(history.state))).toBe('null');
      expect(tested.pages.requests.filter((request) => request.includes(ending))).toEqual([]);
      const file = link.pathname.split('/').slice(-2).join('/');
      const asked = tested.pages.requests.filter((request) => request.includes(file));
      expect(asked.length).toBeGreaterThan(1);
      await page.goto(tested.pages.url);
      await page.goBack();
      await page.getByText('the harbour is quiet').waitFor();
      expect(page.url()).not.toContain('#');
    });

    test('gets an explanation of a wrong address', async () => {
      const link = await linkTo('notes.txt');
      const other = await linkTo('page.html');
      const failure = () => page.getByRole('alert').textContent();
      await go(link.href.slice(0, -3));
      await expect.poll(failure).toMatch(/end of this address does not decrypt the file/);
      // Only the fragment changes, so no page loads. `page.goto` waits for a navigation that may
      // have finished before it listens, because the console removes the fragment at once. It then
      // reads the page anew, maybe before `page.evaluate` has returned.
      const changeFragment = (href: string) =>
        page
          .evaluate((address) => window.location.assign(address), href)
          .catch((error) => expect(String(error)).toContain('context was destroyed'));
      await changeFragment(link.href.replace(link.hash, other.hash));
      await expect.poll(failure).toMatch(/another file has replaced it/);
      await changeFragment(link.href);
      await page.getByText('the harbour is quiet').waitFor();
      const fresh = await tested.open();
      await fresh.page.goto(link.href.replace(link.hash, ''));
      await fresh.page.getByText('after #, is missing').waitFor();
      const saving = fresh.page.waitForEvent('download');
      await fresh.page.getByRole('button', { name: 'Download' }).click();
      expect((await saving).suggestedFilename()).toBe('notes.txt.age');
      await fresh.context.close();
    });

    test('gets a command for a file that is too large for the page', async () => {
      const link = await linkTo("it's.txt");
      // Answers as if the file had 400 MB.
      await page.route(/\?k=/, async (route) => {
        if (route.request().resourceType() === 'document') return route.continue();
        const { pathname, search } = new URL(route.request().url());
        const response = await fetch(`${tested.service.base}${pathname}${search}`);
        const body = Buffer.alloc(2_000_000);
        Buffer.from(await response.arrayBuffer()).copy(body);
        const sizes = { 'content-range': 'bytes 0-1999999/400000000', 'content-length': '2000000' };
        const headers = { ...Object.fromEntries(response.headers), ...sizes };
        return route.fulfill({ status: 206, headers, body });
      });
      await go(link);
      await page.getByRole('heading', { name: "it's.txt" }).waitFor();
      const volume = `http://${tested.service.canisterId}.localhost:${link.port}`;
      const file = link.pathname.split('/').slice(-2).join('/').replaceAll("'", '%27');
      const address = `${volume}/s/${file}${link.search}${link.hash}`;
      await page.getByText(`npx efs get "${address}"`).waitFor();
      expect(await page.getByRole('button', { name: 'Download' }).count()).toBe(0);
      await page.unroute(/\?k=/);
    });

    test('reads that a link was removed, does not exist, or is incomplete', async () => {
      const link = await linkTo('notes.txt');
      const [, , , id = ''] = link.pathname.split('/');
      await tested.storage.links.remove(bucket, id);
      const other = await linkTo('page.html');
      other.search = '?k=AAAAAAAAAAAAAAAAAAAAAA';
      for (const dead of [link, other, `${tested.pages.url}/s/none/notes.txt?k=x#AAAA`]) {
        await go(dead);
        await expect
          .poll(() => page.getByRole('alert').textContent())
          .toMatch(/expired or was removed/);
      }
    });

    test.each(hostile)('is not harmed by %s', async (path, _, shown) => {
      await go(await linkTo(path));
      await page.getByRole('region', { name: 'Preview' }).locator(shown).waitFor();
      expect(await page.title()).toBe('Files');
      expect(await page.locator('a[href^="javascript"]').count()).toBe(0);
    });
  });
});
