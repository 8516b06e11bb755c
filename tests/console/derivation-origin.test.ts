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

/** Returns the origin at a page of that origin; `role`: the text of `/.well-known/efs-service`. */
async function originAt(
  origin: string,
  role: object = { role: 'front', canisterId: front, volumes: [{ canisterId: volume }] },
): Promise<string | undefined> {
  vi.stubGlobal('location', { origin });
  vi.stubGlobal('fetch', async (url: string) => {
    const found = url.endsWith('/efs-service') ? role : { alternativeOrigins };
    return Response.json(found, { headers: { 'x-ic-canister-id': volume } });
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
  const alone = { role: 'volume', front: null };
  expect(await originAt(`https://${volume}.icp.net`, alone)).toBeUndefined();
});
