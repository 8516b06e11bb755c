// A canister that freezes while the page is open: every view immediately says that cycles are
// missing, and shows the command that adds them.

import { Principal } from '@dfinity/principal';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { principalOf } from '../../scripts/local-service.ts';
import { manage } from '../replica/conformance/management-client.ts';
import { frozenWords } from '../support/canister-words.ts';
import { isBrowserUnwanted } from './support/browser.ts';
import { openConsole, type TestedConsole } from './support/console.ts';

/** A threshold that no amount of cycles can cover. */
const freezingSeconds = 2n ** 58n;
const usualSeconds = 2_592_000n;

describe.skipIf(isBrowserUnwanted)('a frozen canister', () => {
  let tested: TestedConsole;

  beforeAll(async () => {
    tested = await openConsole();
  });
  afterAll(() => tested?.close());

  async function setThreshold(seconds: bigint): Promise<void> {
    const { identityPem, canisterId, replica } = tested.service;
    await manage(replica as never, 'update_settings', {
      sender: principalOf(identityPem),
      canister_id: Principal.fromText(canisterId),
      settings: { freezing_threshold: seconds },
    });
  }

  /** Returns the pattern of the refusal, which may contain the number of missing cycles. */
  const words = (): RegExp => {
    const [before = '', after = ''] = frozenWords(tested.service.canisterId).split(', so it');
    const escaped = [before, after].map((text) => text.replace(/[().]/g, '\\$&'));
    return new RegExp(escaped.join('(?: by \\d+ cycles)?, so it'));
  };

  /** Signs in, and freezes the canister during the work. */
  async function whileFrozen(work: (page: Page) => Promise<void>): Promise<Page> {
    const visit = await tested.open();
    const { page } = visit;
    await tested.signIn(visit);
    await page.getByText('Nothing here yet.').waitFor();
    await setThreshold(freezingSeconds);
    try {
      await work(page);
    } finally {
      await setThreshold(usualSeconds);
    }
    return page;
  }

  async function lookAtBuckets(page: Page): Promise<void> {
    await page.goto(`${tested.pages.url}/#/`);
    await page.getByRole('heading', { level: 1, name: 'Your buckets' }).waitFor();
  }

  test('is reported with the command that tops it up, in a folder, the list of buckets and an upload', async () => {
    const page = await whileFrozen(async (page) => {
      let attempts = 0;
      page.on('request', (request) => {
        if (request.url().includes('/api/')) attempts += 1;
      });
      const file = { name: 'a.txt', mimeType: 'text/plain', buffer: Buffer.from('hello') };
      await page.getByLabel('Upload files').last().setInputFiles(file);
      await page.getByText(words()).waitFor();
      // No request is repeated, because waiting does not help: one is for the bucket's mode, one
      // for the file.
      expect(attempts).toBeLessThanOrEqual(3);
      await page.goto(`${tested.pages.url}/#/files/demo/other/`);
      await page.getByRole('alert').filter({ hasText: words() }).waitFor();
      await lookAtBuckets(page);
      await page.getByRole('alert').filter({ hasText: words() }).waitFor();
    });
    await page.getByRole('alert').getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('link', { name: 'demo' }).waitFor();
  });

  test('is reported if a part of the page cannot load', async () => {
    await whileFrozen(async (page) => {
      await page.goto(`${tested.pages.url}/#/bucket/demo`);
      await page.getByRole('alert').filter({ hasText: words() }).waitFor();
    });
  });
});
