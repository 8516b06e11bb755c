// An upload over a slow line: the page shows sent bytes before the first of its requests is
// answered. bench/client-line.ts measures such lines in full.

import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sampleBytes } from '../support/service.ts';
import { openSlowLine, type SlowLine } from '../support/slow-line.ts';
import { isBrowserUnwanted } from './support/browser.ts';
import { openConsole, shownPrincipal, type TestedConsole } from './support/console.ts';

const fastBytesPerSecond = 20_000_000;
const slowBytesPerSecond = 100_000;
/** More bytes than one call takes, because a call with a whole file reports no progress. */
const bytes = Buffer.from(sampleBytes('film', 2_500_000));
const file = { name: 'film.bin', mimeType: '', buffer: bytes };

describe.skipIf(isBrowserUnwanted)('an upload on a slow line', () => {
  let tested: TestedConsole;
  let line: SlowLine;
  let bytesPerSecond = fastBytesPerSecond;
  /** The line stops after that many uploaded bytes. */
  let upBytesMax = Number.POSITIVE_INFINITY;

  beforeAll(async () => {
    tested = await openConsole();
    const port = Number(new URL(tested.service.host).port);
    const rate = () => (line.bytes.up >= upBytesMax ? 0 : bytesPerSecond);
    line = await openSlowLine(port, { rate: (ms) => (ms < 100 ? 0 : rate()), latencyMs: 20 });
  });
  afterAll(async () => {
    await line?.stop();
    await tested?.close();
  });

  async function signInByKey(page: Page, origin: string): Promise<void> {
    await page.goto(`${origin}/#key=${tested.service.apiKey}&bucket=demo`);
  }

  async function signInByDevice(page: Page, origin: string): Promise<void> {
    await page.goto(origin);
    await page.getByRole('button', { name: 'Use a key on this device' }).click();
    const principal = await shownPrincipal(page);
    await tested.storage.buckets.update('demo', { addMembers: [{ principal, role: 'writer' }] });
    await page.reload();
    await page.getByRole('link', { name: 'demo' }).click();
  }

  test.each([
    ['an API key', signInByKey],
    ['a key of the device', signInByDevice],
  ] as const)(
    'by %s shows bytes before a request is answered',
    async (way, signIn) => {
      const { page, context, faults } = await tested.open();
      const front = new URL(tested.service.frontUrl ?? expect.fail('no front'));
      await signIn(page, `http://${front.hostname}:${line.port}`);
      await page.getByRole('heading', { level: 1, name: 'demo' }).waitFor();
      bytesPerSecond = slowBytesPerSecond;
      // Part of the first chunk passes, so that nothing can be answered.
      page.on('request', (request) => {
        // `postDataBuffer()` has no bytes of a Blob. Other calls are shorter than chunks.
        const { length = Number.POSITIVE_INFINITY } = request.postDataBuffer() ?? {};
        if (request.url().endsWith('/call') && length > 32_768) {
          upBytesMax = Math.min(upBytesMax, line.bytes.up + 20_000);
        }
      });
      const name = `${way}.bin`;
      await page
        .getByLabel('Upload files')
        .last()
        .setInputFiles({ ...file, name });
      const panel = page.getByRole('region', { name: 'Uploads' });
      await panel.getByText(/^[1-9][\d.]* [kM]B of 2\.5 MB/).waitFor();
      expect(upBytesMax).toBeLessThan(Number.POSITIVE_INFINITY);
      bytesPerSecond = fastBytesPerSecond;
      upBytesMax = Number.POSITIVE_INFINITY;
      page.removeAllListeners('request');
      await panel.getByText('1 file uploaded.').waitFor();
      expect((await tested.storage.stat({ bucket: 'demo', path: name })).size).toBe(bytes.length);
      expect(faults).toEqual([]);
      await context.close();
    },
    120_000,
  );
});
