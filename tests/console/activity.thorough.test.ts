// The activity of a bucket and of a file: sentences for each kind of change, names, filters, pages,
// and the messages for callers who may not see it.

import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createStorage } from '../../packages/client/src/storage.ts';
import { isBrowserUnwanted, type Visit } from './support/browser.ts';
import {
  accessFaults,
  openConsole,
  shownPrincipal,
  type TestedConsole,
} from './support/console.ts';
import { checkView } from './support/view-check.ts';

const manyCount = 230;
/** The changes of one file, the first of which is the latest. */
const ofReport = [
  'Version 3 of 2026/report.txt was erased by OWNER.',
  'A link to 2026/report.txt was removed by OWNER.',
  'A link to 2026/report.txt was created by OWNER.',
  'The protection of version 4 of 2026/report.txt was changed by OWNER.',
  'The protection of version 4 of 2026/report.txt was changed by OWNER.',
  'A former version of 2026/report.txt was restored as version 4 by OWNER.',
  '2026/report.txt was stored as version 3 by OWNER.',
  'The type, tags or headers of 2026/report.txt were changed by OWNER.',
  'draft.txt was moved to 2026/report.txt by OWNER.',
  'draft.txt was stored as version 1 by the key KEY.',
];

describe.skipIf(isBrowserUnwanted)('Activity', () => {
  let tested: TestedConsole;
  let visit: Visit;
  let page: Page;
  let principal: string;
  let keyId: string;

  beforeAll(async () => {
    tested = await openConsole();
    visit = await tested.open();
    page = visit.page;
    const { storage } = tested;
    await page.goto(tested.pages.url);
    await page.getByRole('button', { name: 'Use a key on this device' }).click();
    principal = await shownPrincipal(page);
    const addMembers = [{ principal, role: 'owner', name: 'Ada' }];
    await storage.buckets.create('papers', { keepVersionsDays: 30 });
    await storage.buckets.update('papers', { addMembers });
    await storage.buckets.update('demo', { addMembers });
    await storage.buckets.create('hidden');
    await storage.buckets.create('quiet', { endToEnd: { sealsNames: true } });
    await storage.buckets.update('quiet', { addMembers });
    await storage.upload(new Blob(['plan']), { bucket: 'quiet', path: 'secret/plan.txt' });
    const file = (path: string) => ({ path, source: new Blob([path], { type: 'text/plain' }) });
    const many = Array.from({ length: manyCount }, (_, index) => file(`many/${1_000 + index}.txt`));
    for await (const { error } of storage.uploadAll(many, { bucket: 'demo' })) {
      expect(error).toBeUndefined();
    }
    await changeEverything();
  });
  afterAll(async () => {
    await visit?.context.close();
    await tested?.close();
  });

  /** Makes one change of each kind in the bucket `papers`. */
  async function changeEverything(): Promise<void> {
    const { storage } = tested;
    const bucket = 'papers';
    const request = { name: 'Backup', buckets: [bucket], permissions: ['read', 'write'] as const };
    const { id, secret } = await storage.keys.create(request);
    keyId = id;
    const { host, canisterId } = tested.service;
    const byKey = createStorage({ host, canisterId, apiKey: secret });
    await byKey.upload(new Blob(['report']), { bucket, path: 'draft.txt' });
    await storage.move({ bucket, path: 'draft.txt' }, { path: '2026/report.txt' });
    const report = { bucket, path: '2026/report.txt' };
    await storage.change(report, { tags: ['annual'] });
    const { version } = await storage.upload(new Blob(['second']), report);
    await storage.versions.restore({ ...report, version: version - 1 });
    await storage.retention.hold(report);
    await storage.retention.release(report);
    const link = await storage.links.create(report);
    await storage.links.remove(bucket, link.id);
    await storage.versions.erase({ ...report, version });
    await storage.upload(new Blob(['other']), { bucket, path: 'draft.txt' });
    await storage.remove({ bucket, path: 'draft.txt' });
    await storage.keys.revoke(id);
    await storage.keys.create({ name: 'Sensor', buckets: [bucket], permissions: ['read'] });
    const addMembers = [
      { principal: 'ryjl3-tyaaa-aaaaa-aaaba-cai', role: 'reader', name: 'Guest' },
    ];
    await storage.buckets.update(bucket, { addMembers, quotaBytes: 5_000_000 });
    await storage.rules.set(bucket, [{ id: 'old', endUploadsAfterHours: 24 }]);
  }

  const giveRole = (bucket: string, role: string) =>
    tested.storage.buckets.update(bucket, { addMembers: [{ principal, role }] });
  /** Opens the view anew, so that it reads the journal again. */
  async function show(fragment: string): Promise<void> {
    await page.goto('about:blank');
    await page.goto(`${tested.pages.url}/#${fragment}`);
  }
  const check = (name: string) => checkView(visit, name);
  const wait = (text: string) => page.getByRole('status').getByText(text).waitFor();
  /** The sentences without the times below them. */
  async function sentences(): Promise<string[]> {
    const lines = page.getByRole('listitem').filter({ has: page.locator('time') });
    const [texts, times] = await Promise.all([
      lines.allTextContents(),
      lines.locator('time').allTextContents(),
    ]);
    return texts.map((text, index) => text.slice(0, -(times[index] ?? '').length));
  }

  /** The same without the ids of this run. */
  const anonymous = async () =>
    (await sentences()).map((text) =>
      text.replaceAll(/[a-z0-9-]+…[a-z0-9]+/g, 'OWNER').replaceAll(keyId, 'KEY'),
    );

  test('of a bucket says who made each kind of change, newest first', async () => {
    await show('/files/papers/');
    await page.getByRole('link', { name: 'Activity' }).click();
    await page.getByRole('heading', { level: 1, name: 'Activity' }).waitFor();
    await page.getByText('The key Sensor was created').waitFor();
    for (const language of ['de', 'es', 'en']) {
      await page.getByRole('combobox').first().selectOption(language);
      await page.locator(`html[lang=${language}]`).waitFor();
      await check(`activity-${language}`);
    }
    expect(await anonymous()).toEqual([
      'Settings were changed by OWNER: rules.',
      'Settings were changed by OWNER: quota.',
      'Guest got the role reader from OWNER.',
      'The key Sensor was created by OWNER.',
      'The key KEY was revoked by OWNER.',
      'draft.txt was deleted by OWNER.',
      'draft.txt was stored as version 1 by OWNER.',
      ...ofReport,
      'The key KEY was created by OWNER.',
      'Ada got the role owner from OWNER.',
      expect.stringMatching(/^The bucket was created by [a-z0-9-]+-cai\.$/),
    ]);
  });

  test('shows older changes with the next pages', async () => {
    await show('/activity/demo/');
    await wait('100 changes shown, 100 read; there are older ones');
    await check('activity-many');
    await page.getByRole('button', { name: 'Show more' }).click();
    await wait('200 changes shown, 200 read; there are older ones');
    await page.getByRole('button', { name: 'Show more' }).click();
    await page.getByText('The bucket was created by').waitFor();
    expect(await page.getByRole('button', { name: 'Show more' }).count()).toBe(0);
  });

  test('shows only one kind of changes, and those of a path', async () => {
    await page.getByLabel('Path contains').fill('MANY/1229');
    await wait('1 change');
    expect(await sentences()).toEqual([expect.stringMatching(/^many\/1229\.txt was stored/)]);
    await page.getByLabel('Show').selectOption('Links');
    await wait('No such changes.');
    await check('activity-nothing-found');
    await page.getByLabel('Path contains').fill('');
    await page.getByLabel('Show').selectOption('Members');
    await wait('1 change');
    expect(await sentences()).toEqual([expect.stringMatching(/^Ada got the role owner/)]);
  });

  test('of a file follows it to its former path, without what another file there went through', async () => {
    await show('/file/papers/2026/report.txt');
    await page.getByRole('link', { name: 'Activity' }).click();
    await page.getByRole('link', { name: 'Only changes of “report.txt”' }).waitFor();
    await wait('changes');
    await check('activity-file');
    expect(await anonymous()).toEqual(ofReport);
    await page.getByRole('link', { name: 'Show the whole bucket' }).click();
    await page.getByText('The key Sensor was created').waitFor();
  });

  test('shows members plain paths of a bucket that seals names', async () => {
    await show('/activity/quiet/');
    await page.getByRole('link', { name: 'secret/plan.txt' }).waitFor();
    await page.getByRole('link', { name: 'secret/plan.txt' }).click();
    await page.getByRole('heading', { level: 1, name: 'plan.txt' }).waitFor();
  });

  test('is shown to a reader, and not to a key or a stranger', async () => {
    await giveRole('papers', 'reader');
    await show('/activity/papers/');
    await page.getByText('The key').first().waitFor();
    expect(await page.getByText('Guest').count()).toBe(0);
    await show('/activity/hidden/');
    await page.getByRole('alert').getByText('you have no right to it').waitFor();
    await check('activity-error');
    const stranger = await tested.open();
    await tested.signIn(stranger);
    expect(await stranger.page.getByRole('link', { name: 'Activity' }).count()).toBe(0);
    await stranger.page.goto(`${tested.pages.url}/#/activity/demo/`);
    await stranger.page.getByText('Only members who sign in with an identity').waitFor();
    expect(await accessFaults(stranger.page)).toEqual([]);
    await stranger.context.close();
  });

  test('stays when the network fails, and goes on when it is there again', async () => {
    await show('/activity/demo/');
    await wait('100 changes shown');
    await visit.context.setOffline(true);
    await page.getByRole('button', { name: 'Show more' }).click();
    await page.getByRole('alert').getByText('cannot be reached').waitFor();
    await check('activity-offline');
    expect((await sentences()).length).toBe(100);
    await visit.context.setOffline(false);
    await page.getByRole('button', { name: 'Try again' }).click();
    await wait('200 changes shown');
  });
});
