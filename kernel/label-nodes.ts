// Nodes of label trees in a space of stable memory: slots of five sizes with a free list each, the
// edges between them, and their hashes. A reference is an offset in units of 16 bytes. An edge has
// the hash of its node, so that a change reads only nodes on its path.
//
//   0        superblock: magic u64 | version u32 | end of the slots u32 | nodes in use u32 | 0 u32
//            | first free slot of each size 5 x u32
//   64       the two roots: 0 u32 | edge | edge
//   256      slots
//   edge     reference u32 (0: no node below) | hash 32 bytes
//   inner    kind u16 = 1 | critical bit u16 | edge | edge
//   leaf     kind u16 = 2 | label length u16 | edge to the level below, or opaque hash | label
//   free     0 u32 | next free slot u32

import {
  ensureLabelPages, labelBase, labelEdgeAt, labelMessageAt, labelNodesAt, labelSuperblockAt,
} from './heap';
import { sha256InPlace } from './sha256';
import { spaceGrow, spaceRead, spaceSize, spaceWrite } from './stable-space';

const magic: u64 = 0x314c424c_53464500; // "\0EFSLBL1" as bytes
const version: u32 = 1;
const superblockBytes: u64 = 48;
const headsAt: usize = 24;
const unitBits: u64 = 4;
const slotsStart: u32 = 16;
const wasmPageBits: u64 = 16;
/** The space grows in steps of one extent. */
const growPages: u64 = 16;

/** The roots are edges of a permanent node. */
export const rootsNode: u32 = 4;
export const innerKind: u32 = 1;
export const leafKind: u32 = 2;
export const edgesAt: usize = 4;
export const edgeBytes: usize = 36;
const innerBytes: usize = 76;
/** Offset of the label in a leaf. */
export const labelAt: usize = 40;
export const labelBytesMax: usize = 1100;
/** The smallest slot: a read of this length is always within a slot. */
const leastBytes: u64 = 80;

let space: u32 = 0;
let isFormatted: bool = false;

// @ts-ignore: decorator
@inline
function superblock(): usize { return labelBase() + labelSuperblockAt; }

/** Returns the address of one of two nodes in the heap. */
// @ts-ignore: decorator
@inline
export function buffer(number: usize): usize { return labelBase() + labelNodesAt + number * 0x600; }

/** Returns the address of the edge to be set. */
// @ts-ignore: decorator
@inline
export function newEdge(): usize { return labelBase() + labelEdgeAt; }

/** Reads the superblock; an empty space represents empty trees and stays unchanged. */
export function openLabels(which: u32): void {
  if (which == 0) unreachable(); // belongs to the rest of the canister
  ensureLabelPages();
  space = which;
  const block = superblock();
  isFormatted = spaceSize(space) != 0;
  if (isFormatted) {
    spaceRead(space, block, 0, superblockBytes);
    if (load<u64>(block) != magic || load<u32>(block, 8) != version) unreachable();
    return;
  }
  memory.fill(block, 0, <usize>superblockBytes);
  store<u64>(block, magic);
  store<u32>(block, version, 8);
  store<u32>(block, slotsStart, 12);
}

export function saveLabels(): void {
  spaceWrite(space, 0, superblock(), superblockBytes);
}

// @ts-ignore: decorator
@inline
function offsetOf(node: u32): u64 { return <u64>node << unitBits; }

// @ts-ignore: decorator
@inline
function edgeOffset(node: u32, side: u32): u64 {
  return offsetOf(node) + <u64>(edgesAt + <usize>side * edgeBytes);
}

/** Reads the reference and hash of an edge of a node, or of the roots. */
export function readEdge(node: u32, side: u32, into: usize): void {
  if (isFormatted) spaceRead(space, into, edgeOffset(node, side), edgeBytes);
  else memory.fill(into, 0, edgeBytes);
}

export function writeEdge(node: u32, side: u32, from: usize): void {
  spaceWrite(space, edgeOffset(node, side), from, edgeBytes);
}

export function readNode(node: u32, into: usize): void {
  spaceRead(space, into, offsetOf(node), leastBytes);
  const kind = load<u16>(into);
  if (kind == innerKind) return;
  const length = <u64>load<u16>(into, 2);
  if (kind != leafKind || length > labelBytesMax) unreachable();
  const bytes = labelAt + length;
  if (bytes > leastBytes) {
    spaceRead(space, into + <usize>leastBytes, offsetOf(node) + leastBytes, bytes - leastBytes);
  }
}

/** Stores the node of a buffer in a new slot and points the new edge to it. */
export function addNode(from: usize): void {
  const node = takeSlot(sizeClass(nodeBytes(from)));
  spaceWrite(space, offsetOf(node), from, nodeBytes(from));
  store<u32>(newEdge(), node);
  hashNode(from, newEdge() + 4);
}

/** Frees the slot of a node; a buffer has a copy of the node. */
export function freeNode(node: u32, copy: usize): void {
  const head = headOf(sizeClass(nodeBytes(copy)));
  store<u64>(copy, <u64>load<u32>(head) << 32);
  spaceWrite(space, offsetOf(node), copy, 8);
  store<u32>(head, node);
  store<u32>(superblock(), load<u32>(superblock(), 16) - 1, 16);
}

/** Links a node to be freed to the next one, in place of the hash of its first edge. */
export function linkNode(node: u32, next: u32): void {
  const link = labelBase() + labelMessageAt;
  store<u32>(link, next);
  spaceWrite(space, offsetOf(node) + edgesAt + 4, link, 4);
}

// @ts-ignore: decorator
@inline
function nodeBytes(at: usize): usize {
  return load<u16>(at) == innerKind ? innerBytes : labelAt + load<u16>(at, 2);
}

function sizeClass(bytes: usize): u32 {
  if (bytes <= 80) return 0;
  if (bytes <= 128) return 1;
  if (bytes <= 256) return 2;
  return bytes <= 512 ? 3 : 4;
}

function slotUnits(size: u32): u32 {
  if (size == 0) return 5;
  return size == 4 ? 72 : 4 << size;
}

// @ts-ignore: decorator
@inline
function headOf(size: u32): usize { return superblock() + headsAt + (<usize>size << 2); }

function takeSlot(size: u32): u32 {
  const block = superblock();
  store<u32>(block, load<u32>(block, 16) + 1, 16);
  const free = load<u32>(headOf(size));
  if (free != 0) {
    spaceRead(space, headOf(size), offsetOf(free) + 4, 4);
    return free;
  }
  const slot = load<u32>(block, 12);
  const end = slot + slotUnits(size);
  if (end < slot) unreachable();
  const missing = offsetOf(end) > spaceSize(space) << wasmPageBits;
  if (missing && spaceGrow(space, growPages) == u64.MAX_VALUE) unreachable();
  isFormatted = true;
  store<u32>(block, end, 12);
  return slot;
}

// IC spec, "Certificate": a domain separator is its length in one byte, followed by its text.
const domainStart: u64 = 0x68736168_2d636900; // "ic-hash" behind the length

/** Computes the hash of the node in a buffer. */
export function hashNode(at: usize, digest: usize): void {
  if (load<u16>(at) == innerKind) {
    hashFork(at + edgesAt + 4, at + edgesAt + edgeBytes + 4, digest);
    return;
  }
  hashLabeled(at + labelAt, load<u16>(at, 2), at + edgesAt + 4, digest);
}

export function hashFork(left: usize, right: usize, digest: usize): void {
  const message = labelBase() + labelMessageAt;
  store<u64>(message, domainStart | 16);
  store<u64>(message, 0x726f662d_65657274, 8); // "tree-for"
  store<u8>(message, 0x6b, 16); // "k"
  copyHash(message + 17, left);
  copyHash(message + 49, right);
  sha256InPlace(message, 81, digest);
}

export function hashLabeled(label: usize, length: usize, hash: usize, digest: usize): void {
  const message = labelBase() + labelMessageAt;
  writeLabeled(message, label, length, hash);
  sha256InPlace(message, 52 + length, digest);
}

/** Writes the message to hash for a label: 52 bytes and the label. */
export function writeLabeled(message: usize, label: usize, length: usize, hash: usize): void {
  store<u64>(message, domainStart | 19);
  store<u64>(message, 0x62616c2d_65657274, 8); // "tree-lab"
  store<u32>(message, 0x64656c65, 16); // "eled"
  if (length > 0) memory.copy(message + 20, label, length); // an empty label can have any address
  copyHash(message + 20 + length, hash);
}

export function hashEmpty(digest: usize): void {
  const message = labelBase() + labelMessageAt;
  store<u64>(message, domainStart | 17);
  store<u64>(message, 0x706d652d_65657274, 8); // "tree-emp"
  store<u16>(message, 0x7974, 16); // "ty"
  sha256InPlace(message, 18, digest);
}

/** Computes the hash of an empty leaf. */
export function hashEmptyLeaf(digest: usize): void {
  const message = labelBase() + labelMessageAt;
  store<u64>(message, domainStart | 16);
  store<u64>(message, 0x61656c2d_65657274, 8); // "tree-lea"
  store<u8>(message, 0x66, 16); // "f"
  sha256InPlace(message, 17, digest);
}

// @ts-ignore: decorator
@inline
export function copyHash(to: usize, from: usize): void {
  const high = v128.load(from, 16);
  v128.store(to, v128.load(from));
  v128.store(to, high, 16);
}
