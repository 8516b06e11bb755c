// The tree of everything that is certified over HTTP, in stable memory:
//
//   http_expr / <*>                                missing paths: 404, and the answer to OPTIONS
//   http_expr / api / <*>                          nothing is certified
//   http_expr / metrics / <*>                      nothing is certified
//   http_expr / cloud / <*>                        nothing is certified: paths in no public bucket
//   http_expr / cloud / bucket / segment … / <$>   a file of a public bucket
//   http_expr / s / id / "" / <*>                  the file of a link, in any bucket
//   http_expr / .well-known / name / <$>           a text that controllers have set
//   http_expr / "" / <$>, http_expr / assets / name / <$>   the console's pages
//   http_expr / s / "" / <*>                       at a front: the page that opens links
//   http_expr / b / bucket / <$>, http_expr / b / bucket / "" / <$>   at a front: a redirect to a
//   public bucket of a volume
//   volumes                                        at a front: the list of its volumes
//   http_expr / cloud / bucket / segment … / "" / <$>   a folder of a site, by its address
//   http_expr / cloud / bucket / <*>               missing paths of that bucket: the usual 404,
//   or the file 404.html of a site
//
// In a site, the label of a path without a file has the file with that name and `.html`, or else a
// redirect if the path is a folder with an index.html.
//
// No label may reveal a private bucket, because a proof of absence shows the neighbouring labels.
// The files of private buckets are in a second tree under the same labels; the root of that tree is
// in no certificate. Showing or hiding a bucket moves one edge. Below a file's label, each request
// with a certified answer has a leaf. For a file of one part, the label stores only the hash of all
// its leaves, which are computed again when the file is read. For a file of several parts, one with
// a thumbnail, and one that version 0.1.0 stored, each leaf is stored; the hash is the same.

import { concatBytes } from '../lib/bytes.ts';
import { type LabelPath, type LabelTree, partLeaves } from '../storage/label-tree.ts';
import type { CertifiedFile } from './certified-file.ts';
import { type ExpressionName, expressionHash, rememberExpressions } from './expressions.ts';
import { type FileLeaves, type FileLevels, openFileLeaves } from './file-leaves.ts';
import type { FixedAnswer, FixedTrees } from './fixed-answers.ts';
import { valueTree } from './hash-tree.ts';
import { methodPair, nameHash } from './representation-hash.ts';
import { openSiteAddresses } from './site-addresses.ts';
import {
  addressText,
  addressTexts,
  apiText,
  bucketText,
  cloudText,
  type FileName,
  fileText,
  linkPrefix,
  linkText,
  metricsText,
  missingText,
  outermostText,
  volumesText,
} from './site-paths.ts';
import { rememberThumbnailLabels } from './thumbnail-leaves.ts';

export interface SiteParts {
  readonly published: LabelTree;
  /** The tree of private buckets. */
  readonly hiddenTree: LabelTree;
  readonly fixed: () => FixedTrees;
}

export type CertifiedSite = ReturnType<typeof openCertifiedSite>;

export function openCertifiedSite({ published, hiddenTree, fixed }: SiteParts) {
  let isChanged = false;
  const leaves = openFileLeaves(() => fixed().fileLeaves);

  const { isPublic, mark } = openMarks({ published, fixed });
  const treeOf = (bucketId: string) => (isPublic(bucketId) ? published : hiddenTree);

  const changed = () => {
    isChanged = true;
  };

  return {
    ...openFiles({ treeOf, leaves, changed }),
    ...openLinks({ published, leaves, fixed, changed }),
    ...openTexts({ published, leaves, changed }),
    ...openAddresses({ published, fixed, changed }),
    ...openSiteAddresses({
      ...{ treeOf, isPublic, fixed, changed },
      putLeaves: (tree, text, parts) => putLeaves(leaves, { tree, text }, parts),
    }),

    /**
     * Certifies the answers that do not depend on files, at install and upgrade. `hasUncertified`:
     * whether some paths have uncertified answers; a front has no such paths.
     */
    setUp({ hasUncertified }: { readonly hasUncertified: boolean }): void {
      rememberExpressions();
      rememberThumbnailLabels();
      published.set({ text: outermostText }, fixed().outermost('not-found').hash);
      for (const text of hasUncertified ? [apiText, cloudText, metricsText] : []) {
        published.set({ text }, fixed().uncertified.hash);
      }
      isChanged = true;
    },

    /** Replaces the marks of a bucket after an upgrade, because an earlier version wrote others. */
    renewBucket(bucketId: string, isPublic: boolean): void {
      if (isPublic) mark(bucketId);
      else published.remove({ text: bucketText(bucketId) });
      isChanged = true;
    },

    /** Makes a new or existing bucket public or private. */
    showBucket(bucketId: string, isToShow: boolean): void {
      const path = { text: bucketText(bucketId) };
      if (isToShow) {
        hiddenTree.move(path, { tree: published, path });
        mark(bucketId);
      } else if (isPublic(bucketId)) {
        published.remove({ text: missingText(bucketId) });
        published.move(path, { tree: hiddenTree, path });
      }
      isChanged = true;
    },

    removeBucket(bucketId: string): void {
      const path = { text: bucketText(bucketId) };
      published.remove(path);
      hiddenTree.remove(path);
      isChanged = true;
    },

    /** Returns the root if it may have changed since the last call. */
    takeChangedRoot(): Uint8Array | undefined {
      if (!isChanged) return undefined;
      isChanged = false;
      return published.hash();
    },
  };
}

interface FileParts {
  readonly treeOf: (bucketId: string) => LabelTree;
  readonly leaves: FileLeaves;
  readonly changed: () => void;
}

/** Operations on files of public and private buckets. */
function openFiles({ treeOf, leaves, changed }: FileParts) {
  return {
    /** Stores the file or replaces it. `digests`: SHA-256 of each part, 32 bytes each. */
    putFile(name: FileName, file: CertifiedFile, digests: Uint8Array): void {
      const place = { tree: treeOf(name.bucketId), text: fileText(name) };
      putLeaves(leaves, place, { file, digests });
      changed();
    },

    removeFile(name: FileName): void {
      treeOf(name.bucketId).remove({ text: fileText(name) });
      changed();
    },
  };
}

interface LinkParts {
  readonly published: LabelTree;
  readonly leaves: FileLeaves;
  readonly changed: () => void;
}

/** Operations on links, at whose address anybody can read a file of any bucket. */
function openLinks({ published, leaves, fixed, changed }: LinkParts & AddressParts) {
  return {
    /** Stores that only updates answer at the link's address, except OPTIONS. */
    putLinkUpdate(id: string): void {
      published.set({ text: linkText(id) }, fixed().toAll('update', 'preflight').hash);
      changed();
    },

    /** Stores the file at the link's address. */
    putLink(id: string, file: CertifiedFile, digests: Uint8Array): void {
      putLeaves(leaves, { tree: published, text: linkText(id) }, { file, digests });
      changed();
    },

    removeLink(id: string): void {
      published.remove({ text: linkPrefix(id) });
      changed();
    },
  };
}

interface AddressParts {
  readonly published: LabelTree;
  readonly fixed: () => FixedTrees;
  readonly changed: () => void;
}

/** Operations on texts at `/.well-known/` and console pages, each stored as a file of one part. */
function openTexts({ published, leaves, changed }: LinkParts) {
  return {
    /** `address`: the path, with its leading slash. */
    putText(address: string, text: CertifiedFile): void {
      published.set({ text: addressText(address) }, leaves.hash(text));
      changed();
    },

    removeText(address: string): void {
      published.remove({ text: addressText(address) });
      changed();
    },

    /** Certifies the list of a front's volumes as a value. */
    putVolumes(list: Uint8Array): void {
      published.set({ text: volumesText }, valueTree(list).hash);
      changed();
    },
  };
}

/** Operations on the redirects of a front to public buckets, with and without a final slash. */
function openAddresses({ published, fixed, changed }: AddressParts) {
  return {
    /** Stores the answer to every request at the bucket's addresses. */
    putAddress(bucketId: string, answer: FixedAnswer): void {
      const { hash } = fixed().toAll(answer, 'not-found');
      for (const text of addressTexts(bucketId)) published.set({ text }, hash);
      changed();
    },

    removeAddress(bucketId: string): void {
      for (const text of addressTexts(bucketId)) published.remove({ text });
      changed();
    },
  };
}

/** The wildcard of each public bucket, which distinguishes it from a private one. */
function openMarks({ published, fixed }: Omit<SiteParts, 'hiddenTree'>) {
  return {
    isPublic: (bucketId: string) => published.has({ text: missingText(bucketId) }),
    /** Marks the bucket as public; replaces the mark of a private bucket of version 0.1.0. */
    mark(bucketId: string): void {
      published.set({ text: missingText(bucketId) }, fixed().outermost('not-found').hash);
    },
  };
}

/** A leaf is label and hash. A level of plain answers has GET, HEAD and OPTIONS, in this order. */
const leafBytes = 64;

interface Place {
  readonly tree: LabelTree;
  readonly text: string;
}

function putLeaves(leaves: FileLeaves, place: Place, parts: PartDigests): void {
  const { file } = parts;
  if (file.thumbnail !== undefined) putPictured(leaves, place, parts);
  else if (file.partCount <= 1) place.tree.set({ text: place.text }, leaves.hash(file));
  else putLevels(place, leaves.levels(file), parts);
}

/** Stores the leaves of a file with a thumbnail. Only its answer to OPTIONS has any parameters. */
function putPictured(leaves: FileLeaves, { tree, text }: Place, parts: PartDigests): void {
  const { file } = parts;
  const levels = leaves.levels(file);
  const plain = levels.plain.subarray(file.isJoined ? 0 : leafBytes, 2 * leafBytes);
  const pictured = concatBytes(plain, leaves.thumbnail(file));
  tree.remove({ text });
  tree.setLeaves(under(text, 'plain'), levels.plain.subarray(2 * leafBytes));
  tree.setLeaves(under(text, 'picturedPlain'), pictured);
  tree.setLeaves(under(text, 'picturedIfNoneMatch'), levels.ifNoneMatch);
  if (file.partCount === 0) return;
  tree.setLeaves(under(text, 'picturedRange'), rangeLeaves(levels.partPairs, parts));
}

/** Stores each leaf, so that the proof of one part does not need the digests of all parts. */
function putLevels({ tree, text }: Place, levels: FileLevels, digests: PartDigests): void {
  const { plain } = levels;
  // A replaced file with a thumbnail had other levels, which would prove its answers
  if (tree.has(under(text, 'picturedPlain'))) tree.remove({ text });
  tree.setLeaves(under(text, 'plain'), digests.file.isJoined ? plain : plain.subarray(leafBytes));
  tree.setLeaves(under(text, 'ifNoneMatch'), levels.ifNoneMatch);
  tree.setLeaves(under(text, 'range'), rangeLeaves(levels.partPairs, digests));
}

function under(text: string, expression: ExpressionName): LabelPath {
  return { text, hashes: [expressionHash(expression)] };
}

interface PartDigests {
  readonly file: CertifiedFile;
  /** 32 bytes each. */
  readonly digests: Uint8Array;
}

/** Returns one leaf per part: label and hash, 32 bytes each. */
function rangeLeaves(pairs: Uint8Array, { file, digests }: PartDigests): Uint8Array {
  return partLeaves({
    pairs,
    digests,
    contentRangeName: nameHash('content-range'),
    requestPairs: concatBytes(methodPair('GET'), nameHash('range')),
    partSize: file.partSize,
    totalSize: file.size,
  });
}
