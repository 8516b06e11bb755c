// Proofs for verifiers: the part of the tree that shows an answer, or shows that nothing closer to
// the requested path exists. This file only reads the tree.

import type { LabelTree } from '../storage/label-tree.ts';
import type { Proof } from './certificate-header.ts';
import { type CertifiedFile, type FileRow, rowExpression } from './certified-file.ts';
import { expressionHash } from './expressions.ts';
import { openFileLeaves } from './file-leaves.ts';
import type { FixedAnswer, FixedRow, FixedTrees } from './fixed-answers.ts';
import { cborOf, valueTree } from './hash-tree.ts';
import { hashBytes } from './site-addresses.ts';
import {
  linkIdOf,
  linkPrefix,
  linkText,
  requestText,
  volumesText,
  wildcard,
} from './site-paths.ts';

/** The values of the header besides the certificate. */
export type Evidence = Omit<Proof, 'certificate'>;

/** The depth of `http_expr`, a folder and the wildcard under which nothing is certified. */
const uncertifiedDepth = 2;

export interface RowQuestion {
  /** The path of its leaves: `leavesPath()` of its address. */
  readonly path: string;
  readonly file: CertifiedFile;
  readonly row: FileRow;
  /** Whether the file's leaves are those of version 0.1.0, with another answer to OPTIONS. */
  readonly isFormer: boolean;
}

/** The operations on a tree that proofs need. */
export type ProvedTree = Pick<LabelTree, 'has' | 'wildcardDepth' | 'witness' | 'fallbackWitness'>;

/** `urlPath`: percent-decoded. A proof is `undefined` if the statement is false. */
export function openSiteProofs({
  published,
  fixed,
}: {
  readonly published: ProvedTree;
  readonly fixed: () => FixedTrees;
}) {
  const leaves = openFileLeaves(() => fixed().fileLeaves);
  const { prove, proveAt } = openSubtreeProofs(published);

  /** Proves a file whose leaves are stored one by one, as an earlier version stored all of them. */
  function proveStored({ path, file, row, isFormer }: RowQuestion): Uint8Array | undefined {
    const own = row.row === 'preflight' ? fixed().shownPreflight(isFormer) : undefined;
    const { label, subtree } = own
      ? { label: own.label, subtree: cborOf(own.tree) }
      : leaves.row(file, row);
    const hashes = [expressionHash(rowExpression(file, row)), label];
    return published.witness({ text: path, hashes }, subtree);
  }

  return {
    ...openLookups(published),

    /** Proves that the row's answer belongs to the file. */
    proveRow({ path, file, row, isFormer }: RowQuestion): Evidence | undefined {
      let witness: Uint8Array | undefined;
      if (file.partCount <= 1 && !isFormer && file.thumbnail === undefined) {
        witness = published.witness({ text: path }, leaves.tree(file, row));
      }
      witness ??= proveStored({ path, file, row, isFormer });
      return witness && { witness, path };
    },

    /**
     * Proves that nothing is at the path, or that OPTIONS has the usual answer there. `page`: the
     * answer for missing paths there if it differs from the usual one.
     */
    proveFixed(
      urlPath: string,
      row: FixedRow,
      page?: FixedAnswer | 'update',
    ): Evidence | undefined {
      const tree = page === undefined ? fixed().outermost(row) : fixed().toAll(page, row);
      return prove(urlPath, cborOf(tree));
    },

    /** Proves that the row's answer belongs to the file that a wildcard serves for the path. */
    proveMissingRow(urlPath: string, file: CertifiedFile, row: FileRow): Evidence | undefined {
      return prove(urlPath, leaves.tree(file, row));
    },

    /** Proves that every request at the path has this answer, or that OPTIONS has the usual one. */
    proveAnswer(urlPath: string, row: FixedRow, answer: FixedAnswer): Evidence | undefined {
      return proveAt(urlPath, cborOf(fixed().toAll(answer, row)));
    },

    /** Proves the answer that putSiteProof() has stored. */
    proveStored(urlPath: string, isWildcard: boolean, proof: Uint8Array): Evidence | undefined {
      const subtree = proof.subarray(hashBytes);
      return isWildcard ? prove(urlPath, subtree) : proveAt(urlPath, subtree);
    },

    /** Proves that nothing is certified at the path. */
    proveUncertified(urlPath: string): Evidence | undefined {
      return prove(urlPath, cborOf(fixed().uncertified));
    },
  };
}

/** Proofs of a subtree, at a path or under the wildcard that covers it. */
function openSubtreeProofs(published: ProvedTree) {
  /** Proves the subtree under the nearest wildcard. */
  function prove(urlPath: string, subtree: Uint8Array): Evidence | undefined {
    const text = requestText(urlPath);
    const depth = published.wildcardDepth({ text });
    if (depth === undefined) return undefined;
    const witness = published.fallbackWitness({ text }, { depth, subtree });
    const labels = text.split('\0', depth);
    return witness && { witness, path: [...labels, wildcard].join('\0') };
  }

  /** Proves the subtree at exactly the path. */
  function proveAt(urlPath: string, subtree: Uint8Array): Evidence | undefined {
    const path = requestText(urlPath);
    const witness = published.witness({ text: path }, subtree);
    return witness && { witness, path };
  }

  return { prove, proveAt };
}

/** Lookups without a proof, and the proof of a value. */
function openLookups(published: ProvedTree) {
  return {
    /** Proves the list of a front's volumes; undefined if another one is certified. */
    proveVolumes(list: Uint8Array): Uint8Array | undefined {
      return published.witness({ text: volumesText }, cborOf(valueTree(list)));
    },

    /** Whether a public file or the address of a folder is at exactly this path. */
    hasFileAt(urlPath: string): boolean {
      return published.has({ text: requestText(urlPath) });
    },

    /** Whether the path is below the id of an existing link, whatever its name. */
    isAtLink(urlPath: string): boolean {
      const id = linkIdOf(requestText(urlPath));
      return id !== undefined && published.has({ text: linkPrefix(id) });
    },

    /** Returns the path of the leaves of the file, page or link at that address. */
    leavesPath(urlPath: string): string {
      const text = requestText(urlPath);
      const id = linkIdOf(text);
      return id === undefined ? text : linkText(id);
    },

    /** Whether the wildcard nearest to the path states that nothing is certified. */
    isUncertified(urlPath: string): boolean {
      return published.wildcardDepth({ text: requestText(urlPath) }) === uncertifiedDepth;
    },
  };
}
