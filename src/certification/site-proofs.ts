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
import { type FileName, fileText, outermostText, requestText, wildcard } from './site-paths.ts';

/** What the header needs beside the certificate. */
export type Evidence = Omit<Proof, 'certificate'>;

/** `http_expr` alone stands in front of the outermost wildcard. */
const outermostDepth = 1;

/** Paths of URLs come percent-decoded. A proof is `undefined` where it would prove a lie. */
export function openSiteProofs({
  published,
  fixed,
}: {
  readonly published: LabelTree;
  readonly fixed: () => FixedTrees;
}) {
  return {
    /** Whether there is a public file at just this path. */
    hasFileAt(urlPath: string): boolean {
      return published.has({ text: requestText(urlPath) });
    },

    /** Whether nothing is certified at the path or anywhere beside it. */
    isUncertified(urlPath: string): boolean {
      const depth = published.wildcardDepth({ text: requestText(urlPath) });
      return depth !== undefined && depth > outermostDepth;
    },

    /** That the row's answer is the file's. */
    proveRow(name: FileName, file: CertifiedFile, row: FileRow): Evidence | undefined {
      const path = fileText(name);
      const hashes = [expressionHash(rowExpression(row)), rowLabel(file, row)];
      const subtree = cborOf(responseTree(hashFile(file), row));
      const witness = published.witness({ text: path, hashes }, subtree);
      return witness && { witness, path };
    },

    /** That OPTIONS is answered at a file as everywhere. */
    proveFilePreflight(urlPath: string): Evidence | undefined {
      const path = requestText(urlPath);
      const { label, tree } = fixed().preflight(true);
      const hashes = [expressionHash('plain'), label];
      const witness = published.witness({ text: path, hashes }, cborOf(tree));
      return witness && { witness, path };
    },

    /** That nothing is at the path, or that OPTIONS is answered there as everywhere. */
    proveFixed(urlPath: string, row: FixedRow): Evidence | undefined {
      const subtree = cborOf(fixed().outermost(row));
      const path = { text: requestText(urlPath) };
      const witness = published.fallbackWitness(path, { depth: outermostDepth, subtree });
      return witness && { witness, path: outermostText };
    },

    /** That nothing is certified at the path. */
    proveUncertified(urlPath: string): Evidence | undefined {
      const text = requestText(urlPath);
      const depth = published.wildcardDepth({ text });
      if (depth === undefined || depth <= outermostDepth) return undefined;
      const subtree = cborOf(fixed().uncertified);
      const witness = published.fallbackWitness({ text }, { depth, subtree });
      const labels = text.split('\0').slice(0, depth);
      return witness && { witness, path: [...labels, wildcard].join('\0') };
    },
  };
}
