// Operations on the label trees of a space, called by kernel calls. All state is in stable memory:
// every operation starts from the superblock.
//
//   command block: 28 space u32 | 32 root u32 | 36 the other root u32 | 40 wildcard's depth u32
//   a path is two operands: texts separated by NUL, hashes

import { labelBase, wildcardAt } from './heap';
import { buildLevel, detach, detached, freeBelow, put } from './label-change';
import {
  copyHash, edgeBytes, hashEmpty, newEdge, openLabels, readEdge, rootsNode,
  saveLabels,
} from './label-nodes';
import {
  cutNewPath, cutPath, deepestWildcard, descend, labelCount,
} from './label-search';
import { noWildcard, wildcardBytes, witness } from './label-witness';
import { at, lengthOf, sized } from './operands';

const hashOperation: u32 = 64;
const setOperation: u32 = 65;
const setLeavesOperation: u32 = 66;
const hasOperation: u32 = 67;
const removeOperation: u32 = 68;
const moveOperation: u32 = 69;
const wildcardDepthOperation: u32 = 70;
const witnessOperation: u32 = 71;
const fallbackWitnessOperation: u32 = 72;

const leavesMax: usize = 10_000;
const leafBytes: usize = 64;

export function labelOperands(operation: u32): u32 {
  switch (operation) {
    case hashOperation: return 1;
    case hasOperation:
    case removeOperation:
    case wildcardDepthOperation: return 2;
    case setOperation:
    case setLeavesOperation: return 3;
    case moveOperation:
    case witnessOperation:
    case fallbackWitnessOperation: return 4;
  }
  unreachable();
  return 0;
}

export function runLabels(operation: u32, block: usize): void {
  const root = load<u32>(block, 32);
  if (root > 1) unreachable();
  openLabels(load<u32>(block, 28));
  store<u32>(labelBase() + wildcardAt, 0x3e2a3c); // "<*>"
  if (operation == hashOperation) writeHash(root, sized(0, 32));
  else if (operation == setOperation) set(root);
  else if (operation == setLeavesOperation) setLeaves(root);
  else if (operation == removeOperation) store<u32>(block, u32(remove(root)), 24);
  else if (operation == moveOperation) {
    store<u32>(block, u32(move(root, load<u32>(block, 36))), 24);
  } else {
    cutPath(at(0), lengthOf(0), at(1), lengthOf(1));
    store<u32>(block, ask(operation, root, load<u32>(block, 40)), 24);
  }
}

function ask(operation: u32, root: u32, depth: u32): u32 {
  switch (operation) {
    case hasOperation: return u32(descend(root) == labelCount());
    case wildcardDepthOperation:
      return deepestWildcard(root, labelBase() + wildcardAt, wildcardBytes);
    case witnessOperation: return witness(root, noWildcard, at(2), lengthOf(2), at(3), lengthOf(3));
  }
  return witness(root, depth, at(2), lengthOf(2), at(3), lengthOf(3));
}

function writeHash(root: u32, hash: usize): void {
  readEdge(rootsNode, root, newEdge());
  if (load<u32>(newEdge()) == 0) hashEmpty(hash);
  else copyHash(hash, newEdge() + 4);
}

function set(root: u32): void {
  cutNewPath(at(0), lengthOf(0), at(1), lengthOf(1));
  store<u32>(newEdge(), 0);
  copyHash(newEdge() + 4, sized(2, 32));
  put(root);
  saveLabels();
}

function setLeaves(root: u32): void {
  const bytes = lengthOf(2);
  if (bytes == 0 || bytes > leavesMax * leafBytes || bytes % leafBytes != 0) unreachable();
  cutNewPath(at(0), lengthOf(0), at(1), lengthOf(1));
  buildLevel(at(2), <u32>(bytes / leafBytes));
  put(root);
  saveLabels();
}

function remove(root: u32): bool {
  cutPath(at(0), lengthOf(0), at(1), lengthOf(1));
  if (!detach(root)) return false;
  freeBelow(load<u32>(detached()));
  saveLabels();
  return true;
}

/** Moves between the two trees of a space, or within one. */
function move(root: u32, other: u32): bool {
  if (other > 1) unreachable();
  cutPath(at(0), lengthOf(0), at(1), lengthOf(1));
  if (!detach(root)) return false;
  cutNewPath(at(2), lengthOf(2), at(3), lengthOf(3));
  memory.copy(newEdge(), detached(), edgeBytes);
  put(other);
  saveLabels();
  return true;
}
