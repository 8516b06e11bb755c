// Operations on the journal, called by kernel calls, and its end in the certified tree.

import { ensureLabelPages, heapBase, journalBlockAt } from './heap';
import {
  fields, firstNumber, journalAppend, journalCut, journalOwner, journalRead, journalTip, nextNumber,
  openJournal, ownerEntries, writeLeb128,
} from './journal';
import { copyHash, hashFork, hashLabeled } from './label-nodes';
import { at, lengthOf, sized } from './operands';
import { sha256 } from './sha256';

const hashBytes: usize = 32;

/**
 * Replaces the root of the tree of answers by that of a tree with the end of the journal at its
 * right (ICRC-3): the hash of the last block, and its index, counted from 0, in LEB128. `beside`
 * receives the root of the right part. `labels`: their names, one after the other.
 */
function journalRoot(space: u32, labels: usize, root: usize, beside: usize): void {
  openJournal(space);
  ensureLabelPages();
  const block = heapBase() + journalBlockAt;
  store<u64>(block, 0x68736168_2d636910); // 16, "ic-hash"
  store<u64>(block, 0x61656c2d_65657274, 8); // "tree-lea"
  store<u8>(block, 0x66, 16); // "f"
  const first = block + 96;
  const second = block + 128;
  copyHash(block + 17, fields() + 64);
  sha256(block, 17 + hashBytes, first);
  hashLabeled(labels, hashLabelBytes, first, first);
  const length = writeLeb128(block + 17, nextNumber() - 2);
  sha256(block, 17 + length, second);
  hashLabeled(labels + hashLabelBytes, indexLabelBytes, second, second);
  hashFork(first, second, beside);
  hashFork(root, beside, root);
}

/** Lengths of `last_block_hash` and `last_block_index`. */
const hashLabelBytes: usize = 15;
const indexLabelBytes: usize = 16;

const appendOperation: u32 = 90;
const readOperation: u32 = 91;
const tipOperation: u32 = 92;
const cutOperation: u32 = 93;
const ownerOperation: u32 = 94;
const rootOperation: u32 = 95;

export function journalOperands(operation: u32): u32 {
  switch (operation) {
    case appendOperation: return 5;
    case readOperation:
    case rootOperation: return 3;
    case tipOperation: return 1;
    case cutOperation:
    case ownerOperation: return 0;
  }
  unreachable();
  return 0;
}

/**
 * command block: 28 first space u32 | append: 32 milliseconds u64, 40 owner u32, 44 kind u32 |
 * read: 32 number u64, 40 limit u32 | cut: 32 milliseconds u64
 */
export function runJournal(operation: u32, block: usize): void {
  const space = load<u32>(block, 28);
  const number = load<u64>(block, 32);
  switch (operation) {
    case appendOperation:
      store<u64>(block, journalAppend(
        space, load<u32>(block, 44), number, load<u32>(block, 40),
        sized(0, 64), at(1), lengthOf(1), at(2), lengthOf(2), at(3), lengthOf(3),
        at(4), lengthOf(4),
      ), 48);
      store<u32>(block, <u32>(ownerEntries & 0xffff_ffff), 24);
      return;
    case readOperation:
      store<u32>(block, journalRead(
        space, number, min(load<u32>(block, 40), <u32>(lengthOf(1) / hashBytes)),
        at(0), lengthOf(0), at(1), at(2), lengthOf(2),
      ), 24);
      return;
    case tipOperation:
      journalTip(space, sized(0, 40));
      store<u64>(block, firstNumber(space), 48);
      return;
    case cutOperation:
      store<u32>(block, u32(journalCut(space, number)), 24);
      return;
    case ownerOperation:
      store<u64>(block, journalOwner(space), 48);
      return;
    case rootOperation:
      journalRoot(space, sized(0, hashLabelBytes + indexLabelBytes), sized(1, 32), sized(2, 32));
  }
}
