// Witnesses of a label tree as CBOR (IC spec, "Certificate": hash-tree): a path with its subtree,
// or a proof that the path is absent and of the wildcard that applies. Changes nothing. A hash tree
// is written from the top and has no closing marks, so the pending work is a stack of edges, for
// which it reuses the array of steps.

import { labelBase, labelTargetsAt, wildcardAt } from './heap';
import {
  buffer, edgeBytes, edgesAt, innerKind, labelAt, newEdge, readEdge, readNode, rootsNode,
} from './label-nodes';
import {
  bitAt, firstDifference, isTooDeep, labelCount, labelLength, labelStart, noBit, pushStep, seek,
  setStepCount, step, stepCount,
} from './label-search';

export const wildcardBytes: usize = 3;
/** Used in place of a wildcard's depth if no wildcard is requested. */
export const noWildcard: u32 = 0xffff_ffff;

/** Parts of the subtree at an edge to reveal; 0 reveals nothing. */
const least: u32 = 1;
const greatest: u32 = 2;
/** The label of the path, or of the wildcard, or its neighbors if it is absent. */
const onPath: u32 = 4;
const onWildcard: u32 = 8;

let cursor: usize = 0;
let roomEnd: usize = 0;
let wildcardDepth: u32 = 0;
let subtreeAt: usize = 0;
let subtreeBytes: usize = 0;
/** Whether the subtree has been written. */
let isAnswered: bool = false;

/**
 * Writes as much of the witness as fits, and returns its size, or 0 if there is no such witness. It
 * reveals the path and `subtree` at its opaque end; with a wildcard's depth, it reveals that
 * wildcard with `subtree`, and proves that neither the path nor a deeper wildcard exists.
 */
export function witness(
  root: u32, depth: u32, subtree: usize, length: usize, out: usize, room: usize,
): u32 {
  cursor = out;
  roomEnd = out + room;
  wildcardDepth = depth;
  subtreeAt = subtree;
  subtreeBytes = length;
  isAnswered = false;
  setStepCount(0);
  writeNumber(0xf7d9d9, 3); // self-described CBOR, RFC 8949, 3.4.6
  if (depth == noWildcard && isTooDeep()) return 0;
  if (!enterLevel(rootsNode, root, 0)) return 0;
  while (stepCount() > 0) {
    setStepCount(stepCount() - 1);
    const next = step(stepCount());
    const info = load<u32>(next, 4);
    if (!writeEdge(load<u32>(next), info & 1, info >> 1 & 15, info >> 8)) return 0;
  }
  return isAnswered ? <u32>(cursor - out) : 0;
}

/** Postpones writing the subtree at that edge. */
// @ts-ignore: decorator
@inline
function pushEdge(node: u32, side: u32, flags: u32, level: u32): void {
  pushStep(node, level << 8 | flags << 1 | side);
}

/** Returns false if the content of the level allows no such witness. */
function enterLevel(node: u32, side: u32, level: u32): bool {
  readEdge(node, side, newEdge());
  const top = load<u32>(newEdge());
  if (top == 0) return false;
  let flags = onPath;
  const isThere = aim(top, labelStart(level), labelLength(level), target(level, onPath));
  if (wildcardDepth == noWildcard) {
    if (!isThere) return false;
  } else if (isThere && level + 1 == labelCount()) return false;
  if (level >= wildcardDepth) {
    // The empty label is the least: verifiers take a wildcard below it for a deeper one
    flags |= onWildcard | least;
    const wildcard = labelBase() + wildcardAt;
    const isWildcard = aim(top, wildcard, wildcardBytes, target(level, onWildcard));
    if (isWildcard != (level == wildcardDepth)) return false;
  }
  pushEdge(node, side, flags, level);
  return true;
}

/**
 * Enters the level below an empty label beside the path, to prove that no wildcard is there. The
 * empty label precedes the path, so its target is read before that of the path's own level is
 * computed.
 */
function enterEmpty(node: u32, level: u32): bool {
  readEdge(node, 0, newEdge());
  const wildcard = labelBase() + wildcardAt;
  if (aim(load<u32>(newEdge()), wildcard, wildcardBytes, target(level, onWildcard))) return false;
  pushEdge(node, 0, onWildcard, level);
  return true;
}

// Returns the address of a target: the first different bit u16 (noBit: the label exists) | side of
// the label at that bit u16 | bit of the last turn to the right u16 | of the last turn to the left
// u16, noBit for none.
function target(level: u32, flag: u32): usize {
  return labelBase() + labelTargetsAt + (<usize>level << 4) + (flag == onPath ? 0 : 8);
}

/** Finds the position of a label in a level, or the turns between which it would be. */
function aim(top: u32, label: usize, length: usize, into: usize): bool {
  const first = stepCount();
  seek(top, label, length);
  const bit = firstDifference();
  store<u64>(into, u64.MAX_VALUE);
  store<u16>(into, bit);
  store<u16>(into, bitAt(label, length, bit), 2);
  for (let i = first; i < stepCount(); i++) {
    const turn = <u32>load<u16>(step(i), 4);
    if (turn > bit) break;
    store<u16>(into + (load<u16>(step(i), 6) == 1 ? 4 : 6), turn);
  }
  setStepCount(first);
  return bit == noBit;
}

/** Returns false if there is no such witness. */
function writeEdge(node: u32, side: u32, flags: u32, level: u32): bool {
  const edge = newEdge();
  readEdge(node, side, edge);
  if (flags == 0) {
    writePruned(edge + 4);
    return true;
  }
  const at = buffer(0);
  const below = load<u32>(edge);
  readNode(below, at);
  if (load<u16>(at) != innerKind) return writeLeaf(below, flags, level);
  const bit = <u32>load<u16>(at, 2);
  const sides = flags & least | (flags & greatest) << 8
    | turn(flags & onPath, bit, level) | turn(flags & onWildcard, bit, level);
  writeNumber(0x0183, 2); // [1, left, right]
  pushEdge(below, 1, sides >> 8, level);
  pushEdge(below, 0, sides & 0xff, level);
  return true;
}

/** Returns the parts that a target reveals left (low byte) and right (<< 8) of an inner node. */
function turn(flag: u32, bit: u32, level: u32): u32 {
  if (flag == 0) return 0;
  const sought = target(level, flag);
  const parting = <u32>load<u16>(sought);
  const isGreater = load<u16>(sought, 2) == 1;
  // The label would precede or follow everything below this node
  if (bit > parting) return isGreater ? greatest << 8 : least;
  const isAbsent = parting != noBit;
  if (sideOf(flag, bit, level) == 1) {
    const isBefore = isAbsent && !isGreater && bit == load<u16>(sought, 4);
    return flag << 8 | (isBefore ? greatest : 0);
  }
  const isBehind = isAbsent && isGreater && bit == load<u16>(sought, 6);
  return flag | (isBehind ? least << 8 : 0);
}

function sideOf(flag: u32, bit: u32, level: u32): u32 {
  if (flag == onWildcard) return bitAt(labelBase() + wildcardAt, wildcardBytes, bit);
  return bitAt(labelStart(level), labelLength(level), bit);
}

/** Writes the leaf in buffer 0. */
function writeLeaf(leaf: u32, flags: u32, level: u32): bool {
  const at = buffer(0);
  writeNumber(0x0283, 2); // [2, label, subtree]
  writeLabel(at + labelAt, load<u16>(at, 2));
  const isOpaque = load<u32>(at, edgesAt) == 0;
  const isWildcard = isTarget(flags & onWildcard, level);
  const isPath = isTarget(flags & onPath, level);
  // A path through the wildcard continues in the wildcard's own subtree
  if (isWildcard || isPath && level + 1 == labelCount()) {
    if (!isOpaque) return false;
    isAnswered = true;
    writeBytes(subtreeAt, subtreeBytes);
    return true;
  }
  if (isPath) return enterLevel(leaf, 0, level + 1);
  const isEmptyLabel = load<u16>(at, 2) == 0;
  if (isEmptyLabel && (flags & least) != 0 && !isOpaque) return enterEmpty(leaf, level + 1);
  writePruned(at + edgesAt + 4);
  return true;
}

function isTarget(flag: u32, level: u32): bool {
  return flag != 0 && load<u16>(target(level, flag)) == noBit;
}

function writePruned(hash: usize): void {
  writeNumber(0x20580482, 4); // [4, 32 bytes]
  writeBytes(hash, 32);
}

function writeLabel(label: usize, length: usize): void {
  if (length < 24) writeNumber(0x40 | <u32>length, 1);
  else if (length < 256) writeNumber(0x58 | <u32>length << 8, 2);
  else writeNumber(0x59 | <u32>length & 0xff00 | (<u32>length & 0xff) << 16, 3);
  writeBytes(label, length);
}

/** Writes the bytes of a number, the low one first. */
function writeNumber(bytes: u32, length: usize): void {
  for (; length > 0; length--) {
    if (cursor < roomEnd) store<u8>(cursor, bytes);
    cursor++;
    bytes >>= 8;
  }
}

function writeBytes(from: usize, length: usize): void {
  if (length > 0 && cursor + length <= roomEnd) memory.copy(cursor, from, length);
  cursor += length;
}
