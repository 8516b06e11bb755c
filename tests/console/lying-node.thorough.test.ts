// A node that answers requests below /api/ with a page and a worker of its own. At a volume (a
// canister with files) those paths are not certified, so a browser runs both; at the front (the
// canister with the console) the browser receives neither. The same
// node answers a query for a file with another file.

import { IDL } from '@dfinity/candid';
import type { BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { serviceInterface } from '../../packages/client/src/actor/candid-interface.ts';
import type { QueryFaults } from '../../packages/replica/src/network/query-faults.ts';
import { openService, ownerOf, type Service } from '../support/service.ts';
import { swappedFiles } from '../support/swapped-files.ts';
import { type ConsoleBrowser, isBrowserUnwanted, openBrowser } from './support/browser.ts';

const pagePath = '/api/evil';
const workerPath = '/api/evil.js';
const script =
  "localStorage.setItem('taken', '1'); document.title = 'taken'; " +
  `navigator.serviceWorker.register('${workerPath}');`;
const page = `<!doctype html><title>page</title><script>${script}</script>`;

interface HttpReply {
  readonly headers: readonly [string, string][];
}

/** Keeps the certificate headers of the true answer, and replaces everything else. */
function forge(): NonNullable<QueryFaults['forge']> {
  const method = new Map(serviceInterface()._fields).get('http_request') ?? expect.fail();
  return (query, reply) => {
    if (query.method !== 'http_request') return undefined;
    const [request] = IDL.decode(method.argTypes as never, query.arg as never);
    const { url } = request as unknown as { readonly url: string };
    const isWorker = url === workerPath;
    if (url !== pagePath && !isWorker) return undefined;
    const [{ headers }] = IDL.decode(method.retTypes as never, reply as never) as never as [
      HttpReply,
    ];
    const certificate = headers.filter(([name]) => /^ic-/i.test(name));
    const type = isWorker ? 'text/javascript' : 'text/html';
    const answer = {
      ...{ status_code: 200, headers: [...certificate, ['content-type', type]] },
      ...{ body: Buffer.from(isWorker ? '' : page), upgrade: [], streaming_strategy: [] },
    };
    return new Uint8Array(IDL.encode(method.retTypes as never, [answer]));
  };
}

/** Each attack loads the node's page at the address, and resolves when the browser has it. */
const attacks: Readonly<Record<string, (opener: Page, address: string) => Promise<void>>> = {
  async navigation(opener, address) {
    await opener.goto(address);
  },
  async iframe(opener, address) {
    const answered = opener.waitForResponse(address);
    await opener.setContent(`<iframe src="${address}"></iframe>`);
    await (await answered).finished();
  },
  async popup(opener, address) {
    const opened = opener.context().waitForEvent('page');
    await opener.evaluate((url) => void window.open(url), address);
    await (await opened).waitForLoadState();
  },
};

describe.skipIf(isBrowserUnwanted)('one lying node', () => {
  let service: Service;
  let browser: ConsoleBrowser;

  beforeAll(async () => {
    [service, browser] = await Promise.all([
      openService({ hasFront: true, faults: {} }),
      openBrowser(),
    ]);
    service.replica?.setFaults({ forge: forge() });
  });
  afterAll(async () => {
    await browser?.close();
    await service?.stop();
  });

  const front = () => service.frontUrl ?? expect.fail('no front');
  const volume = () => front().replace(/\/\/[^.]+/, `//${service.canisterId}`);

  /** Returns the script's mark in the storage of the origin, and the origin's number of workers. */
  async function keptAt(context: BrowserContext, origin: string): Promise<unknown[]> {
    const looking = await context.newPage();
    await looking.goto(`${origin}/`);
    return looking.evaluate(async () => {
      const workers = await navigator.serviceWorker.getRegistrations();
      return [localStorage.getItem('taken'), workers.length];
    });
  }

  test.each(Object.keys(attacks))('a %s runs its script at a volume', async (name) => {
    const { page: opener, context } = await browser.open();
    await attacks[name]?.(opener, volume() + pagePath);
    await expect.poll(async () => (await keptAt(context, volume()))[0]).toBe('1');
    // A browser may keep workers of a frame apart from those of a page.
    if (name !== 'iframe') await expect.poll(() => keptAt(context, volume())).toEqual(['1', 1]);
    await context.close();
  });

  test.each(Object.keys(attacks))('a %s runs nothing at the front', async (name) => {
    const { page: opener, context } = await browser.open();
    await attacks[name]?.(opener, front() + pagePath);
    for (const each of context.pages()) {
      for (const frame of each.frames()) expect(await frame.title()).not.toBe('taken');
    }
    expect(await keptAt(context, front())).toEqual([null, 0]);
    await context.close();
  });

  test('a private file that a node replaces by another one is not shown', async () => {
    const owner = ownerOf(service);
    const bucket = 'papers';
    await owner.buckets.create(bucket);
    for (const name of ['contract', 'draft']) {
      const source = new Blob([`text of the ${name}`]);
      await owner.upload(source, { bucket, path: `${name}.txt` });
    }
    const request = { name: 'reader', buckets: [bucket], permissions: ['read'] as const };
    const { secret } = await owner.keys.create(request);
    const { page, context } = await browser.open();
    await page.goto(`${front()}/#key=${secret}&bucket=${bucket}`);
    const openFile = async (name: string) => {
      await page.goto(`${front()}/#/files/${bucket}/`);
      await page.getByRole('link', { name: `${name}.txt` }).click();
    };
    const preview = page.getByRole('region', { name: 'Preview' });
    service.replica?.setFaults({
      forge: swappedFiles({ path: 'contract.txt', other: 'draft.txt' }),
    });
    await openFile('draft');
    await preview.getByText('text of the draft').waitFor();
    await openFile('contract');
    await preview.getByText('A node returned another file than contract.txt').waitFor();
    expect(await preview.textContent()).not.toContain('text of the');
    service.replica?.setFaults({ forge: forge() });
    await page.reload();
    await preview.getByText('text of the contract').waitFor();
    await context.close();
  });

  test('at the front no page can register a worker, not even the console', async () => {
    const { page: console, context } = await browser.open();
    await console.goto(front());
    await console.getByRole('heading', { name: 'Sign in' }).waitFor();
    const register = (path: string) =>
      navigator.serviceWorker.register(path).then(
        () => 'registered',
        () => 'refused',
      );
    expect(await console.evaluate(register, workerPath)).toBe('refused');
    expect(await keptAt(context, front())).toEqual([null, 0]);
    await context.close();
  });
});
