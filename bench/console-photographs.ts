// Measures how long the console takes to show a folder of photographs by their thumbnails, on a
// network as slow as the mainnet.

import type { Page } from 'playwright-core';
import { makeHeader } from '../packages/client/src/age/header.ts';
import { sealThumbnail } from '../packages/client/src/age/thumbnails.ts';
import { concatBytes } from '../packages/client/src/bytes/bytes.ts';
import { nodeSegmentCipher } from '../packages/client/src/node/segment-cipher.ts';
import type { Visit } from '../tests/console/support/browser.ts';
import {
  openConsole,
  shownPrincipal,
  type TestedConsole,
} from '../tests/console/support/console.ts';
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

interface Photograph {
  readonly path: string;
  readonly bytes: Uint8Array;
  readonly thumbnail: Uint8Array;
}

async function photographsOf(picture: Uint8Array, recipients: string[]): Promise<Photograph[]> {
  const paths = Array.from({ length: count }, (_, index) => `photos/${10_000 + index}.jpg`);
  const made = paths.map(async (path) => {
    const bytes = sampleBytes(path, photoBytes);
    if (recipients.length === 0) return { path, bytes, thumbnail: picture };
    const header = await makeHeader({ recipients });
    const thumbnail = await sealThumbnail(picture, header, nodeSegmentCipher);
    return { path, bytes: concatBytes(header.prefix, bytes), thumbnail };
  });
  return Promise.all(made);
}

/** Fills the folder by calls within the process, which the profile does not slow down. */
async function fill(service: Service, bucketId: string, all: Photograph[]): Promise<void> {
  const owner = personOf(service, 'owner');
  for (let start = 0; start < count; start += batchFiles) {
    const files = all.slice(start, start + batchFiles).map(({ path, bytes }) => ({
      ...{ path, bytes, contentType: [], tags: [], headers: [] },
      ...{ metadata: [], sha256: [], ifMatch: [], ifNoneMatch: [] },
    }));
    await owner.get('uploadFiles', { bucketId, apiKey: [], files });
  }
  for (const { path, bytes, thumbnail } of all) {
    const etag = sha256Hex(bytes);
    await owner.get('putThumbnail', { bucketId, path, etag, bytes: thumbnail, apiKey: [] });
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

/** Signs in as a member of a new end-to-end bucket, and returns its recipients. */
async function joinBucket({ storage, pages }: TestedConsole, { page }: Visit, bucket: string) {
  await page.goto(pages.url);
  await page.getByRole('button', { name: 'Use a key on this device' }).click();
  const principal = await shownPrincipal(page);
  await storage.buckets.create(bucket, { endToEnd: {} });
  await storage.buckets.update(bucket, { addMembers: [{ principal, role: 'reader' }] });
  // The owner's first upload publishes the recipient.
  await storage.upload(new Blob(['text']), { bucket, path: 'note.txt' });
  const { endToEnd } = await storage.buckets.get(bucket);
  return endToEnd?.epochs.flatMap(({ recipient }) => recipient ?? []) ?? [];
}

/** Measures an ordinary bucket, or an end-to-end bucket whose page decrypts the thumbnails. */
export async function photographs(kind: 'plain' | 'end-to-end'): Promise<Photographs> {
  const tested = await openConsole({ profile: 'mainnet', seed: 1 });
  try {
    const isPlain = kind === 'plain';
    const bucket = isPlain ? 'demo' : 'safe';
    const first = await tested.open();
    const picture = await thumbnail(first.page);
    const recipients = isPlain ? [] : await joinBucket(tested, first, bucket);
    await fill(tested.service, bucket, await photographsOf(picture, recipients));
    const opened: number[] = [];
    const scrolled: number[] = [];
    for (let round = 0; round < rounds; round++) {
      // The key of an end-to-end bucket's member is in the first visitor's browser.
      const visit = isPlain ? await tested.open() : first;
      const { page } = visit;
      if (isPlain) await tested.signIn(visit);
      else await page.goto(`${tested.pages.url}/?${round}#/files/${bucket}/`);
      const link = page.getByRole('link', { name: 'photos', exact: true });
      await link.waitFor();
      opened.push(await untilShown(page, '10000.jpg', () => link.click()));
      const last = `${10_000 + count - 1}.jpg`;
      scrolled.push(await untilShown(page, last, () => scrollTo(page, last)));
      if (isPlain) await visit.context.close();
    }
    const size = `${Math.round(picture.length / 1_000)} kB`;
    const files = `${count.toLocaleString('en')} photographs`;
    const place = isPlain ? '' : ' in an end-to-end bucket';
    return {
      name: `a folder of ${files} with thumbnails of ${size}${place} at the mainnet's speed`,
      openedMs: median(opened),
      scrolledMs: median(scrolled),
    };
  } finally {
    await tested.close();
  }
}
