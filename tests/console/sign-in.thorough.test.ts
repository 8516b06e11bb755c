// Sign-in: the allowed ways, and the data that remains in the browser.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ownerKeyOf } from '../../scripts/local-service.ts';
import { isBrowserUnwanted } from './support/browser.ts';
import { openConsole, shownPrincipal, type TestedConsole } from './support/console.ts';

describe.skipIf(isBrowserUnwanted)('sign in', () => {
  let tested: TestedConsole;
  beforeAll(async () => {
    tested = await openConsole();
    await tested.storage.upload(new Blob(['hello'], { type: 'text/plain' }), {
      bucket: 'demo',
      path: 'notes/hello.txt',
    });
  });
  afterAll(() => tested?.close());

  test('with a pasted key shows the files, until the tab is closed', async () => {
    const { page, context, faults } = await tested.open();
    await page.goto(tested.pages.url);
    await page.getByLabel('API key').fill('efs_wrong');
    await page.getByRole('button', { name: 'Sign in with the key' }).click();
    await expect.poll(() => page.getByRole('alert').textContent()).toMatch(/key is unknown/);
    expect(await page.getByLabel('API key').inputValue()).toBe('efs_wrong');
    await page.getByLabel('API key').fill(tested.service.apiKey);
    await page.getByRole('button', { name: 'Sign in with the key' }).click();
    await page.getByRole('link', { name: 'notes' }).waitFor();
    await page.reload();
    await page.getByRole('link', { name: 'notes' }).waitFor();
    const second = await context.newPage();
    await second.goto(tested.pages.url);
    await second.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect(faults).toEqual([]);
    await context.close();
  });

  test('by an address with a key reads the key once and removes it from the address bar', async () => {
    const visit = await tested.open();
    await tested.signIn(visit);
    const { page, context, faults } = visit;
    expect(page.url()).not.toContain('efs_');
    const kept = await page.evaluate(() => [
      JSON.stringify(localStorage),
      JSON.stringify(history.state),
    ]);
    expect(kept.join()).not.toContain('efs_');
    await page.goBack();
    expect(page.url()).not.toContain('efs_');
    expect(faults).toEqual([]);
    await context.close();
  });

  test('by the address of the owner of a local service shows all buckets, in this tab only', async () => {
    const { page, context, faults } = await tested.open();
    const address = `${tested.pages.url}/#owner=${ownerKeyOf(tested.service.identityPem)}`;
    await page.goto(`${tested.pages.url}/#owner=short`);
    await page.getByText('The key in the address is incomplete. Copy it again.').waitFor();
    await page.goto('about:blank');
    await page.goto(address);
    await page.getByRole('heading', { name: 'Your buckets' }).waitFor();
    await page.getByRole('button', { name: 'Create a bucket' }).click();
    await page.getByLabel('Name of the bucket').fill('holiday-photos');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'holiday-photos' }).waitFor();
    await page.getByRole('button', { name: 'Drop box' }).waitFor();
    await page.reload();
    await page.getByRole('button', { name: 'Drop box' }).waitFor();
    const stored = await page.evaluate(() => [location.href, JSON.stringify(localStorage)]);
    expect(stored.join()).not.toContain(new URL(address).hash.slice(7));
    const second = await context.newPage();
    await second.goto(tested.pages.url);
    await second.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect(faults).toEqual([]);
    await context.close();
  });

  test('without the right to create buckets shows the command for a controller', async () => {
    const { page, context } = await tested.open();
    await page.goto(tested.pages.url);
    await page.getByRole('button', { name: 'Use a key on this device' }).click();
    await page.getByRole('button', { name: 'Create a bucket' }).click();
    await page.getByLabel('Name of the bucket').fill('mine');
    await page.keyboard.press('Enter');
    await page.getByText('You may not create buckets here.').waitFor();
    await page.getByText(/^efs access allow [a-z2-7-]{63}$/).waitFor();
    await page.getByRole('button', { name: 'Copy the command', exact: true }).waitFor();
    await context.close();
  });

  test('with a remembered key lasts until the user signs out', async () => {
    const { page, context } = await tested.open();
    await page.goto(tested.pages.url);
    await page.getByLabel('Stay signed in on this device').check();
    await page.getByLabel('API key').fill(tested.service.apiKey);
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'notes' }).waitFor();
    const second = await context.newPage();
    await second.goto(tested.pages.url);
    await second.getByRole('button', { name: 'Sign out' }).click();
    await second.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect(await second.evaluate(() => localStorage.length + sessionStorage.length)).toBe(0);
    await context.close();
  });

  test('by an address with another key asks first, and stays in its tab', async () => {
    const mine = tested.service.apiKey;
    await tested.storage.buckets.create('theirs');
    const request = {
      name: 'theirs',
      buckets: ['theirs'],
      permissions: ['read', 'write'],
    } as const;
    const { secret } = await tested.storage.keys.create(request);
    const { page, context, faults } = await tested.open();
    await page.goto(tested.pages.url);
    await page.getByLabel('Stay signed in on this device').check();
    await page.getByLabel('API key').fill(mine);
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'notes' }).waitFor();
    const keptKey = () => page.evaluate(() => localStorage.getItem('efs-session') ?? '');

    const sent = await context.newPage();
    const address = `${tested.pages.url}/#key=${secret}&bucket=theirs`;
    await sent.goto(address);
    const dialog = sent.getByRole('dialog', { name: 'Use another key in this tab?' });
    await dialog.getByText('for the bucket theirs').waitFor();
    expect(sent.url()).not.toContain('efs_');
    expect(await sent.evaluate(() => sessionStorage.length)).toBe(0);
    await dialog.getByRole('button', { name: 'Stay signed in as before' }).click();
    await sent.getByRole('link', { name: 'demo' }).click();
    await sent.getByRole('link', { name: 'notes' }).waitFor();
    expect(await keptKey()).toContain(mine);

    // The page is already open: only the fragment of the address changes.
    await sent.evaluate((hash) => location.assign(hash), new URL(address).hash);
    await dialog.getByRole('button', { name: 'Use the key in this tab' }).click();
    await sent.getByRole('heading', { level: 1, name: 'theirs' }).waitFor();
    expect(await keptKey()).toContain(mine);
    await sent.reload();
    await sent.getByRole('heading', { level: 1, name: 'theirs' }).waitFor();
    expect(await sent.evaluate(() => sessionStorage.getItem('efs-session'))).toContain(secret);
    await page.reload();
    await page.getByRole('link', { name: 'notes' }).waitFor();
    // With the key that is already signed in, the page asks nothing.
    await tested.signIn({ page, context, faults });
    expect(await page.getByRole('dialog').count()).toBe(0);
    expect(faults).toEqual([]);
    await context.close();
  });

  test('with a key of the device shows the command for the owner, then the bucket', async () => {
    const { page, context, faults } = await tested.open();
    await page.goto(tested.pages.url);
    await page.getByRole('button', { name: 'Use a key on this device' }).click();
    await page.getByRole('heading', { name: 'Member ID of this device' }).waitFor();
    const principal = await shownPrincipal(page);
    await tested.storage.buckets.update('demo', { addMembers: [{ principal, role: 'writer' }] });
    await page.reload();
    await page.getByRole('link', { name: 'demo' }).click();
    await page.getByRole('link', { name: 'notes' }).click();
    await page.getByRole('link', { name: 'hello.txt' }).waitFor();
    expect(faults).toEqual([]);
    await context.close();
  });
});
