// Reading of the journal: entries of an owner, which their distances connect from the last one
// back, and blocks of the chain.

import { ensureSegmentPages, heapBase, journalBlockAt, segmentBase } from './heap';
import { encodedBytesMax, writeBlock, writeEntry } from './journal-candid';
import { hashBlock } from './journal-chain';
import { entryAt, firstLoaded, loads, millisecondsOf, openJournal, pageBytes } from './journal-pages';
import { contentBytes, entryHeadBytes, openEntry, wipeJournalSecrets } from './journal-seal';

/** Numbers of entries that were found, behind the loaded page. */
const foundAt: usize = 0x8000;
const foundMax: u32 = 8192;
/**
 * Limit of a reading in Candid for each `limitStep` entries of its limit, in units of 3,250
 * instructions; the rest of a query takes 2 M.
 */
const replyCostMax: u32 = 840;
const limitStep: u32 = 100;
const loadCost: u32 = 3;
const hashBytes: usize = 32;

/** The rest of a reply: entries returned, whether more follow, the number of an altered entry. */
export let returned: u32 = 0;
export let hasMore: bool = false;
export let altered: u64 = 0;

/**
 * Writes entries of an owner, opened, and returns their number of bytes. It follows them from
 * `start` back: if `isForward`, to those after `bound`, the first of which come first; otherwise
 * from the one before `bound`, which comes first. None is older than `fromMs`. `kinds`: their names
 * for Candid, which ends before `limit` if they are long or in many pages; without them an entry is
 * its number u64, its head and its content.
 */
export function journalEntries(
  space: u32, start: u64, bound: u64, isForward: bool, fromMs: u64, limit: u32,
  keys: usize, name: usize, nameLength: usize, kinds: usize, out: usize, room: usize,
): usize {
  ensureSegmentPages();
  openJournal(space);
  const costMax = kinds == 0 ? u32.MAX_VALUE : replyCostMax * ((limit + limitStep - 1) / limitStep);
  const count = find(space, start, bound, isForward, fromMs, limit, costMax);
  const found = segmentBase() + foundAt;
  let end = out;
  returned = 0;
  altered = 0;
  let cost: u32 = 0;
  hasMore = isCut || count > limit;
  for (let i: u32 = 0; i < min(count, limit); i++) {
    const number = load<u64>(found + <usize>(isForward ? count - 1 - i : i) * 8);
    const entry = entryAt(space, number, heapBase() + journalBlockAt);
    const isFull = end + encodedBytesMax + contentBytes(entry) > out + room;
    if (isFull || loads * loadCost + cost > costMax && returned != 0) {
      hasMore = true;
      break;
    }
    if (!openEntry(number, keys, entry, name, nameLength)) {
      altered = number;
      break;
    }
    end = kinds == 0
      ? copyEntry(end, number, entry)
      : writeEntry(end, number, entry, keys + hashBytes, kinds);
    returned++;
    cost += costOf(entry);
  }
  memory.fill(segmentBase(), 0, <usize>pageBytes);
  wipeJournalSecrets();
  return end - out;
}

/** Whether find() ended before the range's end. */
let isCut: bool = false;

/** Lists numbers of the owner's entries; returns how many there are in the range. */
function find(
  space: u32, start: u64, bound: u64, isForward: bool, fromMs: u64, limit: u32, costMax: u32,
): u32 {
  const found = segmentBase() + foundAt;
  let count: u32 = 0;
  let skipped: u32 = 0;
  let cost: u32 = 0;
  isCut = false;
  for (let number = start; number != 0; ) {
    const entry = entryAt(space, number, heapBase() + journalBlockAt);
    if (entry == 0 || millisecondsOf(entry) < fromMs) break;
    if (isForward && number <= bound) break;
    if (isForward || number < bound) {
      if (count == foundMax) unreachable();
      store<u64>(found + <usize>count * 8, number);
      count++;
      if (!isForward && count > limit) break;
    } else skipped = loads;
    const distance = load<u32>(entry, 4);
    if (distance == 0) break;
    // The pages of the found ones are loaded once more
    if (count != 0) cost += costOf(entry);
    isCut = !isForward && count != 0 && (loads + loads - skipped) * loadCost + cost > costMax;
    if (isCut) break;
    number -= distance;
  }
  return count;
}

/** The cost of an entry with its share of the reply, of which a byte takes 50 instructions. */
function costOf(entry: usize): u32 {
  return 6 + (<u32>contentBytes(entry) >> 5);
}

function copyEntry(out: usize, number: u64, entry: usize): usize {
  store<u64>(out, number);
  const length = entryHeadBytes + contentBytes(entry);
  memory.copy(out + 8, entry, length);
  return out + 8 + length;
}

/**
 * Writes blocks from that number on in Candid; returns their number of bytes. `types`: the names of
 * their types, each after its length.
 */
export function journalBlocks(
  space: u32, number: u64, limit: u32, hashes: usize, types: usize, out: usize, room: usize,
): usize {
  ensureSegmentPages();
  openJournal(space);
  const hash = segmentBase() + foundAt;
  let end = out;
  returned = 0;
  if (entryAt(space, number, hash) == 0) return 0;
  for (let current = firstLoaded(); ; current++) {
    const entry = entryAt(space, current, hash);
    if (entry == 0) break;
    if (current >= number) {
      if (returned == limit || end + encodedBytesMax > out + room) break;
      end = writeBlock(end, current, entry, hash, types);
      returned++;
    }
    hashBlock(hash, current, entry, hashes);
  }
  return end - out;
}
