// A broken download of Chromium: it resumes by itself if the server ended the connection, and by
// its user's click in chrome://downloads after a reset.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { openChromium } from './support/chromium.ts';
import { type Case, expectFile, openClientCases } from './support/client-cases.ts';

const cases = openClientCases();
const waitMilliseconds = 30_000;
const lookMilliseconds = 200;
const clickMilliseconds = 1_000;

/**
 * Downloads the file, which must then be complete. Returns how often Resume was clicked, which
 * happens only with `hasUser`.
 */
async function download({ url, target }: Case, hasUser: boolean): Promise<number> {
  const chromium = await openChromium();
  try {
    const { context, page, downloads } = chromium;
    const path = join(downloads, 'large.bin');
    const list = await context.newPage();
    await list.goto('chrome://downloads/');
    // A navigation that becomes a download rejects, like a failed navigation.
    page.goto(url).catch(() => undefined);
    let clicks = 0;
    const end = Date.now() + waitMilliseconds;
    while (!existsSync(path) && Date.now() < end) {
      await page.waitForTimeout(lookMilliseconds);
      if (hasUser && (await clickResume(list))) clicks += 1;
    }
    await expectFile(path, target.file.bytes);
    return clicks;
  } finally {
    await chromium.close();
  }
}

/** Clicks Resume, if the menu of the first download has it; returns whether it did. */
async function clickResume(list: Page): Promise<boolean> {
  const item = list.locator('downloads-item').first();
  const resume = item.locator('#pause-or-resume');
  const options = { timeout: clickMilliseconds };
  try {
    if (!(await item.locator('#more-actions').isVisible())) return false;
    await item.locator('#more-actions').click(options);
    if (/Resume/.test(await resume.innerText(options))) {
      await resume.click(options);
      return true;
    }
    await list.keyboard.press('Escape');
  } catch {
    // The list has changed under the pointer: the next attempt sees the new list.
  }
  return false;
}

function resumed({ proxy }: Case): readonly string[] {
  return proxy.requests.filter(
    (head) => /^range: bytes=[1-9]\d*-\r$/im.test(head) && /^if-range: "/im.test(head),
  );
}

test.each(['end', 'reset'] as const)('a download continues when connections %s', async (manner) => {
  await cases.run(
    `Chromium, ${manner}`,
    async (one) => {
      const clicks = await download(one, manner === 'reset');
      expect(resumed(one)).toHaveLength(3);
      expect(clicks).toBe(manner === 'reset' ? 3 : 0);
    },
    { manner },
  );
});
