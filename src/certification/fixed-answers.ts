// Answers that are certified once for all paths under a wildcard: the 404, the answer to OPTIONS,
// and the statement that nothing is certified. Computed once, because queries discard computed
// values.

import { emptyBytes } from '../lib/bytes.ts';
import { expressionField, expressionHash, expressions } from './expressions.ts';
import { leafConstants } from './file-leaves.ts';
import {
  type Branch,
  labeledTree,
  leafTree,
  levelTree,
  prunedTree,
  type Tree,
} from './hash-tree.ts';
import {
  type Field,
  fieldPair,
  messageHash,
  methodHash,
  statusPair,
} from './representation-hash.ts';

export interface FixedAnswer {
  readonly status: number;
  /** All fields except the expression. */
  readonly headers: readonly Field[];
  /** SHA-256 of the body. */
  readonly bodyDigest: Uint8Array;
}

export type FixedRow = 'not-found' | 'preflight';

export interface FixedTrees {
  /** Returns the tree under the wildcard of the top or of a public bucket that shows the answer. */
  outermost(row: FixedRow): Tree;
  /** Like outermost(), with another answer, or none ('update'), in place of the 404. */
  toAll(answer: FixedAnswer | 'update', row: FixedRow): Tree;
  /** The data that the leaves of all files share, including OPTIONS. */
  readonly fileLeaves: Uint8Array;
  /** Returns the branch of OPTIONS for stored levels of this version or of version 0.1.0. */
  shownPreflight(isFormer: boolean): Branch;
  /** The tree for answers that are not certified. */
  readonly uncertified: Tree;
}

export interface FixedAnswers {
  readonly notFound: FixedAnswer;
  readonly preflight: FixedAnswer;
  /** The answer to OPTIONS at files that upkeep has not renewed since an upgrade. */
  readonly formerPreflight: FixedAnswer;
}

/** The trees are computed at first use. */
export function openFixedTrees(answers: () => FixedAnswers): () => FixedTrees {
  let trees: FixedTrees | undefined;
  return () => {
    trees ??= makeFixedTrees(answers());
    return trees;
  };
}

export function makeFixedTrees(answers: FixedAnswers): FixedTrees {
  const { notFound, preflight, formerPreflight } = answers;
  const branch = (answer: FixedAnswer, isShown: boolean): Branch => {
    return { label: methodHash('OPTIONS'), tree: answerTree(answer, 'plain', isShown) };
  };
  const hidden = branch(preflight, false);
  const shown = branch(preflight, true);
  const formerShown = branch(formerPreflight, true);
  const toAll = (answer: FixedAnswer | 'update', row: FixedRow) => {
    const isShown = row === 'not-found';
    if (answer === 'update') return preflightTreeOf(shown);
    return outermostTree({
      answer: answerTree(answer, 'anyRequest', isShown),
      preflight: isShown ? hidden : shown,
    });
  };
  const notFoundTree = toAll(notFound, 'not-found');
  const preflightTree = toAll(notFound, 'preflight');
  return {
    outermost: (row) => (row === 'not-found' ? notFoundTree : preflightTree),
    toAll,
    fileLeaves: leafConstants(answerHash(preflight, 'plain')),
    shownPreflight: (isFormer) => (isFormer ? formerShown : shown),
    uncertified: labeledTree({ label: expressionHash('none'), tree: leafTree(true) }),
  };
}

type FixedExpression = 'plain' | 'anyRequest';

function answerHash({ status, headers, bodyDigest }: FixedAnswer, name: FixedExpression) {
  const fields: Field[] = [...headers, [expressionField, expressions[name]]];
  return messageHash([...fields.map(fieldPair), statusPair(status)], bodyDigest);
}

/** Returns `response hash / ""` of the answer under that expression. */
function answerTree(answer: FixedAnswer, expression: FixedExpression, isShown: boolean): Tree {
  return labeledTree({ label: answerHash(answer, expression), tree: leafTree(isShown) });
}

/**
 * Returns the tree of the answer, usually a 404, to any request, and of the 204 to OPTIONS. It
 * shows both expressions, because the name of a file can be that of the wildcard.
 */
function outermostTree(below: { readonly answer: Tree; readonly preflight: Branch }): Tree {
  const anyRequest = labeledTree({ label: emptyBytes, tree: below.answer });
  const plain = labeledTree(below.preflight);
  return levelTree([
    { label: expressionHash('anyRequest'), tree: withLabel(anyRequest) },
    { label: expressionHash('plain'), tree: withLabel(plain) },
  ]);
}

/** Returns the tree of the answer to OPTIONS, so that nothing can be proved for other requests. */
function preflightTreeOf(preflight: Branch): Tree {
  return labeledTree({ label: expressionHash('plain'), tree: labeledTree(preflight) });
}

function withLabel(tree: Tree): Tree {
  return tree.shown === undefined ? prunedTree(tree.hash) : tree;
}
