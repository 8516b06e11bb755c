// Pages of another origin in Chromium: seeking in a film, and `fetch` that reads the fields that it
// needs to continue a broken download.

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Chromium, openChromium } from './support/chromium.ts';
import { openClientCases } from './support/client-cases.ts';
import { type StaticServer, startStaticServer } from './support/static-server.ts';
import type { PublicFile } from './support/target.ts';
import { makeVideo, videoSeconds } from './support/video.ts';

const cases = openClientCases();
const places = [50, 3, 31, videoSeconds - 1, 0.5];
let chromium: Chromium;
let pages: Server;
let origin: string;
let film: PublicFile;
/** The same film from a static server, as the reference. */
let truth: StaticServer;

beforeAll(async () => {
  pages = createServer((_, response) => {
    response.writeHead(200, { 'Content-Type': 'text/html' }).end('<!doctype html><title>.</title>');
  });
  await new Promise<void>((resolve) => pages.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(pages.address() as AddressInfo).port}/`;
  const bytes = await makeVideo();
  film = await cases.target.addFile('page.mp4', 'video/mp4', bytes);
  truth = await startStaticServer();
  truth.add({ path: '/film', contentType: 'video/mp4', bytes });
  chromium = await openChromium();
}, 120_000);
afterAll(async () => {
  await chromium?.close();
  await truth?.stop();
  pages?.closeAllConnections();
  pages?.close();
});

/** Runs in the page: returns the picture at each position of the film, as digests. */
async function seekThrough(url: string): Promise<readonly string[]> {
  const { page } = chromium;
  await page.goto(origin);
  return page.evaluate(
    async ({ src, times }) => {
      const video = document.createElement('video');
      Object.assign(video, { crossOrigin: 'anonymous', muted: true, preload: 'auto', src });
      document.body.append(video);
      const happened = (name: string) =>
        new Promise<void>((resolve, reject) => {
          video.addEventListener(name, () => resolve(), { once: true });
          video.addEventListener('error', () => reject(new Error(video.error?.message)), {
            once: true,
          });
        });
      await happened('loadeddata');
      const canvas = document.createElement('canvas');
      Object.assign(canvas, { width: video.videoWidth, height: video.videoHeight });
      const drawing = canvas.getContext('2d', { willReadFrequently: true });
      const seen: string[] = [`${Math.round(video.duration)} s`];
      for (const time of times) {
        const sought = happened('seeked');
        const shown = new Promise<void>((resolve) => {
          const look = (_: number, { mediaTime }: { readonly mediaTime: number }) => {
            if (Math.abs(mediaTime - time) < 0.1) resolve();
            else video.requestVideoFrameCallback(look);
          };
          video.requestVideoFrameCallback(look);
        });
        video.currentTime = time;
        await Promise.all([sought, shown]);
        drawing?.drawImage(video, 0, 0);
        const pixels = drawing?.getImageData(0, 0, canvas.width, canvas.height).data;
        const digest = await crypto.subtle.digest('SHA-256', pixels ?? new Uint8Array());
        seen.push(`${time}: ${new Uint32Array(digest)[0]}`);
      }
      video.remove();
      return seen;
    },
    { src: url, times: places },
  );
}

test('seeking in a film shows the pictures at each position', async () => {
  const expected = await seekThrough(`http://127.0.0.1:${truth.port}/film`);
  expect(expected[0]).toBe(`${videoSeconds} s`);
  expect(new Set(expected).size, 'different pictures').toBe(1 + places.length);
  await cases.run(
    'video',
    async ({ proxy }) => {
      expect(await seekThrough(`http://127.0.0.1:${proxy.port}${film.path}`)).toEqual(expected);
    },
    // If the first answer ends within its header, Chromium gets no film at all.
    { fromBytes: 50_000, toBytes: 400_000 },
  );
});

test('fetch from another origin reads the headers that it needs, and continues after each interruption', async () => {
  await cases.run('fetch', async ({ url, target }) => {
    const { page } = chromium;
    await page.goto(origin);
    const got = await page.evaluate(async (from) => {
      const names = ['ETag', 'Content-Length', 'Accept-Ranges', 'Last-Modified'];
      names.push('Content-Disposition', 'Content-Range');
      const pieces: Uint8Array[] = [];
      const told: string[] = [];
      let position = 0;
      let size = Number.POSITIVE_INFINITY;
      let etag = '';
      for (let request = 0; position < size && request < 8; request++) {
        const range = { Range: `bytes=${position}-`, 'If-Range': etag };
        const headers: Record<string, string> = position === 0 ? {} : range;
        const answer = await fetch(from, { cache: 'no-store', headers });
        const absent = names.filter((name) => answer.headers.get(name) === null);
        const asked = position === 0 ? 'whole' : 'rest';
        told.push(`${asked}: ${answer.status} without ${absent.join(', ') || 'none'}`);
        etag = answer.headers.get('etag') ?? '';
        if (request === 0) size = Number(answer.headers.get('content-length'));
        const reader = answer.body?.getReader();
        try {
          for (let read = await reader?.read(); read?.value; read = await reader?.read()) {
            pieces.push(read.value);
            position += read.value.length;
          }
        } catch {
          // The connection was cut: the received bytes stay.
        }
      }
      const whole = await new Blob(pieces as BlobPart[]).arrayBuffer();
      const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', whole));
      const hex = [...digest].map((byte) => byte.toString(16).padStart(2, '0')).join('');
      return { bytes: whole.byteLength, sha256: hex, told };
    }, url);
    expect(got.told).toHaveLength(4);
    const fit = ['whole: 200 without Content-Range', 'rest: 206 without none'];
    expect(got.told.filter((told) => !fit.includes(told))).toEqual([]);
    expect(got.bytes).toBe(target.file.bytes.length);
    expect(got.sha256).toBe(target.file.sha256);
  });
});
