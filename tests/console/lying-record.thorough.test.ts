// A node that returns other members or settings of a bucket than the network signs.

import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { newIdentity, principalOf } from '../../scripts/local-service.ts';
import { forgedRecords, swapNames } from '../support/forged-records.ts';
import { isBrowserUnwanted, type Visit } from './support/browser.ts';
import { openConsole, shownPrincipal, type TestedConsole } from './support/console.ts';

describe.skipIf(isBrowserUnwanted)('if a node lies about a bucket, the console', () => {
  const ann = principalOf(newIdentity()).toText();
  const bob = principalOf(newIdentity()).toText();
  let tested: TestedConsole;
  let visit: Visit;
  let page: Page;

  beforeAll(async () => {
    tested = await openConsole({ faults: {} });
    visit = await tested.open();
    page = visit.page;
    await page.goto(tested.pages.url);
    await page.getByRole('button', { name: 'Use a key on this device' }).click();
    const self = { principal: await shownPrincipal(page), role: 'owner' };
    const { storage } = tested;
    await storage.buckets.create('team');
    await storage.buckets.create('posters', { isPublic: true });
    const addMembers = [
      { principal: ann, role: 'reader', name: 'Ann' },
      { principal: bob, role: 'reader', name: 'Bob' },
    ];
    await storage.buckets.update('team', { addMembers: [self] });
    await storage.buckets.update('team', { addMembers });
    await storage.buckets.update('posters', { addMembers: [self] });
    await storage.upload(new Blob(['secret']), { bucket: 'team', path: 'plan.txt' });
  });
  afterEach(() => tested.service.replica?.setFaults({}));
  afterAll(async () => {
    await visit?.context.close();
    await tested?.close();
  });

  const open = async (address: string) => {
    await page.goto('about:blank');
    await page.goto(`${tested.pages.url}/#/${address}`);
  };
  const row = (name: string) => page.getByRole('listitem').filter({ hasText: name });

  test('removes the member whose name the network signs', async () => {
    tested.service.replica?.setFaults({ forge: forgedRecords('team', swapNames) });
    const { members } = await tested.storage.buckets.get('team');
    expect(members.find(({ principal }) => principal === ann)?.name).not.toBe('Ann');
    await open('bucket/team');
    await row('Ann').filter({ hasText: ann }).waitFor();
    await page.getByRole('button', { name: 'Remove Ann' }).click();
    await page.getByText('Removed, with the keys').waitFor();
    const left = await tested.storage.buckets.get('team', { certified: true });
    expect(left.members.map(({ name }) => name)).toContain('Bob');
    expect(left.members.map(({ principal }) => principal)).not.toContain(ann);
  });

  test('moves no file to a bucket that the node calls private but that is public', async () => {
    const forge = forgedRecords('posters', (record) => {
      record.isPublic = false;
    });
    tested.service.replica?.setFaults({ forge });
    await open('files/team/');
    await page.getByLabel('Select plan.txt', { exact: true }).check();
    await page.getByRole('button', { name: 'Move', exact: true }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Bucket').selectOption('posters');
    const move = dialog.getByRole('button', { name: /^Move / });
    expect(await dialog.getByText('everybody can read').count()).toBe(0);
    await move.click();
    await dialog.getByText('The settings of posters are others than shown before.').waitFor();
    await dialog.getByText('The bucket posters is public: everybody can read').waitFor();
    await expect(tested.storage.stat({ bucket: 'team', path: 'plan.txt' })).resolves.toBeDefined();
    await move.click();
    await page.getByText('1 entry moved to').waitFor();
    await expect(
      tested.storage.stat({ bucket: 'posters', path: 'plan.txt' }),
    ).resolves.toBeDefined();
  });
});
