// Changes of a label tree: sets a path, removes a path, and builds a level of leaves. Each change
// updates the hashes on the path to the root.

import {
  labelBase, labelDetachedAt, labelOrderAt, labelSpineAt, levelRoom,
} from './heap';
import {
  addNode, buffer, copyHash, edgeBytes, edgesAt, freeNode, hashNode, innerKind, labelAt, leafKind,
  linkNode, newEdge, readEdge, readNode, writeEdge,
} from './label-nodes';
import {
  bitAt, descend, differenceOf, firstDifference, labelCount, labelLength, labelStart, noBit,
  setStepCount, step, stepCount, stepsAbove, topOfLevel,
} from './label-search';

const hashBytes: usize = 32;
const entryBytes: usize = 64;
/** Size of an unfinished node of a level: edge, critical bit u32. */
const spineBytes: usize = 40;

/** Sets the new edge at the path, replacing an existing one. */
export function put(root: u32): void {
  const found = descend(root);
  if (found == labelCount()) {
    const former = load<u32>(buffer(0), edgesAt);
    raise();
    freeBelow(former);
    return;
  }
  for (let i = labelCount(); i-- > found;) addLeaf(labelStart(i), labelLength(i));
  if (topOfLevel() != 0) insert(labelStart(found), labelLength(found));
  raise();
}

/** Adds a leaf above the new edge. */
function addLeaf(label: usize, length: usize): void {
  const at = buffer(1);
  store<u16>(at, leafKind);
  store<u16>(at, <u32>length, 2);
  memory.copy(at + edgesAt, newEdge(), edgeBytes);
  if (length > 0) memory.copy(at + labelAt, label, length); // an empty label can have any address
  addNode(at);
}

/** Adds an inner node with the new edge on one side. */
function addInner(bit: u32, side: u32, other: usize): void {
  const at = buffer(1);
  store<u16>(at, innerKind);
  store<u16>(at, bit, 2);
  memory.copy(at + edgesAt + <usize>side * edgeBytes, newEdge(), edgeBytes);
  memory.copy(at + edgesAt + <usize>(1 - side) * edgeBytes, other, edgeBytes);
  addNode(at);
}

/** Inserts into the level in which the search ended, above all nodes with a later bit. */
function insert(label: usize, length: usize): void {
  const bit = firstDifference();
  while (stepCount() > stepsAbove() && <u32>load<u16>(step(stepCount() - 1), 4) > bit) {
    setStepCount(stepCount() - 1);
  }
  const last = step(stepCount() - 1);
  const other = buffer(0);
  readEdge(load<u32>(last), load<u16>(last, 6), other);
  addInner(bit, bitAt(label, length, bit), other);
}

/** Sets the edge of the last step, and updates the hashes above it. */
function raise(): void {
  const edge = newEdge();
  const at = buffer(0);
  for (let i = stepCount() - 1; i > 0; i--) {
    const node = load<u32>(step(i));
    const side = load<u16>(step(i), 6);
    readNode(node, at);
    memory.copy(at + edgesAt + <usize>side * edgeBytes, edge, edgeBytes);
    writeEdge(node, side, edge);
    hashNode(at, edge + 4);
    store<u32>(edge, node);
  }
  writeEdge(load<u32>(step(0)), load<u16>(step(0), 6), edge);
}

/**
 * Removes the path from the tree, with labels that become empty; returns false if it does not
 * exist. Its subtree stays, and `detached()` is its edge.
 */
export function detach(root: u32): bool {
  if (descend(root) < labelCount()) return false;
  const at = buffer(0);
  memory.copy(detached(), at + edgesAt, edgeBytes);
  let i = stepCount() - 1;
  do {
    const leaf = load<u32>(step(i));
    readNode(leaf, at);
    freeNode(leaf, at);
    i--;
  } while (i > 0 && load<u16>(step(i), 4) == noBit);
  memory.fill(newEdge(), 0, edgeBytes);
  if (i > 0) {
    const inner = load<u32>(step(i));
    const other = 1 - <u32>load<u16>(step(i), 6);
    readNode(inner, at);
    memory.copy(newEdge(), at + edgesAt + <usize>other * edgeBytes, edgeBytes);
    freeNode(inner, at);
    i--;
  }
  setStepCount(i + 1);
  raise();
  return true;
}

// @ts-ignore: decorator
@inline
export function detached(): usize { return labelBase() + labelDetachedAt; }

/** Frees a node and all below it, at any depth: the pending nodes form a linked list. */
export function freeBelow(node: u32): void {
  const at = buffer(0);
  if (node != 0) linkNode(node, 0);
  while (node != 0) {
    readNode(node, at);
    let next = load<u32>(at, edgesAt + 4);
    const first = load<u32>(at, edgesAt);
    const second = load<u16>(at) == innerKind ? load<u32>(at, edgesAt + edgeBytes) : 0;
    freeNode(node, at);
    if (first != 0) {
      linkNode(first, next);
      next = first;
    }
    if (second != 0) {
      linkNode(second, next);
      next = second;
    }
    node = next;
  }
}

/** Builds a level of opaque leaves, 32 bytes each of label and hash; the new edge points to it. */
export function buildLevel(entries: usize, count: u32): void {
  if (count == 0 || count > levelRoom) unreachable();
  const order = labelBase() + labelOrderAt;
  sortEntries(entries, entryBytes, count, hashBytes);
  let spine = labelBase() + labelSpineAt;
  const empty = spine;
  for (let i: u32 = 0; i < count; i++) {
    const entry = load<usize>(order + (<usize>i << 2));
    store<u32>(newEdge(), 0);
    copyHash(newEdge() + 4, entry + hashBytes);
    addLeaf(entry, hashBytes);
    const isLast = i + 1 == count;
    const bit: u32 = isLast ? 0 : parting(entry, load<usize>(order + (<usize>i << 2), 4));
    // Nodes that part at a later bit than the next label are complete
    while (spine > empty && load<u32>(spine - 4) > bit) {
      spine -= spineBytes;
      addInner(load<u32>(spine + edgeBytes), 1, spine);
    }
    memory.copy(spine, newEdge(), edgeBytes);
    store<u32>(spine + edgeBytes, bit);
    spine += spineBytes;
  }
}

function parting(first: usize, second: usize): u32 {
  const bit = differenceOf(first, hashBytes, second, hashBytes);
  if (bit == noBit) unreachable(); // the label occurs twice
  return bit;
}

/** Writes pointers to the entries, ordered by their first `length` bytes. */
export function sortEntries(entries: usize, bytes: usize, count: u32, length: usize): void {
  const order = labelBase() + labelOrderAt;
  for (let i: u32 = 0; i < count; i++) {
    const entry = entries + <usize>i * bytes;
    let low: u32 = 0;
    let high = i;
    while (low < high) {
      const middle = low + high >> 1;
      if (isLess(entry, load<usize>(order + (<usize>middle << 2)), length)) high = middle;
      else low = middle + 1;
    }
    const slot = order + (<usize>low << 2);
    memory.copy(slot + 4, slot, <usize>(i - low) << 2);
    store<usize>(slot, entry);
  }
}

export function isLess(first: usize, second: usize, length: usize): bool {
  const bit = differenceOf(first, length, second, length);
  return bit != noBit && bitAt(first, length, bit) == 0;
}
