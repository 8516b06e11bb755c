// The header fields of a file's answers as pairs of hashes (IC spec, "Representation-independent
// hash"), and the common parts of their requests. Values that are the same for all files are passed
// in as constants, so that no header is named here.
//
//   pair name hash | value hash

import { labelBase, labelStepsAt } from './heap';
import { copyHash } from './label-nodes';
import { writeDecimal } from './part-leaves';
import { sha256 } from './sha256';
import { hashLater, laneBytes, paddedBytes, startLanes } from './sha256-lanes';

const hashBytes: usize = 32;
const pairBytes: usize = 64;
const fieldsMax: u32 = 32;
/** A text of at most two blocks is hashed together with three others. */
const laneTextMax: usize = 119;
export const noPair: usize = 0;

// Layout of the constants from src/certification/file-leaves.ts
export const constantBytes: usize = 928;
export const status200: usize = 0;
export const status206: usize = 64;
export const status304: usize = 128;
/** Pairs of the header with the expression; their values label the levels. */
export const plainExpression: usize = 192;
export const tagExpression: usize = 256;
export const rangeExpression: usize = 320;
export const getMethod: usize = 384;
export const headMethod: usize = 448;
const lengthName: usize = 512;
const contentRangeName: usize = 544;
export const tagName: usize = 576;
export const rangeName: usize = 608;
export const plainLabels: usize = 640;
/** For OPTIONS: hash of the response, of its label above an empty leaf, of the request's label. */
export const optionsResponse: usize = 736;
export const emptyBody: usize = 832;
export const emptyLeaf: usize = 864;
/** Request hash of a range from the first byte on. */
export const firstRangeLabel: usize = 896;

// Layout in the label pages: lanes, pairs, leaves (file-leaves.ts), free space
const pairsAt: usize = labelStepsAt + laneBytes;
export const pairsEnd: usize = laneBytes + <usize>fieldsMax * pairBytes;
const roomAt: usize = labelStepsAt + 0x1400;
const roomEnd: usize = labelStepsAt + 0x20000;

let next: usize = 0;
let constants: usize = 0;
let fields: u32 = 0;
let validators: u32 = 0;
let tagText: usize = 0;
let tagLength: usize = 0;
let bodySize: u64 = 0;
let partSize: u64 = 0;
let partStart: u64 = 0;

export function fieldCount(): u32 { return fields; }
export function validatorCount(): u32 { return validators; }
export function isFirstPart(): bool { return partStart == 0; }
export function tagHash(): usize { return pairOf(0) + hashBytes; }

// @ts-ignore: decorator
@inline
export function constant(at: usize): usize { return constants + at; }

// @ts-ignore: decorator
@inline
export function pairOf(field: u32): usize {
  return labelBase() + pairsAt + <usize>field * pairBytes;
}

/** Allocates space for one operation. */
export function room(bytes: usize): usize {
  const start = next;
  next += bytes + 15 & ~15;
  if (next > labelBase() + roomEnd) unreachable();
  return start;
}

// @ts-ignore: decorator
@inline
export function copyPair(to: usize, from: usize): void {
  copyHash(to, from);
  copyHash(to + hashBytes, from + hashBytes);
}

/** `part`: the index of the part that the answer contains. */
export function openPairs(constantsAt: usize, size: u64, partBytes: u64, part: u64): void {
  constants = constantsAt;
  bodySize = size;
  partSize = partBytes;
  partStart = part * partBytes;
  next = labelBase() + roomAt;
  startLanes(labelBase() + labelStepsAt);
}

/** Hashes names and values of all fields, separated by NUL: the tag, other validators, the rest. */
export function hashFields(text: usize, length: usize, first: u32, all: u32): void {
  if (all == 0 || all > fieldsMax || first > all) unreachable();
  fields = all;
  validators = first;
  const end = text + length;
  let start = text;
  for (let i: u32 = 0; i < 2 * all; i++) {
    let at = start;
    while (at < end && load<u8>(at) != 0) at++;
    if (at == end && i + 1 < 2 * all) unreachable(); // too few
    const digest = pairOf(i >> 1) + <usize>(i & 1) * hashBytes;
    if ((i & 1) == 0) hashName(start, at - start, digest);
    else hashText(start, at - start, digest);
    if (i == 1) {
      tagText = start;
      tagLength = at - start;
    }
    start = at + 1;
  }
  if (start != end + 1) unreachable(); // too many
}

/** Hashes the name in lower case. */
function hashName(text: usize, length: usize, digest: usize): void {
  if (length > laneTextMax) unreachable();
  const message = room(paddedBytes(length));
  for (let i: usize = 0; i < length; i++) {
    const character = <u32>load<u8>(text + i);
    store<u8>(message + i, character + (u32(character - 0x41 < 26) << 5));
  }
  hashLater(message, length, digest);
}

function hashText(text: usize, length: usize, digest: usize): void {
  if (length > laneTextMax) {
    sha256(text, length, digest);
    return;
  }
  const message = room(paddedBytes(length));
  memory.copy(message, text, length);
  hashLater(message, length, digest);
}

/** Returns the hash of `W/` and the tag. */
export function weakTagHash(): usize {
  const digest = room(hashBytes);
  const text = room(paddedBytes(tagLength + 2));
  store<u16>(text, 0x2f57); // "W/"
  memory.copy(text + 2, tagText, tagLength);
  hashLater(text, tagLength + 2, digest);
  return digest;
}

/** Hashes the part's Content-Range and, except for the first part, the Range that requests it. */
export function contentRangeOf(isNeeded: bool): usize {
  if (!isNeeded) return noPair;
  if (partStart >= bodySize) unreachable();
  const pair = room(pairBytes + hashBytes);
  copyHash(pair, constants + contentRangeName);
  const covered = room(128);
  store<u64>(covered, 0x20736574_7962); // "bytes "
  let end = writeDecimal(covered + 6, partStart);
  store<u8>(end, 0x2d); // "-"
  end = writeDecimal(end + 1, min(partStart + partSize, bodySize) - 1);
  store<u8>(end, 0x2f); // "/"
  end = writeDecimal(end + 1, bodySize);
  hashLater(covered, end - covered, pair + hashBytes);
  if (partStart == 0) return pair;
  const asked = room(128);
  store<u64>(asked, 0x3d736574_7962); // "bytes="
  end = writeDecimal(asked + 6, partStart);
  store<u8>(end, 0x2d); // "-"
  hashLater(asked, end + 1 - asked, pair + pairBytes);
  return pair;
}

export function lengthPair(): usize {
  const pair = room(pairBytes);
  copyHash(pair, constants + lengthName);
  const text = room(64);
  hashLater(text, writeDecimal(text, bodySize) - text, pair + hashBytes);
  return pair;
}
