// Sharing in the console: links, keys, members, and their revocation.

import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { identityFromPem } from '../../packages/client/src/node/identity.ts';
import { createStorage } from '../../packages/client/src/storage.ts';
import { newIdentity, principalOf } from '../../scripts/local-service.ts';
import { isBrowserUnwanted, type Visit } from './support/browser.ts';
import { openConsole, shownPrincipal, type TestedConsole } from './support/console.ts';

describe.skipIf(isBrowserUnwanted)('an owner', () => {
  let tested: TestedConsole;
  let visit: Visit;
  let page: Page;

  beforeAll(async () => {
    tested = await openConsole();
    visit = await tested.open();
    page = visit.page;
    const options = { bucket: 'demo', path: 'letter.txt' };
    await tested.storage.upload(new Blob(['one'], { type: 'text/plain' }), options);
    await page.goto(tested.pages.url);
    await page.getByRole('button', { name: 'Use a key on this device' }).click();
    const principal = await shownPrincipal(page);
    await tested.storage.buckets.update('demo', { addMembers: [{ principal, role: 'owner' }] });
    await page.goto(`${tested.pages.url}/#/bucket/demo`);
    await page.getByRole('heading', { name: 'Members' }).waitFor();
  });
  afterAll(async () => {
    await visit?.context.close();
    await tested?.close();
  });

  test('makes the bucket private and lets it keep former versions', async () => {
    await page.getByRole('button', { name: 'Make it private' }).click();
    await page.getByText('Private: only members').waitFor();
    await page.getByRole('button', { name: 'Keep them for 30 days' }).click();
    await page.getByText('can be restored for 30 days').waitFor();
    const { isPublic, keepVersionsDays } = await tested.storage.buckets.get('demo');
    expect({ isPublic, keepVersionsDays }).toEqual({ isPublic: false, keepVersionsDays: 30 });
  });

  test('creates a key whose secret is shown once, which signs in elsewhere, and revokes it', async () => {
    await page.getByLabel('Name of the key').fill('Anna');
    // A new key may only read unless more is chosen.
    await page.getByLabel('write', { exact: true }).check();
    await page.getByRole('button', { name: 'Create a key' }).click();
    const secret = await page.getByText(/^efs_[\w-]+$/).textContent();
    await page.getByRole('row', { name: 'Anna read, write' }).waitFor();
    const other = await tested.open();
    await other.page.goto(`${tested.pages.url}/#key=${secret}&bucket=demo`);
    await other.page.getByRole('link', { name: 'letter.txt' }).waitFor();
    await page.getByRole('button', { name: 'Revoke Anna' }).click();
    await expect.poll(() => page.getByText('Anna may').count()).toBe(0);
    await other.page.reload();
    await other.page.getByText('The key is unknown').waitFor();
    await other.context.close();
  });

  test('adds a member, whose principal must be valid, names and removes the member', async () => {
    await page.getByLabel('Member ID').fill('nobody');
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByText('"nobody" is not a principal.').waitFor();
    const other = tested.service.canisterId;
    await page.getByLabel('Member ID').fill(other);
    await page.getByLabel('Role').selectOption('Reader');
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByRole('button', { name: `Remove ${other}` }).waitFor();
    await page.getByLabel('Member ID').fill(other);
    await page.getByRole('region', { name: 'Members' }).getByLabel('Name').fill('Our robot');
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByText('Our robot').waitFor();
    await page.getByRole('button', { name: 'Remove Our robot' }).click();
    await expect.poll(() => page.getByText(other).count()).toBe(0);
  });

  test('downloads and restores a former version, and changes the type of a file', async () => {
    const options = { bucket: 'demo', path: 'letter.txt' };
    await tested.storage.upload(new Blob(['two'], { type: 'text/plain' }), options);
    await page.goto(`${tested.pages.url}/#/file/demo/letter.txt`);
    await page.getByText('two', { exact: true }).waitFor();
    await page.evaluate(() => Reflect.deleteProperty(globalThis, 'showSaveFilePicker'));
    const saved = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download version 1' }).click();
    expect((await saved).suggestedFilename()).toBe('letter (version 1).txt');
    expect(await readFile(await (await saved).path(), 'utf8')).toBe('one');
    await page.getByRole('button', { name: 'Restore version 1' }).click();
    await page.getByText('one', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Edit type, tags and headers' }).click();
    await page.getByLabel('Tags').fill('sea, summer');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('sea, summer').waitFor();
    expect((await tested.storage.stat(options)).tags).toEqual(['sea', 'summer']);
  });

  test('creates a link that a stranger can read until it is revoked', async () => {
    await page.getByRole('button', { name: 'Create a link' }).click();
    const link = await page.getByText(/\/s\/.+\?k=/).textContent();
    await page.getByText(/expires in 7 days/).waitFor();
    const { pathname, search } = new URL(link ?? '');
    const address = tested.service.base + pathname + search;
    expect(await (await fetch(address)).text()).toBe('one');
    await page.getByRole('button', { name: 'Revoke the link' }).click();
    await expect.poll(() => page.getByText(/expires in 7 days/).count()).toBe(0);
    expect((await fetch(address)).status).not.toBe(200);
  });

  test('creates a link with a password, which a stranger opens only with it', async () => {
    await page.getByLabel('Password (optional)').fill('violet');
    await page.getByLabel('Number of downloads').fill('2');
    await page.getByRole('button', { name: 'Create a link' }).click();
    const link = await page.getByText(/p\.[\w-]{22}$/).textContent();
    await page.getByText('with a password, 0 / 2 downloads').waitFor();
    const { pathname, hash } = new URL(link ?? '');
    const other = await tested.open();
    await other.page.goto(tested.pages.url + pathname + hash);
    await other.page.getByRole('heading', { name: 'letter.txt' }).waitFor();
    expect(other.page.url()).not.toContain('p.');
    await other.page.reload();
    await other.page.getByLabel('Password of this link').fill('purple');
    await other.page.getByRole('button', { name: 'Open' }).click();
    await other.page.getByText('The password is wrong.').waitFor();
    await other.page.getByLabel('Password of this link').fill('violet');
    await other.page.getByRole('button', { name: 'Open' }).click();
    await other.page.getByText('one', { exact: true }).waitFor();
    await other.context.close();
    await page.getByRole('button', { name: 'Revoke the link' }).click();
    await expect.poll(() => page.getByText('with a password').count()).toBe(0);
  });

  test('shares a folder with strangers, who see and download only what is in it', async () => {
    for (const path of ['trip/sea.txt', 'trip/day 1/harbour.txt']) {
      await tested.storage.upload(new Blob([path], { type: 'text/plain' }), {
        bucket: 'demo',
        path,
      });
    }
    await page.goto(`${tested.pages.url}/#/files/demo/trip/`);
    await page.getByRole('button', { name: 'Share folder' }).click();
    await page.getByRole('button', { name: 'Create the address' }).click();
    const address = await page.getByText(/#link=folder&key=efs_/).textContent();
    await page.keyboard.press('Escape');
    const other = await tested.open();
    await other.page.goto(`${tested.pages.url}/${new URL(address ?? '').hash}`);
    await other.page.getByRole('link', { name: 'day 1' }).click();
    await other.page.getByRole('link', { name: 'harbour.txt' }).waitFor();
    expect(other.page.url()).not.toContain('efs_');
    for (const absent of ['Upload', 'Buckets', 'demo', 'Sign out', 'Delete']) {
      expect(await other.page.getByText(absent, { exact: true }).count()).toBe(0);
    }
    await other.page.getByRole('link', { name: 'trip' }).click();
    await other.page.getByRole('link', { name: 'sea.txt' }).waitFor();
    await other.page.getByRole('checkbox', { name: 'Select all' }).check();
    await other.page.evaluate(() => Reflect.deleteProperty(globalThis, 'showSaveFilePicker'));
    const saved = other.page.waitForEvent('download');
    await other.page.getByRole('button', { name: 'Download', exact: true }).click();
    expect((await saved).suggestedFilename()).toMatch(/\.zip$/);
    // Addresses of other places show the folder too
    await other.page.goto(`${tested.pages.url}/#/files/demo/`);
    await other.page.getByRole('link', { name: 'sea.txt' }).waitFor();
    expect(await other.page.getByText('letter.txt').count()).toBe(0);
    await other.context.close();
    await page.goto(`${tested.pages.url}/#/file/demo/letter.txt`);
  });

  test('shows the names of the members who created links', async () => {
    const { host, canisterId } = tested.service;
    const pem = newIdentity();
    const member = { principal: principalOf(pem).toText(), role: 'writer', name: 'Zoe' };
    await tested.storage.buckets.update('demo', { addMembers: [member] });
    const zoe = createStorage({ host, canisterId, identity: identityFromPem(pem) });
    const link = await zoe.links.create({ bucket: 'demo', path: 'letter.txt' });
    await page.reload();
    await page.getByText(/ by Zoe, /).waitFor();
    await zoe.links.remove('demo', link.id);
    await tested.storage.buckets.update('demo', { removeMembers: [member.principal] });
    await page.reload();
  });

  test('sees the file of the new bucket when only the bucket of the address changes', async () => {
    const options = { bucket: 'other', path: 'letter.txt' };
    await tested.storage.buckets.create('other', { isPublic: true });
    await tested.storage.upload(new Blob(['elsewhere'], { type: 'text/plain' }), options);
    const request = { name: 'both', buckets: ['demo', 'other'], permissions: ['read'] as const };
    const { secret } = await tested.storage.keys.create(request);
    const own = await tested.open();
    await own.page.goto(`${tested.pages.url}/#key=${secret}&bucket=demo`);
    await own.page.getByRole('heading', { level: 1, name: 'demo' }).waitFor();
    await own.page.goto(`${tested.pages.url}/#/file/demo/letter.txt`);
    await own.page.getByText('one', { exact: true }).waitFor();
    await own.page.goto(`${tested.pages.url}/#/file/other/letter.txt`);
    await own.page.getByText('elsewhere', { exact: true }).waitFor();
    expect(own.faults).toEqual([]);
    await own.context.close();
  });
});
