// The journal: a log of sealed entries in stable memory (journal-pages.ts), each committed to by a
// block of a chain (journal-chain.ts).

import { ensureSegmentPages, heapBase, journalBlockAt, segmentBase, zerosAt, zerosBytes } from './heap';
import { hashBlock, namesBytes } from './journal-chain';
import {
  entryAt, fields, firstNumber, growTo, millisecondsOf, nextNumber, openJournal, pageBytes,
  pageEntry, pageOf, readPageEntry, saveJournal, writePageEntry, writeToPage,
} from './journal-pages';
import {
  commit, entryHeadBytes, isRedacted, openEntry, redactEntry, sealEntry, tagBytes,
  wipeJournalSecrets,
} from './journal-seal';
import { copyHash } from './label-nodes';
import { spaceRead, spaceWrite } from './stable-space';

/** Details, subject and padding of an entry. */
const contentBytesMax: usize = 4096;
/** A subject has room for its hash. */
const subjectBytesMin: usize = 32;
const hashBytes: usize = 32;

/** Number of entries of the owner of the entry that was appended last. */
export let ownerEntries: u64 = 0;

/** Begins a page for the next entry: a free one, or one at the end of the space. */
function beginPage(space: u32): void {
  const top = fields();
  const free = load<u64>(top, 40);
  let place = load<u64>(top, 48);
  if (free != 0) {
    place = free - 1;
    spaceRead(space, top + 40, place * pageBytes, 8);
  } else {
    growTo(space, (place + 1) * pageBytes);
    store<u64>(top, place + 1, 48);
  }
  const page = load<u64>(top, 24);
  const slot = pageEntry();
  store<u64>(slot, place);
  store<u64>(slot, nextNumber(), 8);
  copyHash(slot + 16, top + 64);
  writePageEntry(space, page);
  store<u64>(top, page + 1, 24);
  store<u64>(top, 0, 32);
}

/** Appends an entry and returns its number. `keys`: the key of the seal, and the salt key. */
export function journalAppend(
  space: u32, kind: u32, ms: u64, owner: u64,
  keys: usize, name: usize, nameLength: usize, details: usize, detailsLength: usize,
  subject: usize, subjectLength: usize, hashes: usize, hashesLength: usize,
): u64 {
  const padding = max(subjectLength, subjectBytesMin) - subjectLength;
  const content = detailsLength + subjectLength + padding;
  if (content > contentBytesMax || ms >> 48 != 0) unreachable();
  if (namesBytes + <usize>(kind + 1) * hashBytes > hashesLength) unreachable();
  ensureSegmentPages();
  openJournal(space);
  const top = fields();
  const number = nextNumber();
  const length = entryHeadBytes + content + tagBytes;
  const previous = replaceLast(space, owner, number);
  if (load<u64>(top, 32) + length > pageBytes) beginPage(space);
  else readPageEntry(space, load<u64>(top, 24) - 1);
  const entry = segmentBase();
  const distance = previous == 0 ? 0 : number - previous;
  store<u16>(entry, <u16>length);
  store<u8>(entry, <u8>kind, 2);
  store<u8>(entry, <u8>padding, 3);
  store<u32>(entry, distance > u32.MAX_VALUE ? 0 : <u32>distance, 4);
  store<u64>(entry, ms, 8);
  memory.copy(entry + entryHeadBytes, details, detailsLength);
  // An empty array can have an address outside the memory, which even an empty copy refuses
  if (subjectLength != 0) {
    memory.copy(entry + entryHeadBytes + detailsLength, subject, subjectLength);
  }
  memory.fill(entry + entryHeadBytes + detailsLength + subjectLength, 0, padding);
  commit(number, keys + hashBytes, entry, detailsLength, subjectLength);
  sealEntry(number, keys, entry, name, nameLength);
  const used = load<u64>(top, 32);
  writeToPage(space, used, entry, length);
  store<u64>(top, used + length, 32);
  hashBlock(top + 64, number, entry, hashes);
  store<u64>(top, number + 1, 8);
  saveJournal(space);
  wipeJournalSecrets();
  return number;
}

/** Returns the number of the owner's last entry, 0 for none, and stores the new one. */
function replaceLast(space: u32, owner: u64, number: u64): u64 {
  if (owner >= load<u64>(fields(), 56)) unreachable();
  const slot = pageEntry();
  spaceRead(space + 2, slot, owner << 4, 16);
  const previous = load<u64>(slot);
  store<u64>(slot, number);
  store<u64>(slot, load<u64>(slot, 8) + 1, 8);
  ownerEntries = load<u64>(slot, 8);
  spaceWrite(space + 2, owner << 4, slot, 16);
  return previous;
}

/** Returns the number of a new owner without entries. */
export function journalOwner(space: u32): u64 {
  openJournal(space);
  const owner = load<u64>(fields(), 56);
  growTo(space + 1, 1);
  growTo(space + 2, owner + 1 << 4);
  store<u64>(fields(), owner + 1, 56);
  saveJournal(space);
  return owner;
}

/** Copies the next number (u64) and the hash of the last block; returns the first number. */
export function journalTip(space: u32, out: usize): u64 {
  openJournal(space);
  store<u64>(out, nextNumber());
  copyHash(out + 8, fields() + 64);
  return firstNumber(space);
}

/** Frees the first page if the page after it begins before that time; false if it does not. */
export function journalCut(space: u32, beforeMs: u64): bool {
  openJournal(space);
  const top = fields();
  const first = load<u64>(top, 16);
  if (first + 1 >= load<u64>(top, 24)) return false;
  readPageEntry(space, first + 1);
  const head = heapBase() + journalBlockAt;
  spaceRead(space, <u64>head, load<u64>(pageEntry()) * pageBytes, 16);
  if (millisecondsOf(head) >= beforeMs) return false;
  readPageEntry(space, first);
  for (let offset: u64 = 0; offset < pageBytes; offset += zerosBytes) {
    writeToPage(space, offset, heapBase() + zerosAt, zerosBytes);
  }
  writeToPage(space, 0, top + 40, 8);
  store<u64>(top, load<u64>(pageEntry()) + 1, 40);
  store<u64>(top, first + 1, 16);
  saveJournal(space);
  return true;
}

/** Replaces the subject of an owner's entry by its hash; false if the owner has no such entry. */
export function journalRedact(
  space: u32, number: u64, keys: usize, name: usize, nameLength: usize,
): bool {
  ensureSegmentPages();
  openJournal(space);
  const entry = entryAt(space, number, heapBase() + journalBlockAt);
  if (entry == 0 || !openEntry(number, keys, entry, name, nameLength)) return false;
  const isNew = !isRedacted(entry);
  if (isNew) {
    redactEntry(number, keys, entry, name, nameLength);
    pageOf(space, number);
    writeToPage(space, entry - segmentBase(), entry, load<u16>(entry));
  }
  memory.fill(segmentBase(), 0, <usize>pageBytes);
  wipeJournalSecrets();
  return isNew;
}
