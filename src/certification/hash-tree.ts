// Hash trees of a few leaves, as in certificates: every node has its hash and, if it is shown, its
// CBOR. IC spec, "Certificate". This file knows nothing of HTTP; the tree of all files is the label
// tree of src/storage.

import { sha256 } from '../crypto/hash.ts';
import { concatBytes } from '../lib/bytes.ts';
import { asciiBytes } from './ascii.ts';

export interface Tree {
  /** 32 bytes. */
  readonly hash: Uint8Array;
  /** CBOR; `undefined` if no part is shown, so that the hash replaces it. */
  readonly shown: Uint8Array | undefined;
}

/** A label and its subtree. */
export interface Branch {
  /** 32 bytes, or no bytes. */
  readonly label: Uint8Array;
  readonly tree: Tree;
}

const hashBytes = 32;
// The domain separators, each after its length, with space for the following data.
const labeledBuffer = separatorBuffer('\x13ic-hashtree-labeled', 2 * hashBytes);
const emptyLabelBuffer = separatorBuffer('\x13ic-hashtree-labeled', hashBytes);
const forkBuffer = separatorBuffer('\x10ic-hashtree-fork', 2 * hashBytes);
const emptyLeafInput = asciiBytes('\x10ic-hashtree-leaf');

function separatorBuffer(separator: string, rest: number): Uint8Array {
  return concatBytes(asciiBytes(separator), new Uint8Array(rest));
}

// CBOR (RFC 8949): [1, left, right], [2, label, tree], [3, ""], [4, hash]
const forkHead = Uint8Array.of(0x83, 1);
const labeledHead = Uint8Array.of(0x83, 2, 0x58, hashBytes);
const emptyLabelHead = Uint8Array.of(0x83, 2, 0x40);
const emptyLeaf = Uint8Array.of(0x82, 3, 0x40);
const prunedHead = Uint8Array.of(0x82, 4, 0x58, hashBytes);

let emptyLeafHash: Uint8Array | undefined;

export function leafTree(isShown: boolean): Tree {
  emptyLeafHash ??= sha256(emptyLeafInput);
  return { hash: emptyLeafHash, shown: isShown ? emptyLeaf : undefined };
}

/** Returns a tree that shows only its hash, so that the labels above it can be shown. */
export function prunedTree(hash: Uint8Array): Tree {
  return { hash, shown: concatBytes(prunedHead, hash) };
}

/** Returns the leaf with those bytes, 65,535 at most. */
export function valueTree(bytes: Uint8Array): Tree {
  const { length } = bytes;
  const head =
    length < 256
      ? Uint8Array.of(0x82, 3, 0x58, length)
      : Uint8Array.of(0x82, 3, 0x59, length >> 8, length);
  return { hash: sha256(concatBytes(emptyLeafInput, bytes)), shown: concatBytes(head, bytes) };
}

export function labeledTree({ label, tree }: Branch): Tree {
  const isEmpty = label.length === 0;
  const input = isEmpty ? emptyLabelBuffer : labeledBuffer;
  input.set(label, input.length - hashBytes - label.length);
  input.set(tree.hash, input.length - hashBytes);
  const head = isEmpty ? emptyLabelHead : labeledHead;
  const shown = tree.shown && concatBytes(head, label, tree.shown);
  return { hash: sha256(input), shown };
}

function forkTree(left: Tree, right: Tree): Tree {
  forkBuffer.set(left.hash, forkBuffer.length - 2 * hashBytes);
  forkBuffer.set(right.hash, forkBuffer.length - hashBytes);
  const isShown = left.shown !== undefined || right.shown !== undefined;
  const shown = isShown ? concatBytes(forkHead, cborOf(left), cborOf(right)) : undefined;
  return { hash: sha256(forkBuffer), shown };
}

/** Returns the balanced tree of one or more branches, sorted by label. */
export function levelTree(branches: readonly Branch[]): Tree {
  return balanced(branches.toSorted((left, right) => compareLabels(left.label, right.label)));
}

function balanced(branches: readonly Branch[]): Tree {
  const [first, second] = branches;
  if (first !== undefined && second === undefined) {
    return labeledTree(first);
  }
  const middle = branches.length >> 1;
  return forkTree(balanced(branches.slice(0, middle)), balanced(branches.slice(middle)));
}

/** Compares different labels of 32 bytes by the first byte in which they differ. */
function compareLabels(left: Uint8Array, right: Uint8Array): number {
  let index = 0;
  while (index < hashBytes && left[index] === right[index]) index += 1;
  return (left[index] ?? 0) - (right[index] ?? 0);
}

/** Returns the CBOR of a tree for a witness. */
export function cborOf(tree: Tree): Uint8Array {
  return tree.shown ?? concatBytes(prunedHead, tree.hash);
}
