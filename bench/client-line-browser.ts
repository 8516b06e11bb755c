// The browser's columns of client-line.ts: the console's uploads and downloads. The page loads over
// the slow line too; the time begins when a person chooses the file or clicks Download.

import { DelegationChain, Ed25519KeyIdentity } from '@icp-sdk/core/identity';
import type { Page } from 'playwright-core';
import { identityFromPem } from '../packages/client/src/node/identity.ts';
import { createStorage } from '../packages/client/src/storage.ts';
import type { ConsoleBrowser } from '../tests/console/support/browser.ts';

const bucket = 'demo';
const stored = 'stored.bin';
const dayMs = 86_400_000;

interface Options {
  readonly service: {
    readonly url: string;
    readonly canisterId: string;
    readonly apiKey: string;
    readonly identityPem: string;
    /** The console's address. */
    readonly front?: { readonly gateway: string } | undefined;
  };
  readonly browser: ConsoleBrowser;
  /** The file to upload. */
  readonly path: string;
}

interface BrowserTransfer {
  readonly title: string;
  work(transfer: Transfer): Promise<void>;
}

interface Transfer {
  /** Port of the line. */
  readonly port: number;
  /** Distinguishes the transfers, whose lines share a bucket. */
  readonly name: string;
  /** Called when the transfer begins. */
  begin(): void;
}

export function browserTransfers({ service, browser, path }: Options): BrowserTransfer[] {
  const visiting = async (port: number, work: (page: Page, origin: string) => Promise<void>) => {
    const { context, page } = await browser.open();
    page.setDefaultTimeout(0);
    try {
      const { hostname } = new URL(service.front?.gateway ?? 'http://localhost');
      await work(page, `http://${hostname}:${port}`);
    } finally {
      await context.close();
    }
  };
  return [
    {
      title: 'up, browser',
      work: ({ port, name, begin }) =>
        visiting(port, async (page, origin) => {
          await page.goto(`${origin}/#key=${service.apiKey}&bucket=${bucket}`);
          await upload(page, { origin, folder: `key ${name}`, path, begin });
        }),
    },
    {
      title: 'down, browser',
      work: ({ port, begin }) =>
        visiting(port, async (page, origin) => {
          await page.goto(`${origin}/#key=${service.apiKey}&bucket=${bucket}`);
          await page.getByRole('heading', { level: 1, name: bucket }).waitFor();
          await page.goto(`${origin}/#/file/${bucket}/${stored}`);
          const saving = page.waitForEvent('download');
          const button = page.getByRole('button', { name: 'Download' });
          await button.waitFor();
          begin();
          await button.click();
          const failure = await (await saving).failure();
          if (failure !== null) throw new Error(failure);
        }),
    },
    {
      title: 'up, browser with a delegation',
      work: ({ port, name, begin }) =>
        visiting(port, async (page, origin) => {
          await storeDelegation(page, origin, await newMember(service));
          await page.goto(`${origin}/#/files/${bucket}/`);
          await upload(page, { origin, folder: `delegation ${name}`, path, begin });
        }),
    },
  ];
}

interface Upload {
  readonly origin: string;
  /** The lines share a bucket, so each transfer has a folder of its own. */
  readonly folder: string;
  readonly path: string;
  begin(): void;
}

async function upload(page: Page, { origin, folder, path, begin }: Upload): Promise<void> {
  await page.getByRole('heading', { level: 1, name: bucket }).waitFor();
  const name = folder.replaceAll(/\W+/g, '-');
  await page.goto(`${origin}/#/files/${bucket}/${name}/`);
  await page.getByRole('heading', { level: 1, name }).waitFor();
  const input = page.getByLabel('Upload files').last();
  await input.waitFor({ state: 'attached' });
  begin();
  await input.setInputFiles(path);
  await page.getByText('1 file uploaded.').waitFor();
}

/** Returns a person who may write to the bucket. */
async function newMember(service: Options['service']): Promise<Ed25519KeyIdentity> {
  const { url: host, canisterId, identityPem } = service;
  const person = Ed25519KeyIdentity.generate();
  const principal = person.getPrincipal().toText();
  const owner = createStorage({ host, canisterId, identity: identityFromPem(identityPem) });
  await owner.buckets.update(bucket, { addMembers: [{ principal, role: 'writer' }] });
  return person;
}

/**
 * Stores a session key and its delegation in IndexedDB, as a sign-in by Internet Identity does. The
 * page then restores the session as after a reload. (A page on localhost offers no sign-in by
 * Internet Identity.) The visit that stores them does not use the line.
 */
async function storeDelegation(page: Page, origin: string, person: Ed25519KeyIdentity) {
  await page.route('**/*', (route) => route.fulfill({ contentType: 'text/html', body: '' }));
  await page.goto(origin);
  await page.exposeFunction('delegate', async (publicKey: string, untilMs: number) => {
    const der = { toDer: () => new Uint8Array(Buffer.from(publicKey, 'base64')) };
    const chain = await DelegationChain.create(person, der, new Date(untilMs));
    return JSON.stringify(chain.toJSON());
  });
  await page.evaluate(storeSession, Date.now() + dayMs);
  await page.unroute('**/*');
  // From the same page, an address that differs only in its fragment would load nothing.
  await page.goto('about:blank');
}

/** Runs in the page. The names are those of @icp-sdk/auth. */
async function storeSession(untilMs: number): Promise<void> {
  const curve = { name: 'ECDSA', namedCurve: 'P-256' };
  const pair = await crypto.subtle.generateKey(curve, false, ['sign']);
  const der = new Uint8Array(await crypto.subtle.exportKey('spki', pair.publicKey));
  const { delegate } = globalThis as unknown as {
    delegate(publicKey: string, untilMs: number): Promise<string>;
  };
  const delegation = await delegate(btoa(String.fromCharCode(...der)), untilMs);
  const opening = indexedDB.open('auth-client-db', 1);
  opening.onupgradeneeded = () => opening.result.createObjectStore('ic-keyval');
  await new Promise((resolve) => (opening.onsuccess = resolve));
  const writing = opening.result.transaction('ic-keyval', 'readwrite');
  writing.objectStore('ic-keyval').put(pair, 'identity');
  writing.objectStore('ic-keyval').put(delegation, 'delegation');
  await new Promise((resolve) => (writing.oncomplete = resolve));
  opening.result.close();
  localStorage.setItem('ic-delegation_expiration', `${untilMs}000000`);
  localStorage.setItem('efs-session', '{"kind":"internet-identity"}');
}
