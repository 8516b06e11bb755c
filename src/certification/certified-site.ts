// The tree of everything that is certified over HTTP, in stable memory:
//
//   http_expr / <*>                                what is nowhere: 404, and the answer to OPTIONS
//   http_expr / api / <*>                          nothing is certified
//   http_expr / cloud / <*>                        nothing is certified: what is in no public
//   bucket
//   http_expr / cloud / bucket / segment … / <$>   a file of a public bucket
//   http_expr / cloud / bucket / <*>               what is not in that bucket: as what is nowhere
//
// No label tells of a private bucket: a proof of absence shows its neighbours. The files of private
// buckets are kept under the same labels in a second tree, whose root is in no certificate: showing
// and hiding a bucket moves one edge. Below a file's label there is a leaf for each request that
// has a certified answer; only hashes are stored.

import { concatBytes } from '../lib/bytes.ts';
import { type LabelPath, type LabelTree, partLeaves } from '../storage/label-tree.ts';
import {
  type CertifiedFile,
  type FileRow,
  type HashedFile,
  hashFile,
  notModifiedLabels,
  partPairs,
  plainLabel,
  responseTree,
} from './certified-file.ts';
import { rememberConstants } from './constants.ts';
import { type ExpressionName, expressionHash } from './expressions.ts';
import type { FixedTrees } from './fixed-answers.ts';
import type { Branch } from './hash-tree.ts';
import { methodPair, nameHash } from './representation-hash.ts';
import {
  apiText,
  bucketText,
  cloudText,
  type FileName,
  fileText,
  missingText,
  outermostText,
} from './site-paths.ts';

export interface SiteParts {
  readonly published: LabelTree;
  /** For private buckets. */
  readonly shelf: LabelTree;
  readonly fixed: () => FixedTrees;
}

export type CertifiedSite = ReturnType<typeof openCertifiedSite>;

export function openCertifiedSite({ published, shelf, fixed }: SiteParts) {
  let isChanged = false;

  const { isPublic, mark } = openMarks({ published, fixed });

  function treeOf(bucketId: string): LabelTree {
    return isPublic(bucketId) ? published : shelf;
  }

  return {
    /** For install and upgrade: everything that is the same for all files. */
    setUp(): void {
      rememberConstants();
      published.set({ text: outermostText }, fixed().outermost('not-found').hash);
      for (const text of [apiText, cloudText]) published.set({ text }, fixed().uncertified.hash);
      isChanged = true;
    },

    /** For each bucket after an upgrade: what marks it may be of an earlier version. */
    renewBucket(bucketId: string, isPublic: boolean): void {
      if (isPublic) mark(bucketId);
      else published.remove({ text: bucketText(bucketId) });
      isChanged = true;
    },

    /** In place of what is there. `digests`: SHA-256 of each part, 32 bytes each. */
    putFile(name: FileName, file: CertifiedFile, digests: Uint8Array): void {
      const options = fixed().preflight;
      putLeaves(treeOf(name.bucketId), fileText(name), { file: hashFile(file), digests, options });
      isChanged = true;
    },

    removeFile(name: FileName): void {
      treeOf(name.bucketId).remove({ text: fileText(name) });
      isChanged = true;
    },

    /** The bucket, new or not, is for everybody or not. */
    showBucket(bucketId: string, isToShow: boolean): void {
      const path = { text: bucketText(bucketId) };
      if (isToShow) {
        shelf.move(path, { tree: published, path });
        mark(bucketId);
      } else if (isPublic(bucketId)) {
        published.remove({ text: missingText(bucketId) });
        published.move(path, { tree: shelf, path });
      }
      isChanged = true;
    },

    removeBucket(bucketId: string): void {
      const path = { text: bucketText(bucketId) };
      published.remove(path);
      shelf.remove(path);
      isChanged = true;
    },

    /** The root, if it may have changed since it was last taken. */
    takeChangedRoot(): Uint8Array | undefined {
      if (!isChanged) return undefined;
      isChanged = false;
      return published.hash();
    },
  };
}

/** What stands for absence in each public bucket, and so tells it from a private one. */
function openMarks({ published, fixed }: Omit<SiteParts, 'shelf'>) {
  return {
    isPublic: (bucketId: string) => published.has({ text: missingText(bucketId) }),
    /** In place of what version 0.1.0 put there for a private bucket. */
    mark(bucketId: string): void {
      published.set({ text: missingText(bucketId) }, fixed().outermost('not-found').hash);
    },
  };
}

interface NewLeaves {
  readonly file: HashedFile;
  readonly digests: Uint8Array;
  readonly options: Branch;
}

function putLeaves(tree: LabelTree, text: string, { file, digests, options }: NewLeaves): void {
  const { partCount } = file.file;
  if (partCount === 0) tree.remove({ text });
  tree.setLeaves(under(text, 'plain'), plainLeaves(file, options));
  tree.setLeaves(under(text, 'ifNoneMatch'), notModifiedLeaves(file));
  if (partCount > 0) tree.setLeaves(under(text, 'range'), rangeLeaves(file, digests));
}

function under(text: string, expression: ExpressionName): LabelPath {
  return { text, hashes: [expressionHash(expression)] };
}

// Leaves: label and hash, 32 bytes each.

function plainLeaves(file: HashedFile, options: Branch): Uint8Array {
  const get: FileRow = { row: 'plain', method: 'GET' };
  const head: FileRow = { row: 'plain', method: 'HEAD' };
  return concatBytes(
    plainLabel('GET'),
    responseTree(file, get).hash,
    plainLabel('HEAD'),
    responseTree(file, head).hash,
    options.label,
    options.tree.hash,
  );
}

/** Four requests, one response. */
function notModifiedLeaves(hashed: HashedFile): Uint8Array {
  const { file } = hashed;
  const { hash } = responseTree(hashed, { row: 'not-modified', method: 'GET', tag: file.etag });
  return concatBytes(...notModifiedLabels(file).flatMap((label) => [label, hash]));
}

/** One for each part. */
function rangeLeaves(hashed: HashedFile, digests: Uint8Array): Uint8Array {
  const { partSize, size: totalSize } = hashed.file;
  return partLeaves({
    pairs: concatBytes(...partPairs(hashed).map(({ bytes }) => bytes)),
    contentRangeName: nameHash('content-range'),
    requestPairs: concatBytes(methodPair('GET').bytes, nameHash('range')),
    digests,
    partSize,
    totalSize,
  });
}
