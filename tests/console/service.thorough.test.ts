// The page Service: nothing is red on a fresh service; with few cycles one part is, with the command.

import { readFile } from 'node:fs/promises';
import { IDL } from '@dfinity/candid';
import { Principal } from '@dfinity/principal';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildCanister } from '../../scripts/build.ts';
import { ownerKeyOf, principalOf } from '../../scripts/local-service.ts';
import { isBrowserUnwanted, type Visit } from './support/browser.ts';
import {
  accessFaults,
  openConsole,
  schemes,
  sizes,
  type TestedConsole,
} from './support/console.ts';

/** Enough for an installation, but not for an upgrade after it. */
const fewCycles = 315_000_000_000n;

describe.skipIf(isBrowserUnwanted)('the page Service', () => {
  let tested: TestedConsole;
  let visit: Visit;
  let page: Page;

  beforeAll(async () => {
    tested = await openConsole();
  });
  afterAll(async () => {
    await visit?.context.close();
    await tested?.close();
  });

  const region = (name: string) => page.getByRole('region', { name, exact: true });
  const red = () => page.getByRole('alert');

  /** Signs in as the owner, and opens the page by its link in the overview. */
  async function openAsOwner(): Promise<void> {
    await visit?.context.close();
    visit = await tested.open({ permissions: ['clipboard-read', 'clipboard-write'] });
    page = visit.page;
    await page.goto(`${tested.pages.url}/#owner=${ownerKeyOf(tested.service.identityPem)}`);
    await page.getByRole('link', { name: 'Service', exact: true }).click();
    await region('Cycles').waitFor();
  }

  async function checkAccess(): Promise<void> {
    for (const size of sizes) {
      await page.setViewportSize(size);
      for (const colorScheme of schemes) {
        await page.emulateMedia({ colorScheme });
        expect(await accessFaults(page)).toEqual([]);
        expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(size.width);
      }
    }
    expect(visit.faults).toEqual([]);
  }

  test('has nothing red for the owner of a fresh service', async () => {
    await openAsOwner();
    expect(await page.title()).toBe('Service – Files');
    await page.getByText('Nobody needs to act.').waitFor();
    const parts = ['Room', 'Cycles', 'Requests and refusals', 'Encryption', 'Uploads under way'];
    for (const part of [...parts, 'Keys of end-to-end buckets', 'Front']) {
      await region(part).getByText('Fine', { exact: true }).waitFor();
    }
    await region('Cycles').getByText('enough for more than ten years').waitFor();
    await region('Requests and refusals').getByText('300 of 300 left').first().waitFor();
    await region('Front').getByText('certifies all its responses').waitFor();
    expect(await red().count()).toBe(0);
    await checkAccess();
  });

  test('shows the uploads under way, and links to the page of their bucket', async () => {
    const { uploads } = tested.storage;
    const file = { bucket: 'demo', path: 'film.mp4', size: 4_000_000 };
    const { uploadId } = await uploads.begin(file);
    await page.getByRole('button', { name: 'Check again' }).click();
    await region('Uploads under way').getByText('1 upload of 4.0 MB, the oldest begun').waitFor();
    expect(await red().count()).toBe(0);
    await region('Uploads under way').getByRole('link', { name: 'demo' }).click();
    await page.getByRole('heading', { name: 'Uploads in progress' }).waitFor();
    await uploads.cancel({ ...file, uploadId });
  });

  test('says what the holder of a key does not see', async () => {
    visit = await tested.open();
    page = visit.page;
    await tested.signIn(visit);
    await page.goto(`${tested.pages.url}/#/service`);
    await page.getByText('Only controllers and owners of buckets see the cycles.').waitFor();
    await region('Uploads under way').getByText('Not shown').waitFor();
    await region('Room').getByText('Fine').waitFor();
    expect(await red().count()).toBe(0);
    expect(await accessFaults(page)).toEqual([]);
  });

  test('is red in one part while cycles are low, with the command that adds some', async () => {
    const canisterId = await volumeWithFewCycles(tested);
    await openAsOwner();
    await page.setViewportSize(sizes[0]);
    await page.getByText('Somebody must act: 1 point in red').waitFor();
    await expect.poll(() => red().count()).toBe(1);
    const cycles = region('Cycles');
    await cycles.getByText('Act', { exact: true }).waitFor();
    await cycles.getByText('Add cycles soon: the canister freezes without them').waitFor();
    const command = `icp canister top-up ${canisterId} --amount 1t`;
    await cycles.getByText(command).waitFor();
    await checkAccess();
    await cycles.getByRole('button', { name: /^Copy / }).click();
    await cycles.getByText('Copied').waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(command);
  });
});

/** Replaces the front's volume by a new one with few cycles. */
async function volumeWithFewCycles({ service }: TestedConsole): Promise<string> {
  const { replica, identityPem, frontUrl, canisterId: former } = service;
  if (replica === undefined || frontUrl === undefined) return expect.fail('no local front');
  const sender = principalOf(identityPem);
  const created = await replica.createCanister({ controllers: [sender], cycles: fewCycles });
  const canisterId = created.toText();
  const wasm = new Uint8Array(await readFile((await buildCanister({ force: false })).wasmPath));
  await replica.install(canisterId, wasm, storedRootKey, { sender });
  const [frontId = ''] = new URL(frontUrl).hostname.split('.');
  for (const [method, id] of [
    ['removeVolume', former],
    ['addVolume', canisterId],
  ] as const) {
    const argument = new Uint8Array(IDL.encode([IDL.Principal], [Principal.fromText(id)]));
    await replica.call(frontId, method, argument, { sender });
  }
  return canisterId;
}

/** `(opt record { rootKey = opt variant { stored } })` */
const storedRootKey = new Uint8Array(
  IDL.encode(
    [IDL.Opt(IDL.Record({ rootKey: IDL.Opt(IDL.Variant({ stored: IDL.Null })) }))],
    [[{ rootKey: [{ stored: null }] }]],
  ),
);
