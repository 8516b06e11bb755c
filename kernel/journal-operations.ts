// Operations on the journal, called by kernel calls, and its end in the certified tree.

import { ensureLabelPages, ensureSegmentPages, heapBase, journalBlockAt } from './heap';
import { journalAppend, journalCut, journalOwner, journalRedact, journalTip, ownerEntries } from './journal';
import { writeLeb128 } from './journal-chain';
import { fields, nextNumber, numberFrom, openJournal } from './journal-pages';
import { altered, hasMore, journalBlocks, journalEntries, returned } from './journal-reading';
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

const appendOperation: u32 = 104;
const entriesOperation: u32 = 105;
const blocksOperation: u32 = 106;
const tipOperation: u32 = 107;
const cutOperation: u32 = 108;
const ownerOperation: u32 = 109;
const rootOperation: u32 = 110;
const redactOperation: u32 = 111;
const numberOperation: u32 = 112;

export function journalOperands(operation: u32): u32 {
  switch (operation) {
    case appendOperation: return 5;
    case entriesOperation: return 4;
    case blocksOperation:
    case rootOperation: return 3;
    case redactOperation: return 2;
    case tipOperation: return 1;
    case cutOperation:
    case numberOperation:
    case ownerOperation: return 0;
  }
  unreachable();
  return 0;
}

/**
 * command block: 28 first space u32 | append: 32 milliseconds u64, 40 owner u32, 44 kind u32 |
 * entries: 32 first number u64, 40 limit u32, 44 forward u32, 48 bound u64, 56 milliseconds u64 |
 * blocks: 32 number u64, 40 limit u32 | cut and number: 32 milliseconds u64 | redact: 32 number u64
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
    case entriesOperation:
      readEntries(space, number, block);
      return;
    case blocksOperation:
      store<u32>(block, <u32>journalBlocks(
        space, number, load<u32>(block, 40), at(0), at(1), at(2), lengthOf(2),
      ), 24);
      store<u64>(block, returned, 48);
      return;
    case tipOperation:
      store<u64>(block, journalTip(space, sized(0, 40)), 48);
      return;
    case cutOperation:
      store<u32>(block, u32(journalCut(space, number)), 24);
      return;
    case ownerOperation:
      store<u64>(block, journalOwner(space), 48);
      return;
    case rootOperation:
      journalRoot(space, sized(0, hashLabelBytes + indexLabelBytes), sized(1, 32), sized(2, 32));
      return;
    case numberOperation:
      ensureSegmentPages();
      openJournal(space);
      store<u64>(block, numberFrom(space, number, heapBase() + journalBlockAt), 48);
      return;
    case redactOperation:
      store<u32>(block, u32(journalRedact(space, number, sized(0, 64), at(1), lengthOf(1))), 24);
  }
}

/** After the call: 24 bytes u32 | 40 entries u32, 44 more follow u32 | 48 altered entry u64. */
function readEntries(space: u32, start: u64, block: usize): void {
  store<u32>(block, <u32>journalEntries(
    space, start, load<u64>(block, 48), load<u32>(block, 44) != 0, load<u64>(block, 56),
    load<u32>(block, 40), sized(0, 64), at(1), lengthOf(1), lengthOf(2) == 0 ? 0 : at(2),
    at(3), lengthOf(3),
  ), 24);
  store<u32>(block, returned, 40);
  store<u32>(block, u32(hasMore), 44);
  store<u64>(block, altered, 48);
}
