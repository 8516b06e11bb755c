// A web site in Chromium through the verifying gateway: modules, styles and data are loaded, and
// scripts run in a unique origin, also on a page that was cached earlier.

import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openPerson, type Person } from '../support/people.ts';
import { openService, type Service } from '../support/service.ts';
import { type Chromium, openChromium } from './support/chromium.ts';

let service: Service;
let owner: Person;
let chromium: Chromium;

const script = `
  import { answer } from './lib.js';
  const seen = { answer, origin: self.origin };
  try { localStorage.setItem('a', 'b'); seen.storage = 'open'; }
  catch (error) { seen.storage = error.name; }
  try { seen.cookie = document.cookie; } catch (error) { seen.cookie = error.name; }
  seen.data = await (await fetch('data.json')).json();
  document.title = JSON.stringify(seen);
`;

beforeAll(async () => {
  service = await openService();
  owner = await openPerson(service, 'owner');
  chromium = await openChromium();
  await put('app/index.html', 'text/html', '<script type=module src=main.js></script><h1>a</h1>');
  await put('app/main.js', 'text/javascript', script);
  await put('app/lib.js', 'text/javascript', 'export const answer = 42;');
  await put('app/data.json', 'application/json', '{"a":1}');
  await put('404.html', 'text/html', '<title>lost</title>');
}, 120_000);

afterAll(async () => {
  await chromium?.close();
  await service?.stop();
});

async function put(path: string, type: string, body: string): Promise<void> {
  const url = `${service.base}/api/v1/bucket/${service.bucket}/files/${path}`;
  const headers = { Authorization: `Bearer ${service.apiKey}`, 'Content-Type': type };
  expect((await fetch(url, { method: 'PUT', headers, body })).ok).toBe(true);
}

const at = (path: string) => `${service.base}/cloud/${service.bucket}/${path}`;

async function setSite(isSite: boolean): Promise<void> {
  const nothing = { quotaBytes: [], quotaFiles: [], keepVersionsDays: [], owner: [] };
  const members = { addMembers: [], removeMembers: [] };
  const change = { bucketId: service.bucket, isPublic: [true], isSite: [isSite] };
  await owner.get('updateBucket', { ...nothing, ...members, ...change });
  const status = isSite ? 200 : 404;
  for (let turn = 0; (await fetch(at('app/'))).status !== status; turn++) {
    expect(turn).toBeLessThan(500);
    await setTimeout(10);
  }
}

test('a page of a site runs its scripts in an opaque origin', async () => {
  const { page } = chromium;
  // The browser caches the page before the bucket is a site, when its scripts are blocked
  await page.goto(at('app/index.html'));
  expect(await page.title()).toBe('');
  await setSite(true);
  for (const path of ['app/index.html', 'app', 'app/']) {
    await page.goto(at(path));
    await page.reload();
    await page.waitForFunction(() => document.title !== '');
    expect(JSON.parse(await page.title()), path).toEqual({
      answer: 42,
      origin: 'null',
      storage: 'SecurityError',
      cookie: 'SecurityError',
      data: { a: 1 },
    });
  }
  expect(page.url()).toBe(at('app/'));
  const lost = await page.goto(at('nowhere/x'));
  expect([lost?.status(), await page.title()]).toEqual([404, 'lost']);
});
