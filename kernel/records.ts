// Records in stable memory by their keys: an index with sums, whose references are the offsets of
// slots (record-slots.ts). A look-up costs little more among a million records than among a
// thousand. The space of the slots follows that of the index.

import { heapBase, indexKeyAt } from './heap';
import { indexFind, indexPlace, putAt, removeAt } from './ordered-index';
import { keyBytesMax } from './ordered-index-pages';
import { lastReference, wasFound } from './ordered-index-search';
import {
  freeSlot, readRecord, recordBytesInUse, recordLength, sizeOfRecord, takeSlot, writeRecord,
} from './record-slots';

const sumsFlag: u32 = 0x100;
/** The length of a record that does not exist. */
const absent: u32 = 0xffffffff;

/** Returns the record's length; copies it unless it is longer than `room`. */
export function recordGet(space: u32, key: usize, length: usize, out: usize, room: usize): u32 {
  if (!indexFind(space | sumsFlag, key, length)) return absent;
  return copyRecord(space + 1, lastReference(), out, room);
}

function copyRecord(slots: u32, offset: u64, out: usize, room: usize): u32 {
  const length = recordLength(slots, offset);
  if (length <= room) readRecord(slots, offset, out, length);
  return <u32>length;
}

/**
 * Stores a record with a weight, which the index sums. Copies the replaced one and returns its
 * length. If that is longer than `room`, changes nothing.
 */
export function recordSet(
  space: u32, key: usize, length: usize, value: usize, valueLength: usize, weight: u64,
  out: usize, room: usize,
): u32 {
  const slots = space + 1;
  const place = indexPlace(space | sumsFlag, key, length);
  let former = absent;
  let offset: u64 = 0;
  if (wasFound()) {
    offset = lastReference();
    former = copyRecord(slots, offset, out, room);
    if (<usize>former > room) return former;
    if (sizeOfRecord(former) != sizeOfRecord(valueLength)) {
      freeSlot(slots, offset, former);
      offset = takeSlot(slots, valueLength);
    }
  } else offset = takeSlot(slots, valueLength);
  writeRecord(slots, offset, value, valueLength);
  putAt(place, key, length, weight, offset);
  return former;
}

/** Removes a record; otherwise like recordSet(). */
export function recordRemove(space: u32, key: usize, length: usize, out: usize, room: usize): u32 {
  const slots = space + 1;
  const place = indexPlace(space | sumsFlag, key, length);
  if (!wasFound()) return absent;
  const offset = lastReference();
  const former = copyRecord(slots, offset, out, room);
  if (<usize>former > room) return former;
  removeAt(place);
  freeSlot(slots, offset, former);
  return former;
}

/** Layout of a file's record and its versions, see src/domain/files/file-layout.ts. */
const firstFileVersion: u32 = 6;
const lastFileVersion: u32 = 9;
const digestLengthAt: usize = 1;
const jsonLengthAt: usize = 4;
const jsonStart: usize = 112;
const comma: u8 = 0x2c;
const openBrace: u8 = 0x7b;
const closeBrace: u8 = 0x7d;

/** Keeps only the JSON of a file's record; returns its length, 0 if it has another layout. */
function keepJson(record: usize, length: usize): usize {
  const version: u32 = length < jsonStart ? 0 : load<u8>(record);
  if (version < firstFileVersion || version > lastFileVersion) return 0;
  const start = jsonStart + <usize>load<u8>(record, digestLengthAt);
  const bytes = <usize>load<u32>(record, jsonLengthAt);
  if (bytes < 2 || bytes >= length || start + bytes >= length) return 0;
  const json = record + start;
  if (load<u8>(json) != openBrace || load<u8>(json + bytes - 1) != closeBrace) return 0;
  memory.copy(record, json, bytes);
  return bytes;
}

/**
 * Writes the JSON of files' records, with commas between, like recordsRead(). Skips missing
 * records. Stops before a record that does not fit or has another layout, and after the one with
 * which `limit` bytes are reached. `end`: receives the length of the JSON, u64.
 */
export function recordsJson(
  space: u32, head: usize, headLength: usize, tails: usize, lengths: usize, count: usize,
  limit: u64, out: usize, room: usize, end: usize,
): u32 {
  const key = beginKeys(head, headLength);
  let tail = tails;
  let at: usize = 0;
  let i: usize = 0;
  for (; i < count && <u64>at < limit; i++) {
    const tailLength = <usize>load<u32>(lengths + (i << 2));
    setTail(key, headLength, tail, tailLength);
    if (indexFind(space | sumsFlag, key, headLength + tailLength)) {
      const start: usize = at == 0 ? at : at + 1;
      if (start > room) break;
      const length = copyRecord(space + 1, lastReference(), out + start, room - start);
      if (<usize>length > room - start) break;
      const kept = keepJson(out + start, length);
      if (kept == 0) break;
      if (start > 0) store<u8>(out + at, comma);
      at = start + kept;
    }
    tail += tailLength;
  }
  store<u64>(end, at);
  return <u32>i;
}

function beginKeys(head: usize, headLength: usize): usize {
  const key = heapBase() + indexKeyAt;
  if (headLength > keyBytesMax) unreachable();
  // An empty head or tail can have any address
  if (headLength > 0) memory.copy(key, head, headLength);
  return key;
}

function setTail(key: usize, headLength: usize, tail: usize, tailLength: usize): void {
  if (headLength + tailLength > keyBytesMax) unreachable();
  if (tailLength > 0) memory.copy(key + headLength, tail, tailLength);
}

/**
 * Copies the records of the keys that consist of the head and one of the `count` tails, which
 * follow each other. Writes where each record ends, u32. Returns how many tails it has processed:
 * fewer than `count` if `room` does not suffice. A missing record ends where it begins.
 */
export function recordsRead(
  space: u32, head: usize, headLength: usize, tails: usize, lengths: usize, count: usize,
  ends: usize, out: usize, room: usize,
): u32 {
  const key = beginKeys(head, headLength);
  let tail = tails;
  let end: usize = 0;
  for (let i: usize = 0; i < count; i++) {
    const tailLength = <usize>load<u32>(lengths + (i << 2));
    setTail(key, headLength, tail, tailLength);
    tail += tailLength;
    if (indexFind(space | sumsFlag, key, headLength + tailLength)) {
      const length = copyRecord(space + 1, lastReference(), out + end, room - end);
      if (<usize>length > room - end) return <u32>i;
      end += length;
    }
    store<u32>(ends + (i << 2), <u32>end);
  }
  return <u32>count;
}

export function recordsInUse(space: u32): u64 {
  return recordBytesInUse(space + 1);
}
