// Addresses of a site that name no file: its folders, which serve their index.html, redirects to
// folders, and the answer for missing paths in its bucket.

import type { LabelTree } from '../storage/label-tree.ts';
import type { FixedAnswer, FixedTrees } from './fixed-answers.ts';
import { type FolderAddress, folderText, missingText, redirectText } from './site-paths.ts';

export interface FolderParts {
  /** Returns the tree that holds the bucket's files: the published one, or the hidden one. */
  readonly treeOf: (bucketId: string) => LabelTree;
  readonly isPublic: (bucketId: string) => boolean;
  readonly fixed: () => FixedTrees;
  readonly changed: () => void;
}

export function openFolders({ treeOf, isPublic, fixed, changed }: FolderParts) {
  return {
    removeFolder(folder: FolderAddress): void {
      treeOf(folder.bucketId).remove({ text: folderText(folder) });
      changed();
    },

    putRedirect(folder: FolderAddress, answer: FixedAnswer): void {
      const { hash } = fixed().toAll(answer, 'not-found');
      treeOf(folder.bucketId).set({ text: redirectText(folder) }, hash);
      changed();
    },

    removeRedirect(folder: FolderAddress): void {
      treeOf(folder.bucketId).remove({ text: redirectText(folder) });
      changed();
    },

    /** Replaces the answer for missing paths in the bucket, unless the bucket is private. */
    setMissing(bucketId: string, answer: FixedAnswer | undefined): void {
      if (!isPublic(bucketId)) return;
      const trees = fixed();
      const tree = answer ? trees.toAll(answer, 'not-found') : trees.outermost('not-found');
      treeOf(bucketId).set({ text: missingText(bucketId) }, tree.hash);
      changed();
    },
  };
}
