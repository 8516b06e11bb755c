// Links to end-to-end files have the address of the front, the canister with the console, if the
// service has one.

import { generateX25519Identity, identityToRecipient } from 'age-encryption';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { endToEnd } from '../../packages/client/src/end-to-end.ts';
import { identityFromPem } from '../../packages/client/src/node/identity.ts';
import { openLink } from '../../packages/client/src/open-link.ts';
import { createStorage, type Storage } from '../../packages/client/src/storage.ts';
import { openService, ownerOf, type Service } from '../support/service.ts';

let service: Service;
let owner: Storage;
let identity: string;
let apiKey: string;
const words = 'the harbour is quiet';
const file = { bucket: 'safe', path: 'notes.txt' };

beforeAll(async () => {
  service = await openService({ hasFront: true });
  const { host, canisterId, identityPem } = service;
  identity = await generateX25519Identity();
  owner = createStorage({
    ...{ host, canisterId, identity: identityFromPem(identityPem) },
    endToEnd: endToEnd({ identities: [identity] }),
  });
  const recipients = [await identityToRecipient(identity)];
  await ownerOf(service).buckets.create('safe', { endToEnd: { usesVetKeys: false, recipients } });
  await owner.upload(new Blob([words]), file);
  const permissions = ['read', 'write'] as const;
  apiKey = (await owner.keys.create({ name: 'k', buckets: ['safe'], permissions })).secret;
});
afterAll(() => service?.stop());

/** Records the addresses and requests them at localhost: names below it may not resolve. */
function localFetch(asked: URL[]): typeof fetch {
  return (input, init) => {
    const url = new URL(String(input));
    asked.push(url);
    return fetch(`${service.base}${url.pathname}${url.search}`, init);
  };
}

function overHttp(fetch?: typeof globalThis.fetch): Storage {
  const opened = endToEnd({ identities: [identity] });
  const given = fetch && ({ fetch, transport: 'http' } as const);
  return createStorage({ url: service.base, apiKey, endToEnd: opened, ...given });
}

test.each([
  ['the actor', () => owner],
  ['HTTP', () => overHttp()],
])('links.create of an end-to-end file returns an address of the front, %s', async (_, open) => {
  const { url } = await open().links.create(file);
  expect(url.startsWith(`${service.frontUrl}/s/${service.canisterId}/`)).toBe(true);
  const asked: URL[] = [];
  const download = await openLink(url, { fetch: localFetch(asked) });
  expect(new TextDecoder().decode(await download.bytes())).toBe(words);
  expect(new Set(asked.map(({ hostname }) => hostname))).toEqual(
    new Set([`${service.canisterId}.localhost`]),
  );
});

test('links.create of an ordinary file returns an address of the storing canister', async () => {
  await ownerOf(service).buckets.create('plain');
  const plain = { bucket: 'plain', path: 'a' };
  await owner.upload(new Blob([words]), plain);
  expect((await owner.links.create(plain)).url).toMatch(
    new RegExp(`^http://${service.canisterId}\\.localhost:\\d+/s/`),
  );
});

test('links.create with a password keeps the key of an end-to-end file from the address', async () => {
  const password = 'violet';
  const { url } = await owner.links.create({ ...file, password });
  expect(url.startsWith(`${service.frontUrl}/s/${service.canisterId}/`)).toBe(true);
  expect(url).toMatch(/\/notes\.txt#p\.[\w-]{22}\.[\w-]{23}$/);
  const asked: URL[] = [];
  const download = await openLink(url, { password, fetch: localFetch(asked) });
  expect(new TextDecoder().decode(await download.bytes())).toBe(words);
  const plain = await owner.links.create(file);
  expect(url).not.toContain(new URL(plain.url).hash.slice(1));
  const opening = openLink(url, { password: 'purple', fetch: localFetch([]) });
  await expect(opening).rejects.toMatchObject({ code: 'AccessDenied' });
});

test('links.create refuses a title of an end-to-end file before it stores one', async () => {
  const before = await linkCount();
  const creating = owner.links.create({ ...file, title: 'The plan' });
  await expect(creating).rejects.toMatchObject({ code: 'InvalidArgument' });
  expect(await linkCount()).toBe(before);
});

async function linkCount(): Promise<number> {
  let count = 0;
  for await (const _ of owner.links.list({ bucket: 'safe' })) count += 1;
  return count;
}

test.each([
  ['https://evil.example/s/aaaaa-aa?to=', 'HttpError'],
  ['https://evil.example/#', 'HttpError'],
  ['javascript:alert(1)//s/aaaaa-aa', 'HttpError'],
  ['https://evil.example/s/aaaaa-aa', 'Untrusted'],
  ['FRONT/s/aaaaa-aa', 'Untrusted'],
])(
  'links.create refuses %s as the address of the front, and removes the link',
  async (address, code) => {
    const linkPage = address.replace('FRONT', service.frontUrl ?? '');
    const forging: typeof fetch = async (input, init) => {
      const response = await fetch(input, init);
      if (init?.method !== 'POST' || !String(input).endsWith('/links')) return response;
      return Response.json({ ...((await response.json()) as object), linkPage }, { status: 201 });
    };
    const before = await linkCount();
    await expect(overHttp(forging).links.create(file)).rejects.toMatchObject({ code });
    const locked = { ...file, password: 'violet' };
    await expect(overHttp(forging).links.create(locked)).rejects.toMatchObject({ code });
    expect(await linkCount()).toBe(before);
  },
);

test('links.create says that a page is forged also if the node refuses to remove the link', async () => {
  const forging: typeof fetch = async (input, init) => {
    if (init?.method === 'DELETE') return Response.json({ error: 'no' }, { status: 403 });
    const response = await fetch(input, init);
    if (init?.method !== 'POST' || !String(input).endsWith('/links')) return response;
    const linkPage = 'https://evil.example/s/aaaaa-aa';
    return Response.json({ ...((await response.json()) as object), linkPage }, { status: 201 });
  };
  const creating = overHttp(forging).links.create(file);
  await expect(creating).rejects.toMatchObject({ code: 'Untrusted' });
});

test('links.create repeats a lost request for the front, and leaves no link if it is aborted', async () => {
  let lost = 0;
  const stop = new AbortController();
  const losing: typeof fetch = (input, init) => {
    if (!String(input).endsWith('/efs-service')) return fetch(input, init);
    lost += 1;
    if (lost === 1) return Promise.reject(new TypeError('fetch failed'));
    if (lost > 2) stop.abort();
    return fetch(input, init);
  };
  const before = await linkCount();
  const storage = overHttp(losing);
  const { url } = await storage.links.create(file);
  expect(url.startsWith(`${service.frontUrl}/s/${service.canisterId}/`)).toBe(true);
  const aborted = storage.links.create({ ...file, password: 'violet', signal: stop.signal });
  await expect(aborted).rejects.toMatchObject({ code: 'Aborted' });
  expect(lost).toBe(3);
  expect(await linkCount()).toBe(before + 1);
});
