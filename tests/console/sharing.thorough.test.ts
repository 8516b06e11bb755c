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
