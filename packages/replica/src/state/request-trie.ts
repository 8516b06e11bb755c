// A persistent binary trie from 32-byte request ids to hash trees, which is itself a hash tree: an
// insertion only hashes the forks on its path, however many requests it has.

import type { HashTree } from './hash-tree.ts';
import { empty, fork, labeled } from './hash-tree.ts';

/** All ids of one trie have the same length. */
export type RequestTrie =
  | undefined
  | { readonly kind: 'entry'; readonly id: Uint8Array; readonly tree: HashTree }
  | {
      readonly kind: 'branch';
      /** The first bit, from the start of the id, in which the two sides differ. */
      readonly bit: number;
      readonly left: NonNullable<RequestTrie>;
      readonly right: NonNullable<RequestTrie>;
      readonly tree: HashTree;
    };

type Node = NonNullable<RequestTrie>;

function bitOf(id: Uint8Array, bit: number): 0 | 1 {
  return ((id[bit >> 3] ?? 0) >> (7 - (bit & 7))) & 1 ? 1 : 0;
}

function firstDifferentBit(a: Uint8Array, b: Uint8Array): number | undefined {
  for (let index = 0; index < a.length; index++) {
    const difference = (a[index] ?? 0) ^ (b[index] ?? 0);
    if (difference !== 0) return index * 8 + Math.clz32(difference) - 24;
  }
  return undefined;
}

function nearestId(node: Node, id: Uint8Array): Uint8Array {
  let current = node;
  while (current.kind === 'branch') {
    current = bitOf(id, current.bit) === 0 ? current.left : current.right;
  }
  return current.id;
}

function branch(bit: number, left: Node, right: Node): Node {
  return { kind: 'branch', bit, left, right, tree: fork(left.tree, right.tree) };
}

/** Returns the trie with `subtree` at `id`, replacing an existing one. */
export function setRequest(trie: RequestTrie, id: Uint8Array, subtree: HashTree): Node {
  const entry: Node = { kind: 'entry', id, tree: labeled(id, subtree) };
  if (trie === undefined) return entry;
  const bit = firstDifferentBit(nearestId(trie, id), id) ?? Number.POSITIVE_INFINITY;
  return insertAt(trie, entry, bit);
}

function insertAt(node: Node, entry: Node & { readonly kind: 'entry' }, bit: number): Node {
  if (node.kind === 'entry' || node.bit > bit) {
    if (bit === Number.POSITIVE_INFINITY) return entry;
    return bitOf(entry.id, bit) === 0 ? branch(bit, entry, node) : branch(bit, node, entry);
  }
  return bitOf(entry.id, node.bit) === 0
    ? branch(node.bit, insertAt(node.left, entry, bit), node.right)
    : branch(node.bit, node.left, insertAt(node.right, entry, bit));
}

export function deleteRequest(trie: RequestTrie, id: Uint8Array): RequestTrie {
  if (trie === undefined) return undefined;
  if (trie.kind === 'entry') return Buffer.compare(trie.id, id) === 0 ? undefined : trie;
  const isLeft = bitOf(id, trie.bit) === 0;
  const before = isLeft ? trie.left : trie.right;
  const after = deleteRequest(before, id);
  if (after === before) return trie;
  if (after === undefined) return isLeft ? trie.right : trie.left;
  return isLeft ? branch(trie.bit, after, trie.right) : branch(trie.bit, trie.left, after);
}

export function trieTree(trie: RequestTrie): HashTree {
  return trie === undefined ? empty() : trie.tree;
}
