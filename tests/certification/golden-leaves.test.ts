// What is stored of certified files outlives upgrades: a later version must answer with the same headers,
// or put every file again. So the headers, and the root that they give, are fixed here.

import { beforeAll, expect, test } from 'vitest';
import { openCertifiedSite } from '../../src/certification/certified-site.ts';
import { openFixedTrees } from '../../src/certification/fixed-answers.ts';
import type { PublishedFile } from '../../src/domain/publication.ts';
import { representationHeaders, validatorHeaders } from '../../src/http/file-headers.ts';
import { openLabelTree } from '../../src/storage/label-tree.ts';
import { spaceIds } from '../../src/storage/memory.ts';
import { installNodeKernel } from '../support/kernel-host.ts';
import { installNodeText } from '../support/memory-stores.ts';

beforeAll(installNodeText);

const file: PublishedFile = {
  id: '0000000000000001',
  bucketId: 'box',
  path: 'a/ü.svg',
  size: 3_000_000,
  contentType: 'image/svg+xml',
  tags: ['x'],
  chunkCount: 2,
  chunkSize: 1_900_000,
  digest: new Uint8Array(32).fill(7),
  version: 1,
  createdAtNs: 1_767_323_045_678_901_234n,
  updatedAtNs: 1_767_323_045_678_901_234n,
  cacheControl: '',
  contentDisposition: 'inline',
  contentEncoding: 'gzip',
  contentLanguage: 'de',
};

test('a file is served with these headers', () => {
  expect([...validatorHeaders(file), ...representationHeaders(file)]).toEqual([
    ['ETag', `"${'07'.repeat(32)}-2"`],
    ['Last-Modified', 'Fri, 02 Jan 2026 03:04:05 GMT'],
    ['Cache-Control', 'public, max-age=3600'],
    ['Content-Type', 'image/svg+xml'],
    ['Accept-Ranges', 'bytes'],
    ['X-Content-Type-Options', 'nosniff'],
    ['Content-Disposition', 'inline'],
    ['Content-Encoding', 'gzip'],
    ['Content-Language', 'de'],
    ['Content-Security-Policy', 'sandbox'],
  ]);
});

test('its leaves have this root', async () => {
  await installNodeKernel();
  const nothing = { status: 404, headers: [], bodyDigest: new Uint8Array(32) };
  const site = openCertifiedSite({
    published: openLabelTree(spaceIds.labels, 0),
    shelf: openLabelTree(spaceIds.labels, 1),
    fixed: openFixedTrees(() => ({ notFound: nothing, preflight: nothing })),
  });
  const digests = new Uint8Array(64).fill(9);
  const certified = {
    etag: `"${'07'.repeat(32)}-2"`,
    validators: validatorHeaders(file),
    headers: representationHeaders(file),
    size: file.size,
    partSize: file.chunkSize,
    partCount: file.chunkCount,
    partDigest: () => digests.subarray(0, 32),
  };
  site.putFile(file, certified, digests);
  expect(Buffer.from(site.takeChangedRoot() ?? []).toString('hex')).toBe(
    '6a80aea6a36e480b2d05d4a395a265577d34a788f87287ae2060f164cbc4258b',
  );
});
