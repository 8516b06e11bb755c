// Answers certified once for all paths under a wildcard: the 404, the answer to OPTIONS, or that
// nothing is certified. Made once, since queries forget.

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
  /** Without the expression. */
  readonly headers: readonly Field[];
  /** SHA-256 of the body. */
  readonly bodyDigest: Uint8Array;
}

export type FixedRow = 'not-found' | 'preflight';

export interface FixedTrees {
  /** Under the outermost wildcard and that of a public bucket, showing the way to that answer. */
  outermost(row: FixedRow): Tree;
  /** As outermost(), with another answer in place of the 404. */
  toAll(answer: FixedAnswer, row: FixedRow): Tree;
  /** The part that the leaves of all files share, OPTIONS included. */
  readonly fileLeaves: Uint8Array;
  /** OPTIONS where a file's levels are stored, as they are now or by version 0.1.0. */
  shownPreflight(isFormer: boolean): Branch;
  /** For answers that are nobody's but the answering node's. */
  readonly uncertified: Tree;
}

export interface FixedAnswers {
  readonly notFound: FixedAnswer;
  readonly preflight: FixedAnswer;
  /** The answer of files that upkeep has not reached since an upgrade. */
  readonly formerPreflight: FixedAnswer;
}

/** Made when they are first needed. */
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
  const toAll = (answer: FixedAnswer, row: FixedRow) => {
    const isShown = row === 'not-found';
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

/** `response hash / ""` of the answer under that expression. */
function answerTree(answer: FixedAnswer, expression: FixedExpression, isShown: boolean): Tree {
  return labeledTree({ label: answerHash(answer, expression), tree: leafTree(isShown) });
}

/**
 * The answer, a 404 most often, to any request, 204 to OPTIONS. Both expressions are shown, since a
 * path may name a file that is called as the wildcard is.
 */
function outermostTree(below: { readonly answer: Tree; readonly preflight: Branch }): Tree {
  const anyRequest = labeledTree({ label: emptyBytes, tree: below.answer });
  const plain = labeledTree(below.preflight);
  return levelTree([
    { label: expressionHash('anyRequest'), tree: withLabel(anyRequest) },
    { label: expressionHash('plain'), tree: withLabel(plain) },
  ]);
}

function withLabel(tree: Tree): Tree {
  return tree.shown === undefined ? prunedTree(tree.hash) : tree;
}
