// Finds a path of labels in a label tree and records the steps. The children of a label form a
// level: a binary trie over the bits of their labels, with a node where two labels part (crit-bit),
// so that its shape depends only on the labels. Changes nothing. A label's bits are, for each byte,
// a 1 bit and the 8 bits of the byte, and at the end a 0 bit, so that a label precedes its
// extensions. Bit number = index of the byte << 4 | 0 for the 1 bit, 1 to 8 for those of the byte.

import { labelBase, labelStepsAt, labelStepsBytes, labelsAt, labelsRoom } from './heap';
import {
  buffer, edgeBytes, edgesAt, innerKind, labelAt, labelBytesMax, readEdge, readNode,
  rootsNode,
} from './label-nodes';
import { commonLength } from './ordered-index-search';

/** Used in place of a critical bit: labels are equal, or the step is a leaf's. */
export const noBit: u32 = 0xffff;
const hashBytes: usize = 32;
/** Maximum length of a path to create, so that its steps fit into the array. */
const textBytesMax: usize = 4000;
const hashesBytesMax: usize = 128;
const labelsMax: u32 = 1000;
const stepBytes: usize = 8;

let count: u32 = 0;
/** Whether the path has more labels than fit. Only moves create such paths; no search finds one. */
let isCutShort: bool = false;
let steps: u32 = 0;
let levelSteps: u32 = 0;
let levelTop: u32 = 0;
let foundLeaf: u32 = 0;
let difference: u32 = 0;

export function labelCount(): u32 { return count; }
export function isTooDeep(): bool { return isCutShort; }
export function stepCount(): u32 { return steps; }
export function setStepCount(value: u32): void { steps = value; }
/** Returns the number of steps above the level in which the last search ended. */
export function stepsAbove(): u32 { return levelSteps; }
/** Returns the first node of that level; 0 if the level is empty. */
export function topOfLevel(): u32 { return levelTop; }
/** Returns the first bit in which the found label differs from the sought one. */
export function firstDifference(): u32 { return difference; }

// @ts-ignore: decorator
@inline
export function labelStart(index: u32): usize {
  return load<usize>(labelBase() + labelsAt + (<usize>index << 3));
}

// @ts-ignore: decorator
@inline
export function labelLength(index: u32): usize {
  return load<usize>(labelBase() + labelsAt + (<usize>index << 3), 4);
}

/** Returns the address of a step: node u32 | critical bit u16 | side u16. */
// @ts-ignore: decorator
@inline
export function step(index: u32): usize {
  return labelBase() + labelStepsAt + <usize>index * stepBytes;
}

export function pushStep(node: u32, info: u32): void {
  if (<usize>(steps + 1) * stepBytes > labelStepsBytes) unreachable();
  store<u32>(step(steps), node);
  store<u32>(step(steps), info, 4);
  steps++;
}

/** Splits a path into its labels: texts separated by NUL, then hashes. */
export function cutPath(text: usize, textLength: usize, hashes: usize, hashesLength: usize): void {
  count = 0;
  isCutShort = false;
  let start: usize = 0;
  for (let end: usize = 0; end < textLength; end++) {
    if (load<u8>(text + end) == 0) {
      addLabel(text + start, end - start);
      start = end + 1;
    }
  }
  addLabel(text + start, textLength - start);
  if (hashesLength % hashBytes != 0) unreachable();
  for (let at: usize = 0; at < hashesLength; at += hashBytes) addLabel(hashes + at, hashBytes);
}

function addLabel(start: usize, length: usize): void {
  if (count == labelsRoom) {
    isCutShort = true;
    return;
  }
  const entry = labelBase() + labelsAt + (<usize>count << 3);
  store<usize>(entry, start);
  store<usize>(entry, length, 4);
  count++;
}

/** Splits a path that is to be created. */
export function cutNewPath(
  text: usize, textLength: usize, hashes: usize, hashesLength: usize,
): void {
  if (textLength > textBytesMax || hashesLength > hashesBytesMax) unreachable();
  cutPath(text, textLength, hashes, hashesLength);
  if (count > labelsMax) unreachable();
  for (let i: u32 = 0; i < count; i++) if (labelLength(i) > labelBytesMax) unreachable();
}

/** Returns a bit of a label; bits after the end are 0. */
export function bitAt(label: usize, length: usize, bit: u32): u32 {
  const byte = <usize>(bit >> 4);
  if (byte >= length) return 0;
  const number = bit & 15;
  return number == 0 ? 1 : <u32>load<u8>(label + byte) >> 8 - number & 1;
}

export function differenceOf(
  first: usize, firstLength: usize, second: usize, secondLength: usize,
): u32 {
  const shorter = min(firstLength, secondLength);
  const shared = commonLength(first, second, shorter);
  if (shared == shorter) return firstLength == secondLength ? noBit : <u32>shared << 4;
  const bits = <u32>load<u8>(first + shared) ^ <u32>load<u8>(second + shared);
  return <u32>shared << 4 | clz(bits) - 23;
}

/** Descends within a level to the leaf with the longest common prefix, and records the steps. */
export function seek(node: u32, label: usize, length: usize): void {
  const at = buffer(0);
  readNode(node, at);
  while (load<u16>(at) == innerKind) {
    const bit = <u32>load<u16>(at, 2);
    const side = bitAt(label, length, bit);
    pushStep(node, bit | side << 16);
    node = load<u32>(at + edgesAt + <usize>side * edgeBytes);
    readNode(node, at);
  }
  foundLeaf = node;
  difference = differenceOf(at + labelAt, load<u16>(at, 2), label, length);
}

/** Returns the first node below a root; 0 in an empty tree. */
function topOfRoot(root: u32): u32 {
  readEdge(rootsNode, root, buffer(1));
  return load<u32>(buffer(1));
}

/**
 * Follows the path as far as it exists and returns the number of labels found. The steps are the
 * edges on the path; the last one leads to the end of the path, or to the position of the next
 * label.
 */
export function descend(root: u32): u32 {
  steps = 0;
  pushStep(rootsNode, noBit | root << 16);
  levelTop = topOfRoot(root);
  for (let i: u32 = 0; i < count; i++) {
    levelSteps = steps;
    if (levelTop == 0) return i;
    seek(levelTop, labelStart(i), labelLength(i));
    if (difference != noBit) return i;
    pushStep(foundLeaf, noBit);
    levelTop = load<u32>(buffer(0), edgesAt);
  }
  return isCutShort ? count - 1 : count;
}

/** Returns one more than the number of labels before the deepest wildcard on the path, or 0. */
export function deepestWildcard(root: u32, wildcard: usize, length: usize): u32 {
  let depth: u32 = 0;
  let top = topOfRoot(root);
  for (let i: u32 = 0; i < count && top != 0; i++) {
    steps = 0;
    seek(top, wildcard, length);
    if (difference == noBit) depth = i + 1;
    seek(top, labelStart(i), labelLength(i));
    if (difference != noBit) break;
    top = load<u32>(buffer(0), edgesAt);
  }
  return depth;
}
