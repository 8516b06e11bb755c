// The origin for which Internet Identity makes a person's principal is the same at every address of
// a front, so that a member of a bucket is one everywhere.

import { afterEach, beforeEach, expect, test, vi } from 'vitest';

const front = 'rrkah-fqaaa-aaaaa-aaaaq-cai';
const volume = 'ryjl3-tyaaa-aaaaa-aaaba-cai';
const canonical = `https://${front}.icp.net`;
const alternativeOrigins = [
  `https://${front}.icp0.io`,
  `https://${front}.ic0.app`,
  'https://files.example.org',
];

const texts: Readonly<Record<string, unknown>> = {
  'efs-service': { role: 'front', canisterId: front, volumes: [{ canisterId: volume }] },
  'ii-alternative-origins': { alternativeOrigins },
  'ii-derivation-origin': `${canonical}\n`,
};

/** Returns the origin at a page of that origin; `others`: different texts of the front. */
async function originAt(origin: string, others: typeof texts = {}): Promise<string | undefined> {
  vi.stubGlobal('location', { origin });
  vi.stubGlobal('fetch', async (url: string) => {
    const text = { ...texts, ...others }[url.replace('/.well-known/', '')];
    const body = typeof text === 'string' ? text : JSON.stringify(text);
    const status = text === null ? 503 : 200;
    return new Response(body, { status, headers: { 'x-ic-canister-id': volume } });
  });
  vi.resetModules();
  const { derivationOrigin } = await import('../../console/src/identities.ts');
  return derivationOrigin();
}

beforeEach(() => {
  vi.stubGlobal('navigator', { language: 'en', languages: ['en'] });
});

afterEach(() => {
  vi.unstubAllGlobals();
});

test.each([canonical, ...alternativeOrigins])(
  'at %s it is that of the default gateway',
  async (at) => {
    expect(await originAt(at)).toBe(canonical);
  },
);

test('at an address that the front does not list it is the page itself', async () => {
  expect(await originAt('https://other.example.org')).toBeUndefined();
});

test('at a canister without a front it is the page itself', async () => {
  const alone = { 'efs-service': { role: 'volume', front: null } };
  expect(await originAt(`https://${volume}.icp.net`, alone)).toBeUndefined();
});

test('the origin that a controller of the front has set is used', async () => {
  const own = 'https://files.example.org';
  const set = { 'ii-derivation-origin': own };
  expect(await originAt(own, set)).toBe(own);
  expect(await originAt(`https://${front}.ic0.app`, set)).toBe(own);
});

test.each(['ii-derivation-origin', 'ii-alternative-origins'])(
  'without %s the sign-in fails, because another origin would make another principal',
  async (name) => {
    const asked = originAt('https://files.example.org', { [name]: null });
    await expect(asked).rejects.toThrow('The front answered 503');
  },
);
