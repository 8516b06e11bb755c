// Drop boxes: people send files without signing in. The address names the recipients, and the page
// sends nothing to others until the sender accepts them.

import { Decrypter, generateX25519Identity, identityToRecipient } from 'age-encryption';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createHttpStorage } from '../../packages/client/src/http-storage.ts';
import { isBrowserUnwanted, type Visit } from './support/browser.ts';
import { openConsole, shownPrincipal, type TestedConsole } from './support/console.ts';

const text = 'the plan of the harbour';
const file = (name: string) => ({ name, mimeType: 'text/plain', buffer: Buffer.from(text) });
const changed = 'other people could read your files';

let tested: TestedConsole;
let identities: string[];
let recipients: string[];

async function addressOf(bucket: string, digest?: string): Promise<string> {
  const { secret } = await tested.storage.keys.create({
    name: 'box',
    buckets: [bucket],
    permissions: ['upload'],
    prefix: 'in/',
  });
  const pin = digest === undefined ? {} : { recipients: digest };
  const told = new URLSearchParams({ key: secret, bucket, ...pin, folder: 'in/' });
  return `${tested.pages.url}/#${told}`;
}

const choose = (page: Page, name: string) =>
  page
    .getByLabel('Upload files')
    .last()
    .setInputFiles([file(name)]);

const uploadButtons = (page: Page) => page.getByRole('button', { name: 'Upload' }).count();

async function storedBytes(bucket: string, path: string): Promise<Uint8Array> {
  const request = { name: 'reader', buckets: [bucket], permissions: ['read'] as const };
  const { secret: apiKey } = await tested.storage.keys.create(request);
  const { download } = createHttpStorage({ url: tested.service.base, apiKey });
  return (await download({ bucket, path })).bytes();
}

/** Throws if the stored file is not encrypted to the identity. */
async function openedBy(identity: string, bucket: string, path: string): Promise<string> {
  const decrypter = new Decrypter();
  decrypter.addIdentity(identity);
  return decrypter.decrypt(await storedBytes(bucket, path), 'text');
}

async function makeBucket(bucket: string): Promise<string> {
  const endToEnd = { usesVetKeys: false, recipients: recipients.slice(0, 1) };
  await tested.storage.buckets.create(bucket, { endToEnd });
  return tested.storage.buckets.recipientsDigest(bucket);
}

/** Replaces the recipient by the second one. */
const changeRecipients = (bucket: string) =>
  tested.storage.buckets.update(bucket, { endToEnd: { recipients: recipients.slice(1) } });

describe.skipIf(isBrowserUnwanted)('a drop box', () => {
  let visit: Visit;
  let page: Page;

  beforeAll(async () => {
    tested = await openConsole();
    visit = await tested.open();
    page = visit.page;
    identities = [await generateX25519Identity(), await generateX25519Identity()];
    recipients = await Promise.all(identities.map(identityToRecipient));
  });
  afterAll(() => tested?.close());

  test('is created by an owner, has an address that names the recipients, and can be revoked', async () => {
    const { page: owners, faults, context } = await tested.open();
    await owners.goto(tested.pages.url);
    await owners.getByRole('button', { name: 'Use a key on this device' }).click();
    const principal = await shownPrincipal(owners);
    await tested.storage.buckets.create('post', { endToEnd: {} });
    for (const bucket of ['post', 'demo']) {
      await tested.storage.buckets.update(bucket, { addMembers: [{ principal, role: 'owner' }] });
    }
    const made = async (bucket: string, name: string) => {
      await owners.goto(`${tested.pages.url}/#/files/${bucket}/`);
      await owners.getByRole('button', { name: 'Drop box' }).click();
      await owners.getByLabel('Name of the key').fill(name);
      await owners.getByLabel('Message to the senders').fill('Only <b>letters</b>, please');
      await owners.getByLabel('Number of files').fill('20');
      await owners.getByLabel('Size of each file in MB').fill('5');
      await owners.getByRole('button', { name: 'Create the address' }).click();
      const address = (await owners.getByText(/#key=efs_/).textContent()) ?? '';
      await owners.getByRole('img', { name: 'The address as a QR code' }).waitFor();
      await owners.keyboard.press('Escape');
      return address;
    };
    expect(await made('demo', 'Letters')).toMatch(
      /&recipients=none&message=[^&]+&folder=inbox%2F$/,
    );
    const address = await made('post', 'Holiday');
    const digest = await tested.storage.buckets.recipientsDigest('post');
    expect(digest).toMatch(/^[\w-]{43}$/);
    expect(address).toContain(`&recipients=${digest}&message=`);

    await page.goto(address);
    await page.getByText('the folder “inbox” of “post”').waitFor();
    await page.getByText('Only <b>letters</b>, please').waitFor();
    await page.getByText('encrypted on this device before they are sent').waitFor();
    expect(page.url()).not.toContain('efs_');
    expect(await page.getByRole('link').count()).toBe(0);
    expect(await page.getByRole('button', { name: 'Sign' }).count()).toBe(0);
    await choose(page, 'photo.txt');
    await page.getByText('1 file uploaded.').waitFor();
    await page.getByRole('heading', { name: '1 file sent' }).waitFor();
    const received = async (path: string) =>
      (await tested.storage.download({ bucket: 'post', path })).bytes();
    expect(Buffer.from(await received('inbox/photo.txt')).toString()).toBe(text);
    const stored = Buffer.from(await storedBytes('post', 'inbox/photo.txt')).toString('latin1');
    expect(stored).toMatch(/^age-encryption\.org\/v1\n/);
    const film = { name: 'film.bin', mimeType: '', buffer: Buffer.alloc(4_000_000, 7) };
    await page.getByLabel('Upload files').last().setInputFiles([film]);
    await page.getByRole('heading', { name: '2 files sent' }).waitFor();
    expect(Buffer.compare(await received('inbox/film.bin'), film.buffer)).toBe(0);
    const keys = await tested.storage.keys.list('post');
    expect(keys.find(({ name }) => name === 'Holiday')).toMatchObject({
      ...{ permissions: ['upload'], prefix: 'inbox/' },
      ...{ maxFiles: 20, maxFileBytes: 5_000_000, fileCount: 2 },
    });

    await owners.goto(`${tested.pages.url}/#/bucket/post`);
    await owners.getByRole('button', { name: 'Revoke Holiday' }).click();
    await expect.poll(() => owners.getByText('Holiday may').count()).toBe(0);
    await page.reload();
    await page.getByText('This drop box is closed').waitFor();
    expect(await uploadButtons(page)).toBe(0);
    expect([...faults, ...visit.faults]).toEqual([]);
    await context.close();
  });

  test('sends nothing to recipients that are not in its address until they are accepted', async () => {
    const address = await addressOf('changed', await makeBucket('changed'));
    await changeRecipients('changed');
    await page.goto('about:blank');
    await page.goto(address);
    const question = page.getByRole('alert').filter({ hasText: changed });
    await question.waitFor();
    await question.getByText(await tested.storage.buckets.recipientsDigest('changed')).waitFor();
    expect(await uploadButtons(page)).toBe(0);
    await page.reload();
    await question.getByRole('button', { name: 'Accept the recipients' }).click();
    await choose(page, 'a.txt');
    await page.getByRole('heading', { name: '1 file sent' }).waitFor();
    expect(await openedBy(identities[1] ?? '', 'changed', 'in/a.txt')).toBe(text);
    await page.reload();
    await page.getByText('Drop files or folders here').waitFor();
    expect(await question.count()).toBe(0);
    expect(visit.faults).toEqual([]);
  });

  test('asks when its recipients change while the page is open, then sends the same files', async () => {
    const address = await addressOf('open', await makeBucket('open'));
    await page.goto('about:blank');
    await page.goto(address);
    await page.getByText('Drop files or folders here').waitFor();
    await changeRecipients('open');
    await choose(page, 'a.txt');
    const question = page.getByRole('alert').filter({ hasText: changed });
    await question.waitFor();
    await page.getByText('1 file not uploaded.').waitFor();
    await expect(tested.storage.stat({ bucket: 'open', path: 'in/a.txt' })).rejects.toMatchObject({
      code: 'NoSuchFile',
    });
    await question.getByRole('button', { name: 'Accept the recipients' }).click();
    await page.getByRole('heading', { name: '1 file sent' }).waitFor();
    expect(await openedBy(identities[1] ?? '', 'open', 'in/a.txt')).toBe(text);
  });

  test('asks before it sends files unencrypted, or encrypted to recipients that the address does not name', async () => {
    const brief = await addressOf('brief', await makeBucket('brief'));
    await tested.storage.buckets.update('brief', { isEndToEnd: false });
    await page.goto('about:blank');
    await page.goto(brief);
    await page.getByText('would no longer be encrypted on this device').waitFor();
    expect(await uploadButtons(page)).toBe(0);
    await page.getByRole('button', { name: 'Send without encryption' }).click();
    await choose(page, 'a.txt');
    await page.getByRole('heading', { name: '1 file sent' }).waitFor();
    expect(Buffer.from(await storedBytes('brief', 'in/a.txt')).toString()).toBe(text);

    await makeBucket('later');
    const later = await addressOf('later', 'none');
    // Another address in the same tab.
    await page.evaluate((hash) => location.assign(hash), new URL(later).hash);
    await page.getByText('recipients that the address does not name').waitFor();
    expect(await uploadButtons(page)).toBe(0);
    await page.getByRole('button', { name: 'Accept the recipients' }).click();
    await page.getByText('encrypted on this device before they are sent').waitFor();
  });

  test('works with an address of an earlier version, which names no recipients', async () => {
    await makeBucket('earlier');
    await changeRecipients('earlier');
    await page.goto('about:blank');
    await page.goto(await addressOf('earlier'));
    await page.getByText('encrypted on this device before they are sent').waitFor();
    await choose(page, 'a.txt');
    await page.getByRole('heading', { name: '1 file sent' }).waitFor();
    expect(await openedBy(identities[1] ?? '', 'earlier', 'in/a.txt')).toBe(text);
  });
});

test.skipIf(isBrowserUnwanted)(
  'a drop box that names recipients takes no file where the service has no front',
  async () => {
    tested = await openConsole({ hasFront: false });
    const { page } = await tested.open();
    await page.goto(await addressOf('demo', 'A'.repeat(43)));
    await page.getByText('the service has no front').waitFor();
    expect(await uploadButtons(page)).toBe(0);
    await page.goto('about:blank');
    await page.goto(await addressOf('demo', 'none'));
    await page.getByText('Drop files or folders here').waitFor();
    await tested.close();
  },
);
