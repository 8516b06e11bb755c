// Uppy's plugin for S3 in Chromium, in a page of another origin than the S3 server: the page and the
// signing server of docs/how-to/s3/uppy.md store a large file in parts and a small one whole.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ConsoleBrowser, isBrowserUnwanted, openBrowser } from '../console/support/browser.ts';
import { readPages } from '../documents/support/pages.ts';
import { bundleProgram, programOf } from '../documents/support/programs.ts';
import { openService, type Service, sampleBytes, sha256Hex } from '../support/service.ts';
import { openS3Server, ownerKey, type TestS3Server } from './support/s3-server.ts';

const largeSize = 12_000_000;

function documentedBlocks() {
  const blocks = readPages().find(({ path }) => path === 'docs/how-to/s3/uppy.md')?.blocks ?? [];
  const [program, signing] = blocks.filter(({ language }) => language === 'ts');
  const html = blocks.find(({ language }) => language === 'html');
  if (program && signing && html) return { program, signing, html: html.text };
  throw new Error('docs/how-to/s3/uppy.md has no page or no server');
}

/** Starts the signing server of the page; returns its port. */
async function startSigning(s3Url: string, folder: string) {
  const program = programOf(documentedBlocks().signing)
    .replace('http://127.0.0.1:9000', s3Url)
    .replace('EFS…', ownerKey.accessKeyId)
    .replace("'…'", JSON.stringify(ownerKey.secretAccessKey))
    .replace(
      '.listen(8080)',
      ".listen(0, 'localhost', function () { console.log(this.address().port) })",
    );
  const file = join(folder, 'signing.mjs');
  await writeFile(file, await bundleProgram(program, 'node'));
  const child = spawn(process.execPath, [file], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = await once(child.stdout, 'data');
  return { child, port: Number(`${line}`) };
}

/** Serves the page, and passes requests below /s3/ on to the signing server, as an app would. */
async function openPages(signingPort: () => number): Promise<Server> {
  const { html, program } = documentedBlocks();
  const files: Readonly<Record<string, string>> = {
    '/': `${html}<script type="module" src="/page.js"></script>`,
    '/page.js': await bundleProgram(programOf(program), 'browser'),
  };
  const pages = createServer(async (request, response) => {
    const { url = '', method = 'GET' } = request;
    if (!url.startsWith('/s3/')) {
      response.setHeader('Content-Type', url.endsWith('.js') ? 'text/javascript' : 'text/html');
      response.end(files[url]);
      return;
    }
    const body = method === 'POST' ? await text(request) : null;
    const signed = await fetch(`http://localhost:${signingPort()}${url}`, { method, body });
    response.writeHead(signed.status).end(await signed.text());
  });
  await new Promise<void>((resolve) => pages.listen(0, 'localhost', resolve));
  return pages;
}

describe.skipIf(isBrowserUnwanted)('efs serve s3 with --cors-origin', () => {
  let service: Service;
  let pages: Server;
  let s3Server: TestS3Server;
  let strict: TestS3Server;
  let signing: { readonly child: ChildProcess; readonly port: number };
  let folder: string;
  let browser: ConsoleBrowser;
  let page: Page;
  const seen: string[] = [];

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'efs-uppy-'));
    service = await openService();
    pages = await openPages(() => signing.port);
    const origin = `http://localhost:${(pages.address() as AddressInfo).port}`;
    s3Server = await openS3Server(service, { corsOrigins: [origin] });
    strict = await openS3Server(service, { corsOrigins: ['https://app.example'] });
    signing = await startSigning(s3Server.url, folder);
    browser = await openBrowser();
    ({ page } = await browser.open());
    page.on('console', (message) => seen.push(message.text()));
    page.on('response', (response) => {
      const { pathname } = new URL(response.url());
      seen.push(`${response.request().method()} ${pathname} ${response.status()}`);
    });
    await page.goto(`${origin}/`);
  });

  afterAll(async () => {
    await browser?.close();
    signing?.child.kill();
    pages?.close();
    await s3Server?.stop();
    await strict?.stop();
    await service?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  /** Chooses the file in the page; returns the digest of the stored one. */
  async function stored(name: string, bytes: Uint8Array): Promise<string> {
    const buffer = Buffer.from(bytes);
    await page.setInputFiles('input', { name, mimeType: 'application/x-sample', buffer });
    const shown = page.locator('output', { hasText: 'stored' });
    await shown.waitFor({ timeout: 60_000 }).catch(() => expect.fail(seen.join('\n')));
    expect(await shown.textContent(), seen.join('\n')).toBe('1 stored, 0 failed');
    const download = await s3Server.storage.download({ bucket: 'demo', path: `users/42/${name}` });
    expect(download.contentType).toBe('application/x-sample');
    return sha256Hex(await download.bytes());
  }

  test('Uppy stores 12 MB in parts, by presigned addresses', async () => {
    const bytes = sampleBytes('large', largeSize);
    expect(await stored('large.bin', bytes)).toBe(sha256Hex(bytes));
    const parts = seen.filter((line) => line === 'PUT /demo/users/42/large.bin 200');
    expect(parts).toHaveLength(2);
    expect(seen.join('\n')).not.toMatch(/CORS|Could not read/);
  });

  test('Uppy stores a small file by one presigned address', async () => {
    await page.reload();
    const bytes = sampleBytes('small', 20_000);
    expect(await stored('small file.bin', bytes)).toBe(sha256Hex(bytes));
    const puts = seen.filter((line) => line === 'PUT /demo/users/42/small%20file.bin 200');
    expect(puts).toHaveLength(1);
  });

  test('fetch() reads an error of an allowed origin, and nothing of a server that names another', async () => {
    const read = (url: string) =>
      page.evaluate(
        (address) =>
          fetch(address).then(
            ({ status, headers }) => `${status} ${headers.has('x-amz-request-id')}`,
            (error) => error.name,
          ),
        `${url}/demo/none`,
      );
    expect(await read(s3Server.url)).toBe('404 true');
    expect(await read(strict.url)).toBe('TypeError');
    const put = `fetch(${JSON.stringify(`${strict.url}/demo/x`)}, { method: 'PUT', body: 'x' })`;
    expect(await page.evaluate(`${put}.then(() => '', (error) => error.name)`)).toBe('TypeError');
    expect(strict.log.filter((line) => line.startsWith('PUT'))).toEqual([]);
    expect(strict.log.join('\n')).toContain('OPTIONS /demo/x 403');
  });
});
