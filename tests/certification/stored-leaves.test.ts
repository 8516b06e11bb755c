// Release 0.1.0 stored each leaf of every file. Such leaves can still be proven, hash to the same
// value as the single node that is stored today, and are removed when the file is replaced.

import { createHash } from 'node:crypto';
import { decode } from 'cborg';
import { beforeEach, expect, test } from 'vitest';
import { fromArrays } from '../../packages/replica/src/state/hash-tree.ts';
import type { CertifiedFile, FileRow } from '../../src/certification/certified-file.ts';
import { openCertifiedSite } from '../../src/certification/certified-site.ts';
import { expressionHash } from '../../src/certification/expressions.ts';
import { openFileLeaves } from '../../src/certification/file-leaves.ts';
import { openFixedTrees } from '../../src/certification/fixed-answers.ts';
import { fileText } from '../../src/certification/site-paths.ts';
import { openSiteProofs } from '../../src/certification/site-proofs.ts';
import { concatBytes } from '../../src/lib/bytes.ts';
import { openLabelTree } from '../../src/storage/label-tree.ts';
import { spaceIds } from '../../src/storage/memory.ts';
import { installNodeKernel, type KernelHost } from '../support/kernel-host.ts';
import { installNodeText } from '../support/memory-stores.ts';

const sha256 = (text: string) => new Uint8Array(createHash('sha256').update(text).digest());
const file: CertifiedFile = {
  etag: '"abc"',
  validators: [['ETag', '"abc"']],
  headers: [
    ['Content-Type', 'text/plain'],
    ['Content-Disposition', `inline; filename="${'é'.repeat(100)}"`],
  ],
  size: 5,
  partSize: 5,
  partCount: 1,
  isJoined: true,
  partDigest: () => sha256('hello'),
};
const empty: CertifiedFile = { ...file, size: 0, partCount: 0, partDigest: () => sha256('') };
const name = { bucketId: 'box', path: 'a' };
const path = 'http_expr\0cloud\0box\0a\0<$>';
const answer = { status: 204, headers: [], bodyDigest: sha256('') };
const fixed = openFixedTrees(() => {
  return { notFound: { ...answer, status: 404 }, preflight: answer, formerPreflight: answer };
});
const published = openLabelTree(spaceIds.labels, 0);
const leaves = openFileLeaves(() => fixed().fileLeaves);
const proofs = openSiteProofs({ published, fixed });

let host: KernelHost;
let site: ReturnType<typeof openCertifiedSite>;

beforeEach(async () => {
  installNodeText();
  host = await installNodeKernel();
  site = openCertifiedSite({ published, hiddenTree: openLabelTree(spaceIds.labels, 1), fixed });
  site.setUp({ hasUncertified: true });
  site.showBucket('box', true);
});

/** Reads the number of nodes in use (kernel/label-nodes.ts) from extent 2, of the only space. */
const nodes = () => new DataView(host.system.stable.buffer).getUint32(2 * 1_048_576 + 16, true);

function storeLeaves(of: CertifiedFile): void {
  const { plain, ifNoneMatch } = leaves.levels(of);
  const under = (expression: 'plain' | 'ifNoneMatch' | 'range') => {
    return { text: path, hashes: [expressionHash(expression)] };
  };
  published.setLeaves(under('plain'), plain);
  published.setLeaves(under('ifNoneMatch'), ifNoneMatch);
  if (of.partCount === 0) return;
  const { label, subtree } = leaves.row(of, { row: 'part', index: 0 });
  const { hash } = fromArrays(decode(subtree));
  published.setLeaves(under('range'), concatBytes(label, hash));
}

/** Self-described CBOR begins with a tag. */
const tagBytes = 3;

const rows: readonly FileRow[] = [
  { row: 'plain', method: 'GET' },
  { row: 'plain', method: 'HEAD' },
  { row: 'not-modified', method: 'GET', tag: '"abc"' },
  { row: 'not-modified', method: 'HEAD', tag: 'W/"abc"' },
  { row: 'preflight' },
  { row: 'part', index: 0 },
];

test.each([
  ['of a file', file, rows, 18],
  ['of an empty file', empty, rows.slice(0, 5), 15],
])(
  'openCertifiedSite(): stored leaves %s give the same root and proofs as one node',
  (_, of, rowsOf, nodesMore) => {
    site.putFile(name, of, of.partDigest(0));
    const root = Buffer.from(published.hash());
    const least = nodes();
    const proven = (row: FileRow) =>
      proofs.proveRow({ path: fileText(name), file: of, row, isFormer: false }) ??
      expect.fail('no proof');
    const short = rowsOf.map((row) => proven(row));
    storeLeaves(of);
    expect(nodes() - least).toBe(nodesMore);
    expect(Buffer.from(published.hash())).toEqual(root);
    for (const [at, row] of rowsOf.entries()) {
      expect(proven(row)).toEqual(short[at]);
      expect(fromArrays(decode(proven(row).witness.subarray(tagBytes))).hash).toEqual(root);
    }
    site.putFile(name, of, of.partDigest(0));
    expect(nodes()).toBe(least);
    expect(Buffer.from(published.hash())).toEqual(root);
  },
);

test('openCertifiedSite(): a file of several parts replaces one of a single part, and vice versa', () => {
  site.putFile(name, file, file.partDigest(0));
  const least = nodes();
  const root = Buffer.from(published.hash());
  const parts = { ...file, size: 8, partCount: 2 };
  site.putFile(name, parts, concatBytes(sha256('1'), sha256('2')));
  expect(nodes()).toBeGreaterThan(least + 15);
  site.putFile(name, empty, empty.partDigest(0));
  site.putFile(name, file, file.partDigest(0));
  expect([nodes(), Buffer.from(published.hash())]).toEqual([least, root]);
});
