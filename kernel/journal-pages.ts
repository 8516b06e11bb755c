// The journal: a log of sealed entries in three spaces of stable memory. Each entry is committed to
// by a block that contains the hash of the previous block (ICRC-3, "Value" and its
// representation-independent hash):
//
//   block        Map { btype: Text, entry: Blob, phash: Blob, ts: Nat }; the first has no phash
//   entry        SHA-256(salt | details | SHA-256(other salt | subject)), 32 bytes
//
// The salts are the two halves of SHA-256(salt key | number u64), so that a block shows nothing of
// the entry to those who cannot read it.
//
//   first space   pages of 8 KiB with whole entries
//   entry    0 length u16 | 2 kind u8 | 3 bytes of padding, 128 more if redacted u8 | 4 distance to
//            the previous entry of its owner u32, 0 for none | 8 milliseconds since 1970 u48 |
//            14 commitment 32 | 46 sealed details, subject and padding | tag 16
//   details  0 length of the actor's id u5, whether a digest follows u1, kind of the actor u2
//            | id | version LEB128 | digest 32
//   a subject has at least 32 bytes with its padding: its hash takes their place when an owner
//   redacts the entry
//   a free page begins with the number of the next one, plus 1
//
//   second space  0 magic u64 | 8 next number | 16 first page | 24 number of pages since the start
//                 | 32 bytes used in the last page | 40 first free page, plus 1 | 48 pages of the
//                 first space | 56 number of owners | 64 hash of the last block 32, all u64
//                 4096 + 48 x page: place in the first space u64 | first number u64 | hash of the
//                 block before 32
//
//   third space   for each owner, which is a bucket: number of its last entry u64 | its entries u64


import { heapBase, journalPageAt, journalSuperblockAt, segmentBase } from './heap';
import { copyHash } from './label-nodes';
import { spaceGrow, spaceRead, spaceSize, spaceWrite } from './stable-space';

const magic: u64 = 0x314e524a_53464500; // "\0EFSJRN1" as bytes
const superblockBytes: u64 = 96;
const directoryStart: u64 = 4096;
const directoryBytes: u64 = 48;
const pageBits: u64 = 13;
export const pageBytes: u64 = 1 << pageBits;
const wasmPageBits: u64 = 16;
/** Spaces grow in steps of one extent. */
const growPages: u64 = 16;
const hashBytes: usize = 32;

// @ts-ignore: decorator
@inline
export function fields(): usize {
  return heapBase() + journalSuperblockAt;
}

// @ts-ignore: decorator
@inline
export function pageEntry(): usize {
  return heapBase() + journalPageAt;
}

// @ts-ignore: decorator
@inline
export function nextNumber(): u64 {
  return load<u64>(fields(), 8);
}

// @ts-ignore: decorator
@inline
export function millisecondsOf(entry: usize): u64 {
  return load<u64>(entry, 8) & 0xffff_ffff_ffff;
}

export function openJournal(space: u32): void {
  loadedFirst = 0;
  loadedEnd = 0;
  loads = 0;
  const top = fields();
  if (spaceSize(space + 1) == 0) {
    memory.fill(top, 0, <usize>superblockBytes);
    store<u64>(top, magic);
    store<u64>(top, 1, 8);
    store<u64>(top, pageBytes, 32);
    return;
  }
  spaceRead(space + 1, top, 0, superblockBytes);
  if (load<u64>(top) != magic) unreachable();
}

export function saveJournal(space: u32): void {
  spaceWrite(space + 1, 0, fields(), superblockBytes);
}

export function growTo(space: u32, end: u64): void {
  while (end > spaceSize(space) << wasmPageBits) {
    if (spaceGrow(space, growPages) == u64.MAX_VALUE) unreachable();
  }
}

export function readPageEntry(space: u32, page: u64): void {
  spaceRead(space + 1, pageEntry(), directoryStart + page * directoryBytes, directoryBytes);
}

export function writePageEntry(space: u32, page: u64): void {
  const offset = directoryStart + page * directoryBytes;
  growTo(space + 1, offset + directoryBytes);
  spaceWrite(space + 1, offset, pageEntry(), directoryBytes);
}

/** Writes a byte string to its place in the page of pageEntry(). */
export function writeToPage(space: u32, offset: u64, bytes: usize, length: u64): void {
  spaceWrite(space, (load<u64>(pageEntry()) << pageBits) + offset, <u64>bytes, length);
}

/** Returns the number of the first stored entry; the next one without entries. */
export function firstNumber(space: u32): u64 {
  const first = load<u64>(fields(), 16);
  if (first == load<u64>(fields(), 24)) return nextNumber();
  readPageEntry(space, first);
  return load<u64>(pageEntry(), 8);
}

/** Number of pages that were loaded since openJournal(). */
export let loads: u32 = 0;
/** The loaded page, which the pages for segments contain, and the numbers of its entries. */
let loadedPage: u64 = 0;
let loadedFirst: u64 = 0;
let loadedEnd: u64 = 0;
/** Offsets of these entries, u16 each. */
const offsetsAt: usize = 0x18000;

/**
 * Returns the address of an entry in a copy of its page, 0 if it is not stored. `hash` receives the
 * hash of the block before the page's first if the page was not loaded yet.
 */
export function entryAt(space: u32, number: u64, hash: usize): usize {
  if (number < loadedFirst || number >= loadedEnd) {
    if (number < firstNumber(space) || number >= nextNumber()) return 0;
    loadPage(space, number, hash);
  }
  const slot = offsetsAt + (<usize>(number - loadedFirst) << 1);
  return segmentBase() + <usize>load<u16>(segmentBase() + slot);
}

/** Returns the number of the first entry in the loaded page. */
export function firstLoaded(): u64 {
  return loadedFirst;
}

function loadPage(space: u32, number: u64, hash: usize): void {
  const page = pageOf(space, number);
  const isLast = page + 1 == load<u64>(fields(), 24);
  const bytes = isLast ? load<u64>(fields(), 32) : pageBytes;
  spaceRead(space, <u64>segmentBase(), load<u64>(pageEntry()) << pageBits, bytes);
  loads++;
  loadedPage = page;
  loadedFirst = load<u64>(pageEntry(), 8);
  copyHash(hash, pageEntry() + 16);
  loadedEnd = nextNumber();
  if (!isLast) {
    readPageEntry(space, page + 1);
    loadedEnd = load<u64>(pageEntry(), 8);
  }
  let offset: usize = 0;
  const end = segmentBase() + offsetsAt + (<usize>(loadedEnd - loadedFirst) << 1);
  for (let slot = segmentBase() + offsetsAt; slot < end; slot += 2) {
    store<u16>(slot, <u16>offset);
    offset += load<u16>(segmentBase() + offset);
  }
}

/**
 * Returns the page that contains an existing entry, and reads the directory's entry of it. From a
 * loaded page on it looks in growing steps, because entries of an owner are often near one another.
 */
export function pageOf(space: u32, number: u64): u64 {
  let low = load<u64>(fields(), 16);
  let high = load<u64>(fields(), 24) - 1;
  if (loadedEnd != 0 && number < loadedFirst) {
    const first = low;
    high = loadedPage - 1;
    for (let step: u64 = 1; ; step <<= 1) {
      low = high - first < step ? first : high + 1 - step;
      if (low == first || firstOf(space, low) <= number) break;
      high = low - 1;
    }
  } else if (loadedEnd != 0 && number >= loadedEnd) {
    const last = high;
    low = loadedPage + 1;
    for (let step: u64 = 1; ; step <<= 1) {
      high = last - low < step ? last : low + step - 1;
      if (high == last || firstOf(space, high + 1) > number) break;
      low = high + 1;
    }
  }
  while (low < high) {
    const middle = low + high + 1 >> 1;
    if (firstOf(space, middle) <= number) low = middle;
    else high = middle - 1;
  }
  readPageEntry(space, low);
  return low;
}

/** Returns the number of the page's first entry. */
function firstOf(space: u32, page: u64): u64 {
  readPageEntry(space, page);
  return load<u64>(pageEntry(), 8);
}

/** Returns the number of the first stored entry that is not older; the next one without any. */
export function numberFrom(space: u32, ms: u64, hash: usize): u64 {
  let low = load<u64>(fields(), 16);
  let high = load<u64>(fields(), 24);
  while (low < high) {
    const middle = low + high >> 1;
    if (millisecondsOf(entryAt(space, firstOf(space, middle), hash)) >= ms) high = middle;
    else low = middle + 1;
  }
  // The entry may be in the page before the first that begins with one
  const first = load<u64>(fields(), 16);
  let number = low > first ? firstOf(space, low - 1) : firstNumber(space);
  while (number < nextNumber() && millisecondsOf(entryAt(space, number, hash)) < ms) number++;
  return number;
}
