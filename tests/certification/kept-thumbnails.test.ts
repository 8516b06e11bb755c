// Thumbnails of restored versions, after a rotation of the bucket's key, and of renewed files, in an
// ordinary bucket and in an end-to-end one: each answer is accepted by the official verifier.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { CanisterAnswer } from '../../packages/replica/src/gateway/candid-messages.ts';
import {
  type CertifiedCanister,
  openCertifiedCanister,
} from '../support/certification/certified-canister.ts';
import { testBytes, testPicture } from '../support/domain-fixture.ts';
import { sha256Hex } from '../support/service.ts';

const ageBytes = (seed: number) =>
  Buffer.concat([Buffer.from('age-encryption.org/v1\n-> X25519 '), testBytes(3_000, seed)]);

interface Kind {
  readonly kind: string;
  readonly isEndToEnd: boolean;
  readonly type: string;
  readonly bytesOf: (seed: number) => Uint8Array;
}

const kinds: readonly Kind[] = [
  {
    kind: 'an ordinary',
    isEndToEnd: false,
    type: 'image/webp',
    bytesOf: (n) => testPicture(900, n),
  },
  { kind: 'an end-to-end', isEndToEnd: true, type: 'application/age', bytesOf: ageBytes },
];

describe.each(kinds)('GET /cloud/{bucket}/{path}?thumbnail in $kind bucket', (kind) => {
  const { isEndToEnd, type, bytesOf } = kind;
  const url = '/cloud/demo/a.jpg';
  let canister: CertifiedCanister;

  beforeAll(async () => {
    canister = await openCertifiedCanister();
    if (isEndToEnd) await canister.makeEndToEnd('demo');
    await canister.keepVersions('demo');
    await put(1);
  });
  afterAll(() => canister?.stop());

  const field = ({ headers }: CanisterAnswer, name: string) =>
    headers.find(([each]) => each.toLowerCase() === name)?.[1];

  /** Stores a version of the file, and its thumbnail. */
  async function put(version: number): Promise<void> {
    const body = bytesOf(version);
    await canister.put('a.jpg', body, [['content-type', 'image/jpeg']]);
    await canister.change({
      ...{ method: 'PUT', url: '/api/v1/bucket/demo/thumbnails/a.jpg' },
      ...{ body: bytesOf(100 + version), headers: [['if-match', `"${sha256Hex(body)}"`]] },
    });
  }

  async function expectVersion(version: number): Promise<void> {
    const file = await canister.accepted({ url });
    expect(Buffer.compare(file.body, bytesOf(version))).toBe(0);
    const shown = await canister.accepted({ url: `${url}?thumbnail` });
    expect(Buffer.compare(shown.body, bytesOf(100 + version))).toBe(0);
    expect(field(shown, 'content-type')).toBe(type);
  }

  test('is sandboxed if the file is', async () => {
    const file = await canister.accepted({ url });
    const shown = await canister.accepted({ url: `${url}?thumbnail` });
    const policy = isEndToEnd ? 'sandbox' : undefined;
    for (const answer of [file, shown]) {
      expect(field(answer, 'content-security-policy')).toBe(policy);
      expect(field(answer, 'x-content-type-options')).toBe('nosniff');
    }
  });

  test('is that of the version which is restored', async () => {
    await put(2);
    await expectVersion(2);
    const body = Buffer.from(JSON.stringify({ path: 'a.jpg', version: 1 }));
    await canister.change({ method: 'POST', url: '/api/v1/bucket/demo/restore', body });
    await expectVersion(1);
  });

  test('stays through a rotation of the key, an upgrade, and while the bucket is private', async () => {
    await canister.rotateKey('demo');
    await expectVersion(1);
    await canister.upgrade();
    await expectVersion(1);
    await canister.showBucket('demo', false);
    await canister.showBucket('demo', true);
    await expectVersion(1);
  });

  // An end-to-end bucket cannot be a site.
  test.skipIf(isEndToEnd)('stays through the renewals of a site and its headers', async () => {
    await canister.setSite('demo', true);
    await expectVersion(1);
    await canister.put('_headers', Buffer.from('/*\n  X-Robots-Tag: none\n'));
    await expectVersion(1);
    await canister.setSite('demo', false);
    await expectVersion(1);
  });
});
