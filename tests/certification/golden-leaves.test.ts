// Leaves of certified files outlive upgrades: a later version must answer with the same headers
// until it has renewed the leaves. So this test fixes the headers and the root hash of each version
// of the leaves.

import { beforeAll, expect, test } from 'vitest';
import { openCertifiedSite } from '../../src/certification/certified-site.ts';
import { openFixedTrees } from '../../src/certification/fixed-answers.ts';
import type { PublishedFile } from '../../src/domain/shared/publication.ts';
import { bucketRedirect } from '../../src/http/bucket-redirects.ts';
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
  headers: ['', 'inline', 'gzip', 'de'],
  metadata: [],
  leavesVersion: 2,
};

const former: PublishedFile = { ...file, leavesVersion: 1 };

test('representationHeaders(): a file of version 0.1.0 has the expected headers', () => {
  expect([...validatorHeaders(former), ...representationHeaders(former)]).toEqual(
    headers.filter(([name]) => name !== 'Access-Control-Expose-Headers'),
  );
  // A type that the present version sandboxes, but the former one did not.
  const contentType = 'multipart/x-mixed-replace';
  const names = (leavesVersion: 1 | 2) =>
    representationHeaders({ ...file, contentType, leavesVersion }).map(([name]) => name);
  expect(names(2)).toEqual([...names(1), 'Content-Security-Policy']);
});

test('representationHeaders(): a new file has the expected headers', () => {
  expect([...validatorHeaders(file), ...representationHeaders(file)]).toEqual(headers);
});

test('bucketRedirect(): a change of this answer needs a new markVersion in publication.ts', () => {
  expect(bucketRedirect({ bucketId: 'box', origin: 'https://aaaaa-aa.icp.net' })).toEqual({
    status: 307,
    headers: [
      ['Location', 'https://aaaaa-aa.icp.net/cloud/box/'],
      ['Cache-Control', 'no-cache'],
      ['Access-Control-Allow-Origin', '*'],
    ],
    body: new Uint8Array(0),
  });
});

const headers = [
  ['ETag', `"${'07'.repeat(32)}-2"`],
  ['Last-Modified', 'Fri, 02 Jan 2026 03:04:05 GMT'],
  ['Cache-Control', 'public, max-age=3600'],
  [
    'Access-Control-Expose-Headers',
    'ETag, Content-Range, Content-Length, Accept-Ranges, Last-Modified, Content-Disposition',
  ],
  ['Content-Type', 'image/svg+xml'],
  ['Accept-Ranges', 'bytes'],
  ['X-Content-Type-Options', 'nosniff'],
  ['Content-Disposition', 'inline'],
  ['Content-Encoding', 'gzip'],
  ['Content-Language', 'de'],
  ['Content-Security-Policy', 'sandbox'],
];

test.each([
  [former, '6a80aea6a36e480b2d05d4a395a265577d34a788f87287ae2060f164cbc4258b'],
  [file, 'da729b959f067695d0015ceaea10826f0c75594c5c6eeeea22d21408b64157c3'],
])("representationHeaders(): the file's leaves have the expected root", async (file, root) => {
  await installNodeKernel();
  const nothing = { status: 404, headers: [], bodyDigest: new Uint8Array(32) };
  // A private bucket: its files are in a separate tree in the same form as those of public ones.
  const hiddenTree = openLabelTree(spaceIds.labels, 1);
  const site = openCertifiedSite({
    published: openLabelTree(spaceIds.labels, 0),
    hiddenTree,
    fixed: openFixedTrees(() => ({
      notFound: nothing,
      preflight: nothing,
      formerPreflight: nothing,
    })),
  });
  const digests = new Uint8Array(64).fill(9);
  const certified = {
    etag: `"${'07'.repeat(32)}-2"`,
    validators: validatorHeaders(file),
    headers: representationHeaders(file),
    size: file.size,
    partSize: file.chunkSize,
    partCount: file.chunkCount,
    isJoined: true,
    partDigest: () => digests.subarray(0, 32),
  };
  site.putFile(file, certified, digests);
  expect(Buffer.from(hiddenTree.hash()).toString('hex')).toBe(root);
});
