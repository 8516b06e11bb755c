// Compares the tree of all certified answers with a slow reference model that is computed from the
// present content: the root depends only on the content, not on its history.

import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import type { CertifiedFile } from '../../src/certification/certified-file.ts';
import { type CertifiedSite, openCertifiedSite } from '../../src/certification/certified-site.ts';
import { openFixedTrees } from '../../src/certification/fixed-answers.ts';
import { openLabelTree } from '../../src/storage/label-tree.ts';
import { spaceIds } from '../../src/storage/memory.ts';
import {
  type ReferenceAnswer,
  type ReferenceFile,
  referenceRoot,
} from '../support/certification/site-reference.ts';
import { FakeSystem, installNodeKernel } from '../support/kernel-host.ts';
import { installNodeText } from '../support/memory-stores.ts';
import { randomNumbers } from '../support/random-numbers.ts';

const digestOf = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest();
const notFound: ReferenceAnswer = { status: 404, headers: [['a', 'b']], body: Buffer.from('none') };
const preflight: ReferenceAnswer = {
  status: 204,
  headers: [['allow', 'x']],
  body: new Uint8Array(0),
};
const fixed = (answer: ReferenceAnswer) => ({ ...answer, bodyDigest: digestOf(answer.body) });

function openSite(): CertifiedSite {
  return openCertifiedSite({
    published: openLabelTree(spaceIds.labels, 0),
    hiddenTree: openLabelTree(spaceIds.labels, 1),
    fixed: openFixedTrees(() => {
      const options = fixed(preflight);
      return { notFound: fixed(notFound), preflight: options, formerPreflight: options };
    }),
  });
}

function certified(file: ReferenceFile): CertifiedFile {
  const { etag, type, size, partSize, parts } = file;
  return {
    etag,
    validators: [['ETag', etag]],
    headers: [['Content-Type', type]],
    size,
    partSize,
    partCount: parts.length,
    isJoined: true,
    partDigest: (index) => digestOf(parts[index] ?? new Uint8Array(0)),
  };
}

test('CertifiedSite: the root matches the files of public buckets after 400 random changes', async () => {
  installNodeText();
  const system = new FakeSystem();
  await installNodeKernel({ system });
  const random = randomNumbers(11);
  const pick = <T>(values: readonly T[]): T => values[random(values.length)] as T;
  const buckets = ['a', 'b', 'cc'];
  const paths = ['x', 'y', 'x/y', 'x/z', 'x/yy/é', '1', '2', '~'];
  const files = new Map<string, ReferenceFile>();
  const publicBuckets = new Set<string>(['a']);
  let site = openSite();
  site.setUp({ hasUncertified: true });
  site.showBucket('a', true);
  expect(site.takeChangedRoot()).toBeDefined();
  for (let turn = 0; turn < 400; turn++) {
    const bucketId = pick(buckets);
    const path = pick(paths);
    const kind = random(10);
    if (kind < 5) {
      const partSize = 1 + random(3);
      const counts = [0, 1, 1, 2, 5];
      const count = pick(counts);
      const parts = Array.from({ length: count }, (_, index) => {
        const isLast = index > 0 && index === count - 1;
        return new Uint8Array(isLast ? 1 + random(partSize) : partSize).fill(turn);
      });
      const size = parts.reduce((sum, { length }) => sum + length, 0);
      const type = pick(['text/plain', 'image/png']);
      const file = { bucketId, path, etag: `"${turn}"`, type, size, partSize, parts };
      files.set(`${bucketId}/${path}`, file);
      site.putFile(file, certified(file), Buffer.concat(parts.map(digestOf)));
    } else if (kind < 7) {
      files.delete(`${bucketId}/${path}`);
      site.removeFile({ bucketId, path });
    } else if (kind === 7) {
      publicBuckets.delete(bucketId);
      site.showBucket(bucketId, false);
    } else if (kind === 8) {
      publicBuckets.add(bucketId);
      site.showBucket(bucketId, true);
    } else {
      // An upgrade: a new heap on the same stable memory.
      await installNodeKernel({ system });
      site = openSite();
      site.setUp({ hasUncertified: true });
    }
    const root = site.takeChangedRoot() ?? expect.fail('no root');
    const shown = { files: [...files.values()], publicBuckets: [...publicBuckets] };
    const reference = referenceRoot({ ...shown, notFound, preflight });
    expect(Buffer.from(root).toString('hex'), `turn ${turn}`).toBe(reference.toString('hex'));
    expect(site.takeChangedRoot()).toBeUndefined();
  }
  expect(files.size).toBeGreaterThan(10);
});
