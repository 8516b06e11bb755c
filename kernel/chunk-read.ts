// Decrypts a part of a chunk. src/domain/contents/chunk-records.ts and segment-cipher.ts have the
// layouts of the record, the nonce and the associated data. JavaScript takes 0.6 M instructions
// more for a small chunk, and 70,000 for each further segment.

import { open } from './aead';
import { ensureSegmentPages, segmentBase } from './heap';
import { recordGet } from './records';
import { sha256 } from './sha256';
import { spaceRead, spaceSize } from './stable-space';

const segmentBytes: usize = 65_536;
const tagBytes: usize = 16;
const blobSpace: u32 = 1;
/** Offset of the end of the slots in the superblock of their space, f64. */
const slotsEndAt: u64 = 8;
const slotsStart: f64 = 4096;

/** Offsets in the second page for segments, after the tag. */
const recordAt: usize = segmentBytes + 0x100;
const recordRoom: usize = 0x1000;
const keyAt: usize = recordAt + recordRoom;
const keyBytes: usize = 17;
const nonceAt: usize = keyAt + 0x20;
const associatedAt: usize = nonceAt + 0x10;
const associatedBytes: usize = 56;
const checksumAt: usize = associatedAt + 0x40;
const superblockAt: usize = checksumAt + 0x20;

/** Offsets in the record. */
const version: u32 = 2;
const digestAt: usize = 2;
const lengthAt: usize = 34;
const counterAt: usize = 38;
const timeAt: usize = 42;
const sumAt: usize = 56;
const slotsAt: usize = 64;

const chunkKind: u32 = 2;

/** Reads the record of the chunk; returns its number of segments, 0 if it is not as written. */
function readChunkRecord(records: u32, contentId: u64, index: u32): usize {
  const base = segmentBase();
  const key = base + keyAt;
  store<u8>(key, chunkKind);
  store<u64>(key, bswap<u64>(contentId), 1);
  store<u64>(key, bswap<u64>(<u64>index), 9);
  const record = base + recordAt;
  const bytes = <usize>recordGet(records, key, keyBytes, record, recordRoom);
  // Also if it is absent
  if (bytes > recordRoom || bytes < slotsAt || load<u8>(record) != version) return 0;
  const sum = load<u64>(record, sumAt);
  store<u64>(record, 0, sumAt);
  sha256(record, bytes, base + checksumAt);
  if (load<u64>(base + checksumAt) != sum) return 0;
  const count = (<usize>load<u32>(record, lengthAt) + segmentBytes - 1) / segmentBytes;
  return count << 3 == bytes - slotsAt ? count : 0;
}

function writeContext(contentId: u64, index: u32, count: usize): void {
  const base = segmentBase();
  const record = base + recordAt;
  store<u64>(base + nonceAt, load<u64>(record, timeAt), 4);
  const associated = base + associatedAt;
  store<f64>(associated, <f64>contentId);
  store<u32>(associated, index, 8);
  store<u32>(associated, load<u32>(record, lengthAt), 16);
  memory.copy(associated + 24, record + digestAt, 32);
}

/** Decrypts a segment into the first page; returns false if it was altered. */
function openSegment(key: usize, segment: usize, count: usize, length: usize, end: f64): bool {
  const base = segmentBase();
  const record = base + recordAt;
  const slot = load<f64>(record + slotsAt + (segment << 3));
  const bytes = length + tagBytes;
  if (!(slot >= slotsStart && slot + <f64>bytes <= end && slot == Math.floor(slot))) return false;
  spaceRead(blobSpace, base, <u64>slot, bytes);
  store<u32>(base + nonceAt, load<u32>(record, counterAt) + <u32>segment);
  const associated = base + associatedAt;
  store<u32>(associated, <u32>segment, 12);
  store<u32>(associated, u32(segment + 1 == count), 20);
  return open(key, base + nonceAt, associated, associatedBytes, base, length, base + length);
}

/**
 * Writes `[start, start + room)` of the chunk. Returns false, for the caller to find out why, if
 * its record is absent, or if the record or a segment is not as it was written.
 */
export function chunkRead(
  records: u32, contentId: u64, index: u32, start: usize, key: usize, out: usize, room: usize,
): bool {
  ensureSegmentPages();
  const count = readChunkRecord(records, contentId, index);
  const base = segmentBase();
  const chunkBytes = <usize>load<u32>(base + recordAt, lengthAt);
  if (count == 0 || start + room > chunkBytes || spaceSize(blobSpace) == 0) return false;
  writeContext(contentId, index, count);
  spaceRead(blobSpace, base + superblockAt, slotsEndAt, 8);
  const end = load<f64>(base + superblockAt);
  let filled: usize = 0;
  while (filled < room) {
    const segment = (start + filled) / segmentBytes;
    const from = start + filled - segment * segmentBytes;
    const length = min(segmentBytes, chunkBytes - segment * segmentBytes);
    if (!openSegment(key, segment, count, length, end)) return false;
    const part = min(length - from, room - filled);
    memory.copy(out + filled, base + from, part);
    filled += part;
  }
  return true;
}
