// Only hosts whose gateways verify nothing get answers without a proof; their names have the
// canister's id before "raw". No other host name can turn the proofs off.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type CertifiedCanister,
  openCertifiedCanister,
} from '../support/certification/certified-canister.ts';

let canister: CertifiedCanister;

beforeAll(async () => {
  canister = await openCertifiedCanister();
  await canister.put('a', Buffer.from('hello world'));
  await canister.createBucket('closed');
  await canister.showBucket('closed', false);
});

afterAll(() => canister?.stop());

describe('http_request: a host', () => {
  const hosts = (id: string) => ({
    raw: [`${id}.raw.localhost`, `${id.toUpperCase()}.RAW.icp0.io:80`, `a--b--${id}.raw.localhost`],
    verifying: [
      `${id}.localhost`,
      'raw.localhost',
      'x.raw.localhost',
      'a.b.raw.localhost',
      `${id}.x.raw.localhost`,
      `x.${id}.raw.localhost`,
      `x${id}.raw.localhost`,
      `${id}x.raw.localhost`,
      'aaaaa-aa.raw.localhost',
      'evil.raw.example.ic0.app.raw.x',
      `${id}.raws.localhost`,
      `${id}.localhost, ${id}.raw.localhost`,
      '.raw.',
      `${'a.'.repeat(300)}raw`,
    ],
  });

  test('is raw only as "<own canister id>.raw", else its answers are certified', async () => {
    const { raw, verifying } = hosts(canister.canisterId);
    const certificateOf = async (url: string, host: string) => {
      const { headers } = await canister.ask({ url, headers: [['Host', host]] });
      return headers.find(([name]) => name.toLowerCase() === 'ic-certificate')?.[1];
    };
    for (const url of ['/cloud/demo/a', '/cloud/demo/none', '/cloud/closed/a', '/api/v1/status']) {
      for (const host of raw) expect(await certificateOf(url, host), host).toBeUndefined();
      for (const host of verifying) expect(await certificateOf(url, host), host).toBeDefined();
    }
    const range = ['Range', 'bytes=1-3'] as const;
    for (const host of verifying) {
      const asked = { url: '/cloud/demo/a', headers: [range, ['Host', host] as const] };
      expect(await canister.ask(asked), host).toMatchObject({ isUpgrade: true });
    }
  });
});
