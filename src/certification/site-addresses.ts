// Addresses of a site that name no file: folders, clean URLs, redirects, and the answers for
// missing paths.

import { concatBytes } from '../lib/bytes.ts';
import type { LabelTree } from '../storage/label-tree.ts';
import type { CertifiedFile } from './certified-file.ts';
import type { FixedAnswer, FixedTrees } from './fixed-answers.ts';
import { cborOf } from './hash-tree.ts';
import { type SiteAddress, siteText } from './site-paths.ts';

export const hashBytes = 32;

export interface AddressParts {
  /** Returns the tree that holds the bucket's files: the published one, or the hidden one. */
  readonly treeOf: (bucketId: string) => LabelTree;
  readonly isPublic: (bucketId: string) => boolean;
  readonly fixed: () => FixedTrees;
  readonly changed: () => void;
  /** Stores the leaves of a file at that path of the tree. */
  readonly putLeaves: (tree: LabelTree, text: string, leaves: SiteLeaves) => void;
}

export interface SiteLeaves {
  readonly file: CertifiedFile;
  /** SHA-256 of each part, 32 bytes each. */
  readonly digests: Uint8Array;
}

export function openSiteAddresses({ treeOf, isPublic, fixed, changed, putLeaves }: AddressParts) {
  /** The wildcard of a whole bucket exists only while the bucket is public. */
  const isBucket = ({ address, isWildcard }: SiteAddress) => isWildcard && address === '';
  const isHidden = (at: SiteAddress) => isBucket(at) && !isPublic(at.bucketId);
  const set = (at: SiteAddress, hash: Uint8Array) => {
    if (isHidden(at)) return;
    treeOf(at.bucketId).set({ text: siteText(at) }, hash);
    changed();
  };

  return {
    /** Stores the file's answers at the address. A file at a wildcard has at most one part. */
    putSiteFile(at: SiteAddress, leaves: SiteLeaves): void {
      if (isHidden(at)) return;
      putLeaves(treeOf(at.bucketId), siteText(at), leaves);
      changed();
    },

    /** Stores the answer to every request at the address; 'update': no answer but to OPTIONS. */
    putSiteAnswer(at: SiteAddress, answer: FixedAnswer | 'update'): void {
      set(at, fixed().toAll(answer, 'not-found').hash);
    },

    /** Returns the hash of the answer's subtree, and the CBOR that shows the answer. */
    siteProof(answer: FixedAnswer): Uint8Array {
      const tree = fixed().toAll(answer, 'not-found');
      return concatBytes(tree.hash, cborOf(tree));
    },

    /** Like putSiteAnswer(), by the result of siteProof(). */
    putSiteProof(at: SiteAddress, proof: Uint8Array): void {
      set(at, proof.subarray(0, hashBytes));
    },

    /** Removes the address; missing paths of a bucket get the usual 404 again. */
    removeSiteAddress(at: SiteAddress): void {
      if (isBucket(at)) {
        set(at, fixed().outermost('not-found').hash);
        return;
      }
      treeOf(at.bucketId).remove({ text: siteText(at) });
      changed();
    },
  };
}
