// The console of a front with three volumes shows one service.

import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createServiceStorage } from '../../packages/client/src/index.ts';
import { identityFromPem } from '../../packages/client/src/node/identity.ts';
import type { ServiceStorage } from '../../packages/client/src/service-storage.ts';
import { ownerKeyOf } from '../../scripts/local-service.ts';
import { manage } from '../replica/conformance/management-client.ts';
import { openConsole, type TestedConsole } from './support/console.ts';

const names = ['albums', 'books', 'maps'];

describe('the console of several volumes', () => {
  let tested: TestedConsole;
  let service: ServiceStorage;
  let page: Page;
  let controller: ReturnType<ReturnType<typeof identityFromPem>['getPrincipal']>;

  beforeAll(async () => {
    tested = await openConsole({ volumeCount: 3 });
    const { host, identityPem, frontUrl = '' } = tested.service;
    const identity = identityFromPem(identityPem);
    controller = identity.getPrincipal();
    const [front = ''] = new URL(frontUrl).hostname.split('.');
    service = createServiceStorage({ host, front, identity });
    page = (await tested.open()).page;
    const ownerKey = ownerKeyOf(identityPem);
    await page.goto(`${tested.pages.url}/#owner=${ownerKey}`);
    await page.getByRole('button', { name: 'Create a bucket' }).waitFor();
  });
  afterAll(() => tested?.close());

  test('creates buckets at all volumes and lists them as one', async () => {
    for (const name of names) {
      await page.goto(`${tested.pages.url}/#/`);
      await page.getByRole('button', { name: 'Create a bucket' }).click();
      await page.getByLabel('Name of the bucket').fill(name);
      await page.getByRole('dialog').getByRole('button', { name: 'Create' }).click();
      await page.getByRole('dialog').waitFor({ state: 'detached' });
    }
    await page.goto(`${tested.pages.url}/#/`);
    for (const name of names) await page.getByRole('link', { name }).waitFor();
    const places = await Promise.all(names.map((name) => service.volumeOf(name)));
    expect(new Set(places).size).toBe(3);
  });

  test('uploads to each bucket and shows its files', async () => {
    for (const name of names) {
      await page.goto(`${tested.pages.url}/#/files/${name}/`);
      const file = { name: `${name}.txt`, mimeType: 'text/plain', buffer: Buffer.from(name) };
      await page.getByLabel('Upload files').last().setInputFiles([file]);
      await page.getByRole('link', { name: `${name}.txt` }).waitFor();
      const { bytes } = await service.download({ bucket: name, path: `${name}.txt` });
      expect(Buffer.from(await bytes()).toString()).toBe(name);
    }
  });

  test('the page Service checks each volume, and names one that does not answer', async () => {
    const volume = await service.volumeOf('maps');
    await page.goto(`${tested.pages.url}/#/service`);
    await page.getByRole('heading', { name: `Cycles – ${volume}` }).waitFor();
    const { replica } = tested.service;
    if (replica === undefined) throw new Error('The test needs a local replica');
    const { Principal } = await import('@dfinity/principal');
    const target = { sender: Principal.from(controller), canister_id: Principal.fromText(volume) };
    await manage(replica, 'stop_canister', target);
    await page.getByRole('button', { name: 'Check again' }).click();
    await page.getByText(`The volume ${volume} does not answer`).waitFor();
    // The other volumes' buckets are still listed
    await page.goto(`${tested.pages.url}/#/`);
    const others = names.filter((name) => name !== 'maps');
    for (const name of others) await page.getByRole('link', { name }).waitFor();
    await manage(replica, 'start_canister', target);
  });
});
