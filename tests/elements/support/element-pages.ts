// The pages of docs/how-to/elements.md at an origin of their own, with the bundle that users get,
// under a policy that allows no inline style, in front of a service and a browser.

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { build } from 'esbuild';
import { expect } from 'vitest';
import type { Storage } from '../../../packages/client/src/storage.ts';
import type { UploadLinkRequest } from '../../../packages/client/src/types/upload-links.ts';
import { type ConsoleBrowser, openBrowser, type Visit } from '../../console/support/browser.ts';
import { accessFaults, schemes } from '../../console/support/console.ts';
import { openPageServer, type PageServer } from '../../console/support/page-server.ts';
import { readPages } from '../../documents/support/pages.ts';
import { openService, ownerOf, type Service, type ServiceOptions } from '../../support/service.ts';
import { projectDir } from '../../tidy/source-tree.ts';

export interface ElementPages {
  readonly service: Service;
  /** Proxy in front of the gateway, whose origin the pages use as the service's. */
  readonly gateway: PageServer;
  readonly owner: Storage;
  readonly browser: ConsoleBrowser;
  /** Address of the pages, without a final slash. */
  readonly origin: string;
  /** Sets the answer to `/upload-link` to a new link; returns `putUrl`. */
  link(request?: Partial<UploadLinkRequest>): Promise<string>;
  /** Sets the page at `/`, and opens it. */
  visit(visit: Visit, html: string): Promise<void>;
  close(): Promise<void>;
}

/** Returns the page of docs/how-to/elements.md that contains the words. */
export function documentedHtml(words: string): string {
  const page = readPages().find(({ path }) => path === 'docs/how-to/elements.md');
  const found = (page?.blocks ?? []).filter(({ language, text }) => {
    return language === 'html' && text.includes(words) && text.includes('<body>');
  });
  if (found.length !== 1) throw new Error(`${found.length} pages contain ${words}`);
  return found[0]?.text ?? '';
}

/** A page with the element and no script but that which defines it. */
export function pageWith(element: string): string {
  return `<!doctype html><html lang="en"><head><meta name="color-scheme" content="light dark">
    <title>Test</title><script type="module" src="elements.min.js"></script></head>
    <body><main><h1>Test</h1>${element}</main></body></html>`;
}

async function bundleElements(): Promise<string> {
  const entry = join(projectDir, 'packages/elements/src/index.ts');
  const options = { bundle: true, minify: true, format: 'esm', target: 'es2022' } as const;
  const made = await build({ ...options, entryPoints: [entry], write: false });
  return made.outputFiles[0]?.text ?? '';
}

export async function openElementPages(options?: ServiceOptions): Promise<ElementPages> {
  const service = await openService(options);
  const gateway = await openPageServer(service.base);
  const [browser, script] = await Promise.all([openBrowser(), bundleElements()]);
  const owner = ownerOf(service);
  let [html, link] = ['', {}];
  const policy = [
    "default-src 'none'; script-src 'self' 'unsafe-inline'; form-action 'self'",
    `connect-src 'self' ${gateway.url}; img-src ${gateway.url}; media-src ${gateway.url}`,
  ].join('; ');
  const server = createServer(({ url = '' }, response) => {
    const isScript = url.endsWith('.js');
    const type = isScript
      ? 'text/javascript'
      : url === '/upload-link'
        ? 'application/json'
        : 'text/html';
    response.setHeader('Content-Type', `${type}; charset=utf-8`);
    response.setHeader('Content-Security-Policy', policy);
    response.end(isScript ? script : url === '/upload-link' ? JSON.stringify(link) : html);
  });
  await new Promise<void>((resolve) => server.listen(0, 'localhost', resolve));
  const origin = `http://localhost:${(server.address() as AddressInfo).port}`;
  return {
    ...{ service, gateway, owner, browser, origin },
    async link(request = {}) {
      const made = await owner.uploadLinks.create({
        ...{ bucket: 'demo', prefix: 'inbox/', maxFiles: 0 },
        ...request,
      });
      const { pathname, search } = new URL(made.putUrl, service.base);
      const putUrl = `${gateway.url}${decodeURIComponent(pathname)}${search}`;
      link = { putUrl };
      return putUrl;
    },
    async visit({ page }, text) {
      html = text.replaceAll('https://<canister id>.icp.net', gateway.url);
      await page.goto(`${origin}/`);
      await page.waitForFunction("customElements.get('efs-upload') !== undefined");
    },
    async close() {
      await browser.close();
      await closeServer(server);
      await gateway.close();
      await service.stop();
    },
  };
}

async function closeServer(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
}

/** Fails if axe-core finds a fault, light or dark, or the page broke its policy or threw. */
export async function expectAccessible({ page, faults }: Visit): Promise<void> {
  const found: string[] = [];
  for (const colorScheme of schemes) {
    await page.emulateMedia({ colorScheme });
    found.push(...(await accessFaults(page)).map((fault) => `${colorScheme}: ${fault}`));
  }
  expect(found).toEqual([]);
  expect(faults).toEqual([]);
}
