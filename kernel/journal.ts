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
//   first space   pages of 16 KiB with whole entries
//   entry    0 length u16 | 2 kind u8 | 3 zero | 4 distance to the previous entry of its owner
//            u32, 0 for none | 8 milliseconds since 1970 u48 | 14 commitment 32 | 46 sealed
//            details and subject | tag 16
//   a free page begins with the number of the next one, plus 1
//
//   second space  0 magic u64 | 8 next number | 16 first page | 24 number of pages since the start
//                 | 32 bytes used in the last page | 40 first free page, plus 1 | 48 pages of the
//                 first space | 56 number of owners | 64 hash of the last block 32, all u64
//                 4096 + 48 x page: place in the first space u64 | first number u64 | hash of the
//                 block before 32
//
//   third space   for each owner, which is a bucket: number of its last entry u64 | its entries u64

import { seal } from './aead';
import {
  ensureSegmentPages, heapBase, journalBlockAt, journalPageAt, journalSecretsAt,
  journalSecretsBytes, journalSuperblockAt, segmentBase, zerosAt, zerosBytes,
} from './heap';
import { copyHash } from './label-nodes';
import { sha256 } from './sha256';
import { spaceGrow, spaceRead, spaceSize, spaceWrite } from './stable-space';

const magic: u64 = 0x314e524a_53464500; // "\0EFSJRN1" as bytes
const superblockBytes: u64 = 96;
const directoryStart: u64 = 4096;
const directoryBytes: u64 = 48;
const pageBits: u64 = 14;
const pageBytes: u64 = 1 << pageBits;
const wasmPageBits: u64 = 16;
/** Spaces grow in steps of one extent. */
const growPages: u64 = 16;
const entryHeadBytes: usize = 46;
const tagBytes: usize = 16;
/** Details and subject of an entry. */
const contentBytesMax: usize = 4096;
const nsPerMs: u64 = 1_000_000;

/** Byte offsets inside the secrets. */
const saltsOffset: usize = 0;
const saltInputOffset: usize = 32;
const subjectHashOffset: usize = 80;
const nonceOffset: usize = 112;

/** The hashes that a block consists of: of its four names in their order, then of each kind. */
const namesBytes: usize = 128;
const hashBytes: usize = 32;
/** The order of the names by their hashes: btype, ts, phash, entry. */
const timeSlot: usize = 64;
const previousSlot: usize = 128;
const entrySlot: usize = 192;
const blockBytes: usize = 256;

/** Number of entries of the owner of the entry that was appended last. */
export let ownerEntries: u64 = 0;

// @ts-ignore: decorator
@inline
export function fields(): usize {
  return heapBase() + journalSuperblockAt;
}

// @ts-ignore: decorator
@inline
function pageEntry(): usize {
  return heapBase() + journalPageAt;
}

// @ts-ignore: decorator
@inline
export function nextNumber(): u64 {
  return load<u64>(fields(), 8);
}

export function openJournal(space: u32): void {
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

function save(space: u32): void {
  spaceWrite(space + 1, 0, fields(), superblockBytes);
}

function growTo(space: u32, end: u64): void {
  while (end > spaceSize(space) << wasmPageBits) {
    if (spaceGrow(space, growPages) == u64.MAX_VALUE) unreachable();
  }
}

function readPageEntry(space: u32, page: u64): void {
  spaceRead(space + 1, pageEntry(), directoryStart + page * directoryBytes, directoryBytes);
}

/** Begins a page for the next entry: a free one, or one at the end of the space. */
function beginPage(space: u32): void {
  const top = fields();
  const free = load<u64>(top, 40);
  let place = load<u64>(top, 48);
  if (free != 0) {
    place = free - 1;
    spaceRead(space, top + 40, place << pageBits, 8);
  } else {
    growTo(space, place + 1 << pageBits);
    store<u64>(top, place + 1, 48);
  }
  const page = load<u64>(top, 24);
  const slot = pageEntry();
  store<u64>(slot, place);
  store<u64>(slot, nextNumber(), 8);
  memory.copy(slot + 16, top + 64, hashBytes);
  const offset = directoryStart + page * directoryBytes;
  growTo(space + 1, offset + directoryBytes);
  spaceWrite(space + 1, offset, slot, directoryBytes);
  store<u64>(top, page + 1, 24);
  store<u64>(top, 0, 32);
}

/** Appends an entry and returns its number. `keys`: the key of the seal, and the salt key. */
export function journalAppend(
  space: u32, kind: u32, ms: u64, owner: u64,
  keys: usize, bucket: usize, bucketLength: usize, details: usize, detailsLength: usize,
  subject: usize, subjectLength: usize, hashes: usize, hashesLength: usize,
): u64 {
  const content = detailsLength + subjectLength;
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
  store<u16>(entry, <u16>kind, 2);
  store<u32>(entry, distance > u32.MAX_VALUE ? 0 : <u32>distance, 4);
  store<u64>(entry, ms, 8);
  memory.copy(entry + entryHeadBytes, details, detailsLength);
  memory.copy(entry + entryHeadBytes + detailsLength, subject, subjectLength);
  commit(number, keys + hashBytes, entry, detailsLength, subjectLength);
  sealEntry(number, keys, entry, content, bucket, bucketLength);
  const used = load<u64>(top, 32);
  spaceWrite(space, (load<u64>(pageEntry()) << pageBits) + used, <u64>entry, length);
  store<u64>(top, used + length, 32);
  hashBlock(number, entry, hashes);
  store<u64>(top, number + 1, 8);
  save(space);
  memory.fill(heapBase() + journalSecretsAt, 0, journalSecretsBytes);
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
  growTo(space + 1, superblockBytes);
  growTo(space + 2, owner + 1 << 4);
  store<u64>(fields(), owner + 1, 56);
  save(space);
  return owner;
}

/** Writes the commitment to the entry's unsealed content, which is at its place. */
function commit(
  number: u64, key: usize, entry: usize, detailsLength: usize, subjectLength: usize,
): void {
  const secrets = heapBase() + journalSecretsAt;
  const input = secrets + saltInputOffset;
  memory.copy(input, key, hashBytes);
  store<u64>(input, number, hashBytes);
  sha256(input, hashBytes + 8, secrets + saltsOffset);
  const message = entry + 8192;
  const detailsEnd = message + 16 + detailsLength;
  memory.copy(detailsEnd, secrets + saltsOffset + 16, 16);
  memory.copy(detailsEnd + 16, entry + entryHeadBytes + detailsLength, subjectLength);
  sha256(detailsEnd, 16 + subjectLength, secrets + subjectHashOffset);
  memory.copy(message, secrets + saltsOffset, 16);
  memory.copy(message + 16, entry + entryHeadBytes, detailsLength);
  memory.copy(detailsEnd, secrets + subjectHashOffset, hashBytes);
  sha256(message, 16 + detailsLength + hashBytes, entry + 14);
  memory.fill(message, 0, 16 + detailsLength + max(hashBytes, 16 + subjectLength));
}

/** The nonce has the time too, because a restored snapshot gives a number again. */
function sealEntry(
  number: u64, key: usize, entry: usize, content: usize, bucket: usize, bucketLength: usize,
): void {
  const nonce = heapBase() + journalSecretsAt + nonceOffset;
  store<u64>(nonce, load<u64>(entry, 8) & 0xffff_ffff_ffff);
  store<u32>(nonce, <u32>number, 8);
  const data = entry + entryHeadBytes;
  seal(key, nonce, bucket, bucketLength, data, content, data + content);
}

/** Replaces the hash of the last block by that of the entry's block. */
function hashBlock(number: u64, entry: usize, hashes: usize): void {
  const block = heapBase() + journalBlockAt;
  const tip = fields() + 64;
  const kind = <usize>load<u8>(entry, 2);
  for (let slot: usize = 0; slot < blockBytes; slot += 64) {
    memory.copy(block + slot, hashes + (slot >> 1), hashBytes);
  }
  memory.copy(block + hashBytes, hashes + namesBytes + kind * hashBytes, hashBytes);
  sha256(tip, hashBytes, block + previousSlot + hashBytes);
  sha256(entry + 14, hashBytes, block + entrySlot + hashBytes);
  const length = writeLeb128(tip, (load<u64>(entry, 8) & 0xffff_ffff_ffff) * nsPerMs);
  sha256(tip, length, block + timeSlot + hashBytes);
  let bytes = blockBytes;
  if (number == 1) {
    memory.copy(block + previousSlot, block + entrySlot, 64);
    bytes -= 64;
  }
  sha256(block, bytes, tip);
}

export function writeLeb128(target: usize, value: u64): usize {
  let end = target;
  while (value >= 128) {
    store<u8>(end++, <u8>value | 128);
    value >>= 7;
  }
  store<u8>(end++, <u8>value);
  return end - target;
}

/** Returns the page that contains an existing entry, and reads the directory's entry of it. */
function pageOf(space: u32, number: u64): u64 {
  let low = load<u64>(fields(), 16);
  let high = load<u64>(fields(), 24) - 1;
  while (low < high) {
    const middle = low + high + 1 >> 1;
    readPageEntry(space, middle);
    if (load<u64>(pageEntry(), 8) <= number) low = middle;
    else high = middle - 1;
  }
  readPageEntry(space, low);
  return low;
}

/** Returns the bytes of entries in a page. */
function usedBytes(page: u64): u64 {
  return page + 1 == load<u64>(fields(), 24) ? load<u64>(fields(), 32) : pageBytes;
}

/**
 * Copies entries from that number on, at most `limit` and as many as fit; returns their number.
 * `hashesBefore` receives the hash of the block before each of them, if `hashes` is not empty.
 */
export function journalRead(
  space: u32, number: u64, limit: u32, hashes: usize, hashesLength: usize,
  hashesBefore: usize, out: usize, room: usize,
): u32 {
  openJournal(space);
  if (number < firstNumber(space) || number >= nextNumber()) return 0;
  ensureSegmentPages();
  let page = pageOf(space, number);
  let count: u32 = 0;
  let current = load<u64>(pageEntry(), 8);
  memory.copy(fields() + 64, pageEntry() + 16, hashBytes);
  while (true) {
    const bytes = segmentBase();
    spaceRead(space, <u64>bytes, load<u64>(pageEntry()) << pageBits, pageBytes);
    const end = bytes + <usize>usedBytes(page);
    let entry = bytes;
    while (entry + entryHeadBytes <= end && load<u16>(entry) != 0) {
      const length = <usize>load<u16>(entry);
      if (current >= number) {
        if (count == limit || length > room) return count;
        memory.copy(out, entry, length);
        out += length;
        room -= length;
        if (hashesLength != 0) copyHash(hashesBefore + <usize>count * hashBytes, fields() + 64);
        count++;
      }
      if (hashesLength != 0) hashBlock(current, entry, hashes);
      entry += length;
      current++;
    }
    page++;
    if (page >= load<u64>(fields(), 24)) return count;
    readPageEntry(space, page);
  }
}

/** Returns the number of the first stored entry; the next one without entries. */
export function firstNumber(space: u32): u64 {
  openJournal(space);
  const first = load<u64>(fields(), 16);
  if (first == load<u64>(fields(), 24)) return nextNumber();
  readPageEntry(space, first);
  return load<u64>(pageEntry(), 8);
}

/** Copies the next number (u64) and the hash of the last block. */
export function journalTip(space: u32, out: usize): void {
  openJournal(space);
  store<u64>(out, nextNumber());
  memory.copy(out + 8, fields() + 64, hashBytes);
}

/** Frees the first page if the page after it begins before that time; false if it does not. */
export function journalCut(space: u32, beforeMs: u64): bool {
  openJournal(space);
  const top = fields();
  const first = load<u64>(top, 16);
  if (first + 1 >= load<u64>(top, 24)) return false;
  readPageEntry(space, first + 1);
  const head = heapBase() + journalBlockAt;
  spaceRead(space, <u64>head, load<u64>(pageEntry()) << pageBits, 16);
  if ((load<u64>(head, 8) & 0xffff_ffff_ffff) >= beforeMs) return false;
  readPageEntry(space, first);
  const place = load<u64>(pageEntry());
  for (let offset: u64 = 0; offset < pageBytes; offset += zerosBytes) {
    spaceWrite(space, (place << pageBits) + offset, heapBase() + zerosAt, zerosBytes);
  }
  spaceWrite(space, place << pageBits, <u64>(top + 40), 8);
  store<u64>(top, place + 1, 40);
  store<u64>(top, first + 1, 16);
  save(space);
  return true;
}
