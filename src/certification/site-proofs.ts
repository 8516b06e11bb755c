// What proves an answer to a verifier: the part of the tree that shows it, or that shows that
// nothing nearer to the asked path is there. Changes nothing.

import type { LabelTree } from '../storage/label-tree.ts';
import type { Proof } from './certificate-header.ts';
import { type CertifiedFile, type FileRow, rowExpression } from './certified-file.ts';
import { expressionHash } from './expressions.ts';
import { openFileLeaves } from './file-leaves.ts';
import type { FixedAnswer, FixedRow, FixedTrees } from './fixed-answers.ts';
import { cborOf } from './hash-tree.ts';
import { linkPrefix, requestText, wildcard } from './site-paths.ts';

/** What the header needs beside the certificate. */
export type Evidence = Omit<Proof, 'certificate'>;

/** Behind `http_expr` and a folder: the wildcard under which nothing is certified. */
const uncertifiedDepth = 2;

export interface RowQuestion {
  /** Where its leaves are: fileText() or linkText(). */
  readonly path: string;
  readonly file: CertifiedFile;
  readonly row: FileRow;
  /** The file's leaves are those of version 0.1.0, another answer to OPTIONS among them. */
  readonly isFormer: boolean;
}

/** Paths of URLs come percent-decoded. A proof is `undefined` where it would prove a lie. */
export function openSiteProofs({
  published,
  fixed,
}: {
  readonly published: LabelTree;
  readonly fixed: () => FixedTrees;
}) {
  const leaves = openFileLeaves(() => fixed().fileLeaves);

  /** Of a file of several parts, and of any that an earlier version stored each leaf of. */
  function proveStored({ path, file, row, isFormer }: RowQuestion): Uint8Array | undefined {
    const own = row.row === 'preflight' ? fixed().shownPreflight(isFormer) : undefined;
    const { label, subtree } = own
      ? { label: own.label, subtree: cborOf(own.tree) }
      : leaves.row(file, row);
    const hashes = [expressionHash(rowExpression(row)), label];
    return published.witness({ text: path, hashes }, subtree);
  }

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
    ...openLookups(published),

    /** That the row's answer is the file's. */
    proveRow({ path, file, row, isFormer }: RowQuestion): Evidence | undefined {
      let witness: Uint8Array | undefined;
      if (file.partCount <= 1 && !isFormer) {
        witness = published.witness({ text: path }, leaves.tree(file, row));
      }
      witness ??= proveStored({ path, file, row, isFormer });
      return witness && { witness, path };
    },

    /**
     * That nothing is at the path, or that OPTIONS is answered there as everywhere. `page`: what
     * stands for absence there, if it is not what does so everywhere.
     */
    proveFixed(urlPath: string, row: FixedRow, page?: FixedAnswer): Evidence | undefined {
      const tree = page === undefined ? fixed().outermost(row) : fixed().toAll(page, row);
      return prove(urlPath, cborOf(tree));
    },

    /** That the answer is to whatever is asked there, or that OPTIONS is answered as everywhere. */
    proveAnswer(urlPath: string, row: FixedRow, answer: FixedAnswer): Evidence | undefined {
      const path = requestText(urlPath);
      const witness = published.witness({ text: path }, cborOf(fixed().toAll(answer, row)));
      return witness && { witness, path };
    },

    /** That nothing is certified at the path. */
    proveUncertified(urlPath: string): Evidence | undefined {
      return prove(urlPath, cborOf(fixed().uncertified));
    },
  };
}

/** What is there, without a proof. */
function openLookups(published: LabelTree) {
  return {
    /** Whether a public file, or the address of a folder, is at just this path. */
    hasFileAt(urlPath: string): boolean {
      return published.has({ text: requestText(urlPath) });
    },

    /** Whether there is a link of that id, by whatever name. */
    hasLink(id: string): boolean {
      return published.has({ text: linkPrefix(id) });
    },

    /** Whether nothing is certified at the path or anywhere beside it. */
    isUncertified(urlPath: string): boolean {
      return published.wildcardDepth({ text: requestText(urlPath) }) === uncertifiedDepth;
    },
  };
}
