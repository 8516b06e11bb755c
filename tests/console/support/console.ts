// One service, one page server and one browser per test file, and visitors who open the page.

import AxeBuilder from 'axe-core';
import type { Page } from 'playwright-core';
import type { Storage } from '../../../packages/client/src/storage.ts';
import { openService, ownerOf, type Service, type ServiceOptions } from '../../support/service.ts';
import { type ConsoleBrowser, openBrowser, type Visit } from './browser.ts';
import { openPageServer, type PageServer } from './page-server.ts';

export interface TestedConsole {
  readonly service: Service;
  readonly pages: PageServer;
  readonly browser: ConsoleBrowser;
  /** Storage of the service's owner. */
  readonly storage: Storage;
  /** Opens a new visitor's blank page, for example with a size and a color scheme. */
  open(options?: Parameters<ConsoleBrowser['open']>[0]): Promise<Visit>;
  /** Signs in with the address that `npm start` prints, and shows the bucket's files. */
  signIn(visit: Visit, bucket?: string): Promise<void>;
  /** Returns the address of a link at the page server. */
  linkAtPage(url: string): URL;
  close(): Promise<void>;
}

/** Opens the console of a front, or without one the console of the storing canister. */
export async function openConsole(
  options: Pick<ServiceOptions, 'hasFront' | 'faults' | 'volumeCount' | 'profile' | 'seed'> = {},
): Promise<TestedConsole> {
  const service = await openService({ hasFront: true, ...options });
  const { base, frontUrl = base, bucket: demo } = service;
  const [pages, browser] = await Promise.all([openPageServer(frontUrl), openBrowser()]);
  return {
    service,
    pages,
    browser,
    storage: ownerOf(service),
    open: (options) => browser.open(options),
    async signIn({ page }, bucket = demo) {
      await page.goto(`${pages.url}/#key=${service.apiKey}&bucket=${bucket}`);
      await page.getByRole('heading', { level: 1, name: bucket }).waitFor();
    },
    linkAtPage(url) {
      const { pathname, search, hash } = new URL(url);
      return new URL(`${pathname}${search}${hash}`, pages.url);
    },
    async close() {
      await browser.close();
      await pages.close();
      await service.stop();
    },
  };
}

/** Returns the principal that the page shows to a member, with the command that adds it. */
export async function shownPrincipal(page: Page): Promise<string> {
  const line = await page.getByText('efs member add').textContent();
  const [principal = ''] = /(?:[a-z2-7]{5}-){10}[a-z2-7]{3}/.exec(line ?? '') ?? [];
  return principal;
}

/** Returns the faults that axe-core finds, each as `rule: element`. */
export async function accessFaults(page: Page): Promise<string[]> {
  // Evaluates through the debugger, which the page's policy does not restrict.
  await page.evaluate(AxeBuilder.source);
  return page.evaluate(async () => {
    const { axe } = globalThis as unknown as { axe: { run(): Promise<AxeResults> } };
    const { violations } = await axe.run();
    return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
  });
}

interface AxeResults {
  readonly violations: readonly {
    readonly id: string;
    readonly nodes: readonly { readonly html: string }[];
  }[];
}

export const sizes = [
  { width: 360, height: 640 },
  { width: 1280, height: 800 },
] as const;

export const schemes = ['light', 'dark'] as const;
