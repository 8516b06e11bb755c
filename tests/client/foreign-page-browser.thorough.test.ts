// A page of another origin in Chromium, with a key and without, at both kinds of gateway: one that
// passes OPTIONS on to canisters, and one that answers OPTIONS itself and allows no `Authorization`.

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { build } from 'esbuild';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ConsoleBrowser, isBrowserUnwanted, openBrowser } from '../console/support/browser.ts';
import { openPageServer, type PageServer } from '../console/support/page-server.ts';
import { readPages } from '../documents/support/pages.ts';
import { changeOf, personOf } from '../support/people.ts';
import { openService, type Service, sampleBytes, sha256Hex } from '../support/service.ts';
import { projectDir } from '../tidy/source-tree.ts';

const size = 4_000_000;
const script = `
  import * as library from './packages/client/src/index.ts';
  Object.assign(globalThis, library);
  globalThis.digestOf = async (bytes) =>
    Array.from(new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)),
      (byte) => byte.toString(16).padStart(2, '0')).join('');
  globalThis.download = async (opening) => {
    const { etag, bytes } = await opening;
    return { digest: await digestOf(await bytes()), isTagged: etag !== '' };
  };`;

/** The page with a key as docs/how-to/browser-app.md shows it. */
function documentedPage(): { readonly html: string; readonly program: string } {
  const page = readPages().find(({ path }) => path === 'docs/how-to/browser-app.md');
  const blocks = page?.blocks ?? [];
  const at = blocks.findIndex(({ text }) => text.includes('createStorage({ url, apiKey })'));
  const [program, html] = blocks.slice(at, at + 2);
  if (program === undefined || html?.language !== 'html') throw new Error('no page with a key');
  return { html: html.text, program: program.text };
}

interface Opened {
  readonly service: Service;
  /** Proxy in front of the gateway that records the browser's requests. */
  readonly gateway: PageServer;
  readonly pages: Server;
  readonly page: Page;
}

async function bundled(contents: string): Promise<string> {
  const client = join(projectDir, 'packages/client/src/index.ts');
  const made = await build({
    stdin: { contents, resolveDir: projectDir, loader: 'ts' },
    alias: { '@encrypted-file-storage/client': client },
    ...{ bundle: true, format: 'esm', write: false },
  });
  return made.outputFiles?.[0]?.text ?? '';
}

async function open(
  browser: ConsoleBrowser,
  preflights: 'passed-on' | 'answered',
): Promise<Opened> {
  const service = await openService({ preflights });
  const gateway = await openPageServer(service.base);
  const { html, program } = documentedPage();
  const settings = JSON.stringify([gateway.url, service.apiKey]);
  const files: Readonly<Record<string, string>> = {
    '/': '<!doctype html><script type="module" src="/page.js"></script>',
    '/page.js': await bundled(script),
    '/documented': `${html}<script type="module" src="/documented.js"></script>`,
    '/documented.js': await bundled(`const [url, apiKey] = ${settings};\n${program}`),
  };
  const pages = createServer(({ url = '' }, response) => {
    response.setHeader('Content-Type', url.endsWith('.js') ? 'text/javascript' : 'text/html');
    response.end(files[url]);
  });
  await new Promise<void>((resolve) => pages.listen(0, 'localhost', resolve));
  const { page } = await browser.open();
  await page.goto(`http://localhost:${(pages.address() as AddressInfo).port}/`);
  await page.waitForFunction('globalThis.download !== undefined');
  return { service, gateway, pages, page };
}

describe.skipIf(isBrowserUnwanted).each(['passed-on', 'answered'] as const)(
  'a page of another origin at a gateway with OPTIONS %s',
  (preflights) => {
    let browser: ConsoleBrowser;
    let opened: Opened;
    const bytes = sampleBytes('abroad', size);
    const passesTags = preflights === 'passed-on';

    beforeAll(async () => {
      browser = await openBrowser();
      opened = await open(browser, preflights);
      const owner = personOf(opened.service, 'owner');
      await owner.get('updateBucket', changeOf('demo', { isPublic: [false] }));
    });
    afterAll(async () => {
      await browser?.close();
      opened?.pages.close();
      await opened?.gateway.close();
      await opened?.service.stop();
    });

    /** Runs the code in the page, with `url`, `apiKey`, a `storage` of both, and a file `name`. */
    function run<T>(code: string): Promise<T> {
      const [url, apiKey] = [opened.gateway.url, opened.service.apiKey].map((text) =>
        JSON.stringify(text),
      );
      return opened.page.evaluate(`(async () => {
        const [url, apiKey] = [${url}, ${apiKey}];
        const storage = createStorage({ url, apiKey });
        const name = { bucket: 'demo', path: 'abroad.bin' };
        ${code}
      })()`) as Promise<T>;
    }

    const preflightsBelow = (path: string) =>
      opened.gateway.requests.filter((line) => line.startsWith(`OPTIONS ${path}`));

    test('createStorage() with a key stores and reads private files, with the key in no address or header', async () => {
      const text = Buffer.from(bytes).toString('base64');
      const listed = await run<string[]>(`
        const bytes = Uint8Array.from(atob(${JSON.stringify(text)}), (one) => one.charCodeAt(0));
        await storage.upload(bytes, { ...name, contentType: 'a/b' });
        const paths = [];
        for await (const { path } of storage.list({ bucket: 'demo' })) paths.push(path);
        return paths;`);
      expect(listed).toContain('abroad.bin');
      const got = await run('return download(storage.download(name));');
      expect(got).toEqual({ digest: sha256Hex(bytes), isTagged: true });
      expect(opened.gateway.requests.join('\n')).not.toContain(opened.service.apiKey);
      expect(preflightsBelow('/cloud')).toEqual([]);
    });

    test('createStorage() in the documented page stores a file and shows its link', async () => {
      const page = await opened.page.context().newPage();
      await page.goto(`${new URL(opened.page.url()).origin}/documented`);
      const buffer = Buffer.from('a note');
      await page.setInputFiles('input', { name: 'note.txt', mimeType: 'text/plain', buffer });
      const shown = page.locator('output', { hasText: '/s/' });
      await shown.waitFor();
      const link = await shown.innerText();
      expect(link.startsWith(`${opened.gateway.url}/s/`)).toBe(true);
      const read = `fetch(${JSON.stringify(link)}).then((response) => response.text())`;
      expect(await page.evaluate(read)).toBe('a note');
      await page.close();
    });

    test('openLink() reads a file without a preflight', async () => {
      const got = await run(`
        const link = await storage.links.create(name);
        return download(openLink(link.url));`);
      expect(got).toEqual({ digest: sha256Hex(bytes), isTagged: passesTags });
      expect(preflightsBelow('/s/')).toEqual([]);
    });

    test('createHttpStorage() reads public files without a preflight', async () => {
      const owner = personOf(opened.service, 'owner');
      await owner.get('updateBucket', changeOf('demo', { isPublic: [true] }));
      const digest = sha256Hex(bytes);
      const overHttp = 'return download(createHttpStorage({ url }).download(name));';
      expect(await run(overHttp)).toEqual({ digest, isTagged: passesTags });
      const keyless = 'return download(createStorage({ url }).download(name));';
      expect(await run(keyless)).toEqual({ digest, isTagged: true });
      expect(preflightsBelow('/cloud')).toEqual([]);
    });

    test('PUT /api/v1 with the key is allowed only where OPTIONS is passed on', async () => {
      const status = await run(`
        const headers = { Authorization: 'Bearer ' + apiKey, 'Content-Type': 'text/plain' };
        const target = url + '/api/v1/bucket/demo/files/plain.txt';
        const sent = await fetch(target, { method: 'PUT', body: 'x', headers }).catch(() => undefined);
        return sent?.status ?? 'refused by the browser';`);
      expect(status).toBe(passesTags ? 201 : 'refused by the browser');
    });
  },
);
