// The page contains one copy of the noble libraries, newer than the one that the post-quantum
// library asks for. Files that it encrypts to a post-quantum recipient must open elsewhere.

import { Decrypter, generateHybridIdentity, identityToRecipient } from 'age-encryption';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createHttpStorage } from '../../packages/client/src/http-storage.ts';
import { isBrowserUnwanted } from './support/browser.ts';
import { openConsole, shownPrincipal, type TestedConsole } from './support/console.ts';

let tested: TestedConsole;
beforeAll(async () => {
  if (!isBrowserUnwanted) tested = await openConsole();
});
afterAll(() => tested?.close());

test.skipIf(isBrowserUnwanted)(
  'uploadAll in the page encrypts to an age1pq recipient that age-encryption decrypts',
  async () => {
    const { storage, pages, service } = tested;
    const { page, faults } = await tested.open();
    await page.goto(pages.url);
    await page.getByRole('button', { name: 'Use a key on this device' }).click();
    const addMembers = [{ principal: await shownPrincipal(page), role: 'owner' }];
    const identity = await generateHybridIdentity();
    const recipients = [await identityToRecipient(identity)];
    await storage.buckets.create('later', { endToEnd: { recipients } });
    await storage.buckets.update('later', { addMembers });
    const request = { name: 'raw', buckets: ['later'], permissions: ['read'] as const };
    const { secret: apiKey } = await storage.keys.create(request);
    await page.goto(`${pages.url}/#/files/later/`);
    const file = { name: 'plan.txt', mimeType: 'text/plain', buffer: Buffer.from('the plan') };
    await page.getByLabel('Upload files').last().setInputFiles([file]);
    await page.getByText('1 file uploaded.').waitFor();
    const stored = createHttpStorage({ url: service.base, apiKey });
    const { bytes } = await stored.download({ bucket: 'later', path: 'plan.txt' });
    const decrypter = new Decrypter();
    decrypter.addIdentity(identity);
    expect(await decrypter.decrypt(await bytes(), 'text')).toBe('the plan');
    expect(faults).toEqual([]);
  },
);
