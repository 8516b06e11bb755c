// What proves an answer to a verifier: the part of the tree that shows it, or that shows that
// nothing nearer to the asked path is there. Changes nothing.

import type { LabelTree } from '../storage/label-tree.ts';
import type { Proof } from './certificate-header.ts';
import {
  type CertifiedFile,
  type FileRow,
  hashFile,
  responseTree,
  rowExpression,
  rowLabel,
} from './certified-file.ts';
import { expressionHash } from './expressions.ts';
import type { FixedRow, FixedTrees } from './fixed-answers.ts';
import { cborOf } from './hash-tree.ts';
import { type FileName, fileText, requestText, wildcard } from './site-paths.ts';

/** What the header needs beside the certificate. */
export type Evidence = Omit<Proof, 'certificate'>;

/** Behind `http_expr` and a folder: the wildcard under which nothing is certified. */
const uncertifiedDepth = 2;

/** Paths of URLs come percent-decoded. A proof is `undefined` where it would prove a lie. */
export function openSiteProofs({
  published,
  fixed,
}: {
  readonly published: LabelTree;
  readonly fixed: () => FixedTrees;
}) {
  /** By the nearest wildcard, under which that subtree is. */
  function prove(urlPath: string, subtree: Uint8Array): Evidence | undefined {
    const text = requestText(urlPath);
    const depth = published.wildcardDepth({ text });
    if (depth === undefined) return undefined;
    const witness = published.fallbackWitness({ text }, { depth, subtree });
    const labels = text.split('\0').slice(0, depth);
    return witness && { witness, path: [...labels, wildcard].join('\0') };
  }

  return {
    /** Whether there is a public file at just this path. */
    hasFileAt(urlPath: string): boolean {
      return published.has({ text: requestText(urlPath) });
    },

    /** Whether nothing is certified at the path or anywhere beside it. */
    isUncertified(urlPath: string): boolean {
      return published.wildcardDepth({ text: requestText(urlPath) }) === uncertifiedDepth;
    },

    /** That the row's answer is the file's. */
    proveRow(name: FileName, file: CertifiedFile, row: FileRow): Evidence | undefined {
      const path = fileText(name);
      const hashes = [expressionHash(rowExpression(row)), rowLabel(file, row)];
      const subtree = cborOf(responseTree(hashFile(file), row));
      const witness = published.witness({ text: path, hashes }, subtree);
      return witness && { witness, path };
    },

    /** That OPTIONS is answered at a file as everywhere, or as version 0.1.0 answered it. */
    proveFilePreflight(urlPath: string, isFormer: boolean): Evidence | undefined {
      const path = requestText(urlPath);
      const { label, tree } = fixed().shownPreflight(isFormer);
      const hashes = [expressionHash('plain'), label];
      const witness = published.witness({ text: path, hashes }, cborOf(tree));
      return witness && { witness, path };
    },

    /** That nothing is at the path, or that OPTIONS is answered there as everywhere. */
    proveFixed(urlPath: string, row: FixedRow): Evidence | undefined {
      return prove(urlPath, cborOf(fixed().outermost(row)));
    },

    /** That nothing is certified at the path. */
    proveUncertified(urlPath: string): Evidence | undefined {
      return prove(urlPath, cborOf(fixed().uncertified));
    },
  };
}
