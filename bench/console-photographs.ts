// Measures how long the console takes to show a folder of photographs by their thumbnails, on a
// network as slow as the mainnet.

import type { Page } from 'playwright-core';
import { openConsole } from '../tests/console/support/console.ts';
import { personOf } from '../tests/support/people.ts';
import { type Service, sampleBytes, sha256Hex } from '../tests/support/service.ts';

const count = 1_000;
const batchFiles = 200;
/** Files need only be larger than any thumbnail to show that they are not read. */
const photoBytes = 8_000;
const rounds = 5;

export interface Photographs {
  readonly name: string;
  /** Medians, until each visible row has its picture: after a click, and scrolled to the end. */
  readonly openedMs: number;
  readonly scrolledMs: number;
}

/** Returns a WebP picture of noise, 320 × 240 pixels. */
async function thumbnail(page: Page): Promise<Uint8Array> {
  await page.goto('about:blank');
  const address = await page.evaluate(() => {
    const canvas = document.createElement('canvas');
    [canvas.width, canvas.height] = [320, 240];
    const paint = canvas.getContext('2d');
    for (let index = 0; index < 1_200; index++) {
      if (paint === null) break;
      paint.fillStyle = `hsl(${(index * 47) % 360} 60% ${30 + (index % 50)}%)`;
      paint.fillRect((index * 73) % 320, (index * 151) % 240, 24, 18);
    }
    return canvas.toDataURL('image/webp', 0.8);
  });
  return Buffer.from(address.slice(address.indexOf(',') + 1), 'base64');
}

/** Fills the folder by calls within the process, which the profile does not slow down. */
async function fill(service: Service, picture: Uint8Array): Promise<void> {
  const owner = personOf(service, 'owner');
  const paths = Array.from({ length: count }, (_, index) => `photos/${10_000 + index}.jpg`);
  const bucketId = 'demo';
  for (let start = 0; start < count; start += batchFiles) {
    const files = paths.slice(start, start + batchFiles).map((path) => ({
      ...{ path, bytes: sampleBytes(path, photoBytes), contentType: [], tags: [], headers: [] },
      ...{ metadata: [], sha256: [], ifMatch: [], ifNoneMatch: [] },
    }));
    await owner.get('uploadFiles', { bucketId, apiKey: [], files });
  }
  for (const path of paths) {
    const etag = sha256Hex(sampleBytes(path, photoBytes));
    await owner.get('putThumbnail', { bucketId, path, etag, bytes: picture, apiKey: [] });
  }
}

/** Waits until each row in the list's window has a picture that is drawn; returns the time. */
async function untilShown(page: Page, name: string, act: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await act();
  await page.getByRole('row', { name }).waitFor();
  await page.waitForFunction(() => {
    const list = document.querySelector('[role=rowgroup]');
    const place = list?.getBoundingClientRect();
    const rows = [...(list?.querySelectorAll('[role=row]') ?? [])].filter((row) => {
      const { top, bottom } = row.getBoundingClientRect();
      return place !== undefined && bottom > place.top && top < place.bottom;
    });
    const pictures = rows.map((row) => row.querySelector('img'));
    return rows.length > 3 && pictures.every((one) => one !== null && one.naturalWidth > 0);
  });
  return performance.now() - start;
}

/** The list loads further pages when its end is near. */
async function scrollTo(page: Page, name: string): Promise<void> {
  while ((await page.getByRole('row', { name }).count()) === 0) {
    await page.evaluate(() => {
      const list = document.querySelector('[role=rowgroup]');
      if (list !== null) list.scrollTop = list.scrollHeight;
    });
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

function median(values: readonly number[]): number {
  return [...values].sort((one, other) => one - other)[values.length >> 1] ?? Number.NaN;
}

export async function photographs(): Promise<Photographs> {
  const tested = await openConsole({ profile: 'mainnet', seed: 1 });
  try {
    const first = await tested.open();
    const picture = await thumbnail(first.page);
    await fill(tested.service, picture);
    await first.context.close();
    const opened: number[] = [];
    const scrolled: number[] = [];
    for (let round = 0; round < rounds; round++) {
      const visit = await tested.open();
      const { page } = visit;
      await tested.signIn(visit);
      const link = page.getByRole('link', { name: 'photos', exact: true });
      await link.waitFor();
      opened.push(await untilShown(page, '10000.jpg', () => link.click()));
      const last = `${10_000 + count - 1}.jpg`;
      scrolled.push(await untilShown(page, last, () => scrollTo(page, last)));
      await visit.context.close();
    }
    const size = `${Math.round(picture.length / 1_000)} kB`;
    const files = `${count.toLocaleString('en')} photographs`;
    return {
      name: `a folder of ${files} with thumbnails of ${size} at the mainnet's speed`,
      openedMs: median(opened),
      scrolledMs: median(scrolled),
    };
  } finally {
    await tested.close();
  }
}
