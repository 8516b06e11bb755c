// The hash tree of the Internet Computer: nodes with their hashes, witnesses, look-up. IC spec,
// "Certification": "Certificate", "Lookup".

import { createHash } from 'node:crypto';

export type Label = Uint8Array;

/** Nodes are immutable; `first` and `last` are the least and greatest label below a fork. */
export type HashTree =
  | { readonly kind: 'empty'; readonly hash: Uint8Array }
  | {
      readonly kind: 'fork';
      readonly left: HashTree;
      readonly right: HashTree;
      readonly first: Label | undefined;
      readonly last: Label | undefined;
      readonly hash: Uint8Array;
    }
  | {
      readonly kind: 'labeled';
      readonly label: Label;
      readonly child: HashTree;
      readonly hash: Uint8Array;
    }
  | { readonly kind: 'leaf'; readonly value: Uint8Array; readonly hash: Uint8Array }
  | { readonly kind: 'pruned'; readonly hash: Uint8Array };

export type LookupResult =
  | { readonly status: 'found'; readonly subtree: HashTree }
  | { readonly status: 'absent' | 'unknown' };

function hashWithDomain(domain: string, ...parts: readonly Uint8Array[]): Uint8Array {
  const hash = createHash('sha256').update(Uint8Array.of(domain.length)).update(domain);
  for (const part of parts) hash.update(part);
  return hash.digest();
}

const emptyTree: HashTree = { kind: 'empty', hash: hashWithDomain('ic-hashtree-empty') };

export function empty(): HashTree {
  return emptyTree;
}

export function leaf(value: Uint8Array): HashTree {
  return { kind: 'leaf', value, hash: hashWithDomain('ic-hashtree-leaf', value) };
}

export function labeled(label: Label | string, child: HashTree): HashTree {
  const bytes = typeof label === 'string' ? Buffer.from(label) : label;
  const hash = hashWithDomain('ic-hashtree-labeled', bytes, child.hash);
  return { kind: 'labeled', label: bytes, child, hash };
}

export function fork(left: HashTree, right: HashTree): HashTree {
  const hash = hashWithDomain('ic-hashtree-fork', left.hash, right.hash);
  return { kind: 'fork', left, right, first: firstLabel(left), last: lastLabel(right), hash };
}

/** @param hash 32 bytes: the hash of the subtree left out. */
export function pruned(hash: Uint8Array): HashTree {
  return { kind: 'pruned', hash };
}

/** Returns a balanced tree of labeled subtrees, from entries with unique labels in any order. */
export function fromEntries(
  entries: Iterable<readonly [label: Label | string, child: HashTree]>,
): HashTree {
  const nodes = [...entries].map(([label, child]) => {
    const bytes = typeof label === 'string' ? Buffer.from(label) : label;
    return { label: bytes, node: labeled(bytes, child) };
  });
  nodes.sort((a, b) => Buffer.compare(a.label, b.label));
  return balanced(nodes.map(({ node }) => node));
}

function balanced(nodes: readonly HashTree[]): HashTree {
  const [only] = nodes;
  if (only === undefined) return empty();
  if (nodes.length === 1) return only;
  const middle = nodes.length >> 1;
  return fork(balanced(nodes.slice(0, middle)), balanced(nodes.slice(middle)));
}

function firstLabel(tree: HashTree): Label | undefined {
  if (tree.kind === 'fork') return tree.first;
  return tree.kind === 'labeled' ? tree.label : undefined;
}

function lastLabel(tree: HashTree): Label | undefined {
  if (tree.kind === 'fork') return tree.last;
  return tree.kind === 'labeled' ? tree.label : undefined;
}

/**
 * Returns the tree pruned to the given paths: whole subtrees at existing paths and, for others, the
 * neighboring labels that prove their absence. The root hash stays the same.
 */
export function prune(tree: HashTree, paths: readonly (readonly Label[])[]): HashTree {
  if (paths.some((path) => path.length === 0)) return tree;
  if (paths.length === 0) return tree.kind === 'empty' ? tree : pruned(tree.hash);
  if (tree.kind === 'labeled') return pruneLabeled(tree, paths);
  if (tree.kind === 'fork') return pruneFork(tree, paths);
  return tree;
}

function pruneLabeled(
  tree: HashTree & { readonly kind: 'labeled' },
  paths: readonly (readonly Label[])[],
): HashTree {
  const below = paths
    .filter(([label]) => label !== undefined && Buffer.compare(label, tree.label) === 0)
    .map((path) => path.slice(1));
  return { ...tree, child: prune(tree.child, below) };
}

function pruneFork(
  tree: HashTree & { readonly kind: 'fork' },
  paths: readonly (readonly Label[])[],
): HashTree {
  const lastOfLeft = lastLabel(tree.left);
  const firstOfRight = firstLabel(tree.right);
  // A label in the gap matches both sides: its two neighbors together prove that it is absent.
  const isLeft = ([label]: readonly Label[]): boolean =>
    label === undefined || firstOfRight === undefined || Buffer.compare(label, firstOfRight) < 0;
  const isRight = ([label]: readonly Label[]): boolean =>
    label === undefined || lastOfLeft === undefined || Buffer.compare(label, lastOfLeft) > 0;
  return {
    ...tree,
    left: prune(tree.left, paths.filter(isLeft)),
    right: prune(tree.right, paths.filter(isRight)),
  };
}

/** IC spec, "Lookup": `absent` only if the tree proves it, `unknown` in a pruned part. */
export function lookup(tree: HashTree, path: readonly Label[]): LookupResult {
  const [label, ...rest] = path;
  if (label === undefined) {
    if (tree.kind === 'pruned') return { status: 'unknown' };
    return tree.kind === 'empty' ? { status: 'absent' } : { status: 'found', subtree: tree };
  }
  const children = flatten(tree);
  const next = children.findIndex(
    (child) => child.kind === 'labeled' && Buffer.compare(child.label, label) >= 0,
  );
  const candidate = children[next];
  if (candidate?.kind === 'labeled' && Buffer.compare(candidate.label, label) === 0) {
    return lookup(candidate.child, rest);
  }
  const before = next === -1 ? children.at(-1) : children[next - 1];
  return { status: before?.kind === 'pruned' ? 'unknown' : 'absent' };
}

/** Returns the value of the leaf at the path, or undefined if it is absent or pruned. */
export function lookupValue(tree: HashTree, path: readonly Label[]): Uint8Array | undefined {
  const result = lookup(tree, path);
  if (result.status !== 'found' || result.subtree.kind !== 'leaf') return undefined;
  return result.subtree.value;
}

function flatten(tree: HashTree): readonly HashTree[] {
  if (tree.kind === 'fork') return [...flatten(tree.left), ...flatten(tree.right)];
  return tree.kind === 'empty' ? [] : [tree];
}

/** Returns the nested arrays of the CBOR form. IC spec, "Certificate": `hash-tree` in the CDDL. */
export function toArrays(tree: HashTree): unknown[] {
  switch (tree.kind) {
    case 'empty':
      return [0];
    case 'fork':
      return [1, toArrays(tree.left), toArrays(tree.right)];
    case 'labeled':
      return [2, tree.label, toArrays(tree.child)];
    case 'leaf':
      return [3, tree.value];
    case 'pruned':
      return [4, tree.hash];
  }
}

/** Reads the nested arrays of the CBOR form. Throws an Error for anything else. */
export function fromArrays(value: unknown): HashTree {
  const [kind, first, second] = Array.isArray(value) ? value : [];
  if (kind === 0) return empty();
  if (kind === 1) return fork(fromArrays(first), fromArrays(second));
  if (kind === 2 && first instanceof Uint8Array) return labeled(first, fromArrays(second));
  if (kind === 3 && first instanceof Uint8Array) return leaf(first);
  if (kind === 4 && first instanceof Uint8Array && first.length === 32) return pruned(first);
  throw new Error('Malformed hash tree');
}
