// Builds the tree of one file's certified answers: the subtree below the file's label, shaped like
// the levels of the label tree. Returns its hash, or the CBOR that proves one answer (IC spec,
// "Certificate": hash-tree). The label tree stores only this hash below the label (an opaque leaf):
// the subtree is computed again from the file's headers for each answer.
//
//   command block: 28 requested result u8, row u8 << 8 | 32 size u64 | 40 bytes of a part u64
//                  48 part u32 | 52 parts u32 | 56 validators u32 | 60 fields u32
//   operands: names and values separated by NUL, validators first | constants
//             | SHA-256 of the part, or of the whole | space for the result

import {
  entryBytes, entryOf, getRow, later, makeLeaves, partRow, responseOf, rowCount, tagRow,
} from './file-leaves';
import {
  constant, constantBytes, hashFields, openPairs, pairOf, plainExpression, rangeExpression, room,
  status206, tagExpression,
} from './file-pairs';
import { ensureLabelPages, labelBase, labelOrderAt } from './heap';
import { sortEntries } from './label-change';
import { copyHash, hashFork } from './label-nodes';
import { bitAt, differenceOf, noBit } from './label-search';
import { at, lengthOf, sized } from './operands';
import { hashAll } from './sha256-lanes';

/** Asks for the hash of the tree of a file of at most one chunk. */
const askHash: u32 = 0;
/** Asks for the CBOR of the tree that reveals a row of such a file. */
const askTree: u32 = 1;
/** Asks for the request hash of a row, followed by the CBOR of its `response hash / ""`. */
const askRow: u32 = 2;
/** Asks for the leaves of the rows before `partRow`, then for the pairs of a part's answer. */
const askLevels: u32 = 3;

const hashBytes: usize = 32;
const pairBytes: usize = 64;
/** The largest tree shows three labels of 32 bytes and five hashes: 301 bytes. */
const treeBytesMax: usize = 320;
const rowBytes: usize = 72;
const levelsBytes: usize = 7 * 64;

const partLevel: u32 = 2;
const topLevel: u32 = 3;

/** For each level: the addresses of its entries in order, and the entry of the level itself. */
let orders: usize = 0;
let tops: usize = 0;
let cursor: usize = 0;
let shownRow: u32 = 0;

/** Returns the number of bytes written. */
export function fileTree(block: usize): u32 {
  const asked = <u32>load<u8>(block, 28);
  const row = <u32>load<u8>(block, 29);
  const parts = load<u32>(block, 52);
  if (row >= rowCount) unreachable();
  ensureLabelPages();
  const rows = rowsFor(asked, row, parts);
  openPairs(
    sized(1, constantBytes), load<u64>(block, 32), load<u64>(block, 40), load<u32>(block, 48),
  );
  const fields = load<u32>(block, 60);
  hashFields(at(0), lengthOf(0), load<u32>(block, 56), fields);
  makeLeaves(rows, sized(2, hashBytes), parts);
  cursor = at(3);
  if (asked == askLevels) return writeLevels(fields);
  if (asked == askRow) return writeRow(row);
  return writeTree(asked, row, parts);
}

function rowsFor(asked: u32, row: u32, parts: u32): u32 {
  if (asked == askRow) return 1 << row;
  const fixed: u32 = (1 << partRow) - 1;
  if (asked == askLevels) return fixed;
  if (asked > askLevels || parts > 1 || row == partRow && parts == 0) unreachable();
  return parts == 0 ? fixed : fixed | 1 << partRow;
}

function writeLevels(fields: u32): u32 {
  const end = levelsBytes + <usize>(fields + 2) * pairBytes;
  if (lengthOf(3) < end) unreachable();
  for (let row: u32 = 0; row < partRow; row++) {
    writePair(entryOf(row));
  }
  for (let i: u32 = 0; i < fields; i++) writePair(pairOf(i));
  writePair(constant(rangeExpression));
  writePair(constant(status206));
  return <u32>end;
}

function writePair(from: usize): void {
  writeHash(from);
  writeHash(from + hashBytes);
}

function writeRow(row: u32): u32 {
  if (lengthOf(3) < rowBytes) unreachable();
  writeHash(entryOf(row));
  writeResponse(row);
  return <u32>(cursor - at(3));
}

function writeTree(asked: u32, row: u32, parts: u32): u32 {
  const isHash = asked == askHash;
  if (lengthOf(3) < (isHash ? hashBytes : treeBytesMax)) unreachable();
  orders = room(4 * 32);
  tops = room(3 * entryBytes);
  shownRow = isHash ? rowCount : row;
  const levels: u32 = parts == 0 ? 2 : 3;
  for (let level: u32 = 0; level < levels; level++) {
    sortLevel(level, entryOf(firstRow(level)), countOf(level));
    const top = topOf(level);
    copyHash(top, constant(expressionOf(level) + hashBytes));
    if (isHash || level != levelOf(row)) {
      levelHash(orderOf(level), countOf(level), top + hashBytes);
      later(top, top + hashBytes, top + 2 * hashBytes);
    }
  }
  hashAll();
  sortLevel(topLevel, tops, levels);
  if (isHash) {
    levelHash(orderOf(topLevel), levels, cursor);
    return <u32>hashBytes;
  }
  show(orderOf(topLevel), levels, topOf(levelOf(row)));
  return <u32>(cursor - at(3));
}

// @ts-ignore: decorator
@inline
function topOf(level: u32): usize { return tops + <usize>level * entryBytes; }

// @ts-ignore: decorator
@inline
function orderOf(level: u32): usize { return orders + (<usize>level << 5); }

function firstRow(level: u32): u32 {
  return level == 0 ? getRow : level == 1 ? tagRow : partRow;
}

function countOf(level: u32): u32 {
  return level == 0 ? 3 : level == 1 ? 4 : 1;
}

function levelOf(row: u32): u32 {
  return row < tagRow ? 0 : row < partRow ? 1 : partLevel;
}

function expressionOf(level: u32): usize {
  return level == 0 ? plainExpression : level == 1 ? tagExpression : rangeExpression;
}

function sortLevel(level: u32, entries: usize, count: u32): void {
  sortEntries(entries, entryBytes, count, hashBytes);
  memory.copy(orderOf(level), labelBase() + labelOrderAt, <usize>count << 2);
}

/** Returns the number of labels left of the topmost node, as in the levels of the label tree. */
function partAt(order: usize, count: u32): u32 {
  const last = load<usize>(order + (<usize>(count - 1) << 2));
  const bit = differenceOf(load<usize>(order), hashBytes, last, hashBytes);
  if (bit == noBit) unreachable(); // the label occurs twice
  let left: u32 = 1;
  while (bitAt(load<usize>(order + (<usize>left << 2)), hashBytes, bit) == 0) left++;
  return left;
}

function levelHash(order: usize, count: u32, digest: usize): void {
  if (count == 1) {
    copyHash(digest, load<usize>(order) + 2 * hashBytes);
    return;
  }
  const left = partAt(order, count);
  const hashes = room(2 * hashBytes);
  levelHash(order, left, hashes);
  levelHash(order + (<usize>left << 2), count - left, hashes + hashBytes);
  hashFork(hashes, hashes + hashBytes, digest);
}

/** Writes a level with the label on the path to the row, and all other labels as hashes. */
function show(order: usize, count: u32, shown: usize): void {
  if (!isAmong(order, count, shown)) {
    store<u32>(cursor, 0x20580482); // [4, 32 bytes]
    levelHash(order, count, cursor + 4);
    cursor += 36;
  } else if (count == 1) {
    showLabel(shown);
  } else {
    const left = partAt(order, count);
    store<u16>(cursor, 0x0183); // [1, left, right]
    cursor += 2;
    show(order, left, shown);
    show(order + (<usize>left << 2), count - left, shown);
  }
}

function isAmong(order: usize, count: u32, shown: usize): bool {
  for (let i: u32 = 0; i < count; i++) {
    if (load<usize>(order + (<usize>i << 2)) == shown) return true;
  }
  return false;
}

function showLabel(label: usize): void {
  writeLabel(label);
  const level = levelOf(shownRow);
  if (label == topOf(level)) show(orderOf(level), countOf(level), entryOf(shownRow));
  else writeResponse(shownRow);
}

function writeResponse(row: u32): void {
  writeLabel(responseOf(row));
  store<u32>(cursor, 0x400382); // [3, ""]
  cursor += 3;
}

/** Writes [2, label, …]; the subtree follows */
function writeLabel(label: usize): void {
  store<u32>(cursor, 0x20580283);
  cursor += 4;
  writeHash(label);
}

function writeHash(hash: usize): void {
  copyHash(cursor, hash);
  cursor += hashBytes;
}
