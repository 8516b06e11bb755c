// The header fields of a request by name, for look-ups of single fields.

import { requestBase, requestFieldsAt } from './heap';
import { lower, writeByte, writeName, writeText } from './json-writer';

/** name u32 | its length u32 | value u32 | its length u32 | hash of the name u32 */
const fieldBytes: usize = 20;

export function noteName(i: u32, text: usize, length: usize): void {
  store<usize>(fieldOf(i), text);
  store<usize>(fieldOf(i), length, 4);
}

export function noteValue(i: u32, text: usize, length: usize): void {
  store<usize>(fieldOf(i), text, 8);
  store<usize>(fieldOf(i), length, 12);
}

function fieldOf(i: u32): usize {
  return requestBase() + requestFieldsAt + <usize>i * fieldBytes;
}

/** Whether a noted field is ASCII, has no space around its value, and is the first of its name. */
export function isPlainField(i: u32): bool {
  const field = fieldOf(i);
  const value = load<usize>(field, 8), length = load<usize>(field, 12);
  if (!isAscii(load<usize>(field), load<usize>(field, 4)) || !isAscii(value, length)) return false;
  if (length > 0 && (isSpace(load<u8>(value)) || isSpace(load<u8>(value + length - 1)))) {
    return false;
  }
  const hash = nameHash(load<usize>(field), load<usize>(field, 4));
  store<u32>(field, hash, 16);
  // Two names with the same hash count as one
  for (let other: u32 = 0; other < i; other++) {
    if (load<u32>(fieldOf(other), 16) == hash) return false;
  }
  return true;
}

function isAscii(p: usize, length: usize): bool {
  let bits: u8 = 0;
  for (let i: usize = 0; i < length; i++) bits |= load<u8>(p + i);
  return bits < 0x80;
}

/** Whitespace of ASCII, as in JavaScript's trim(). */
function isSpace(byte: u8): bool {
  return byte == 0x20 || (byte >= 0x09 && byte <= 0x0d);
}

/** Returns the FNV-1a hash of the lower-case name. */
function nameHash(p: usize, length: usize): u32 {
  let hash: u32 = 0x811c9dc5;
  for (let i: usize = 0; i < length; i++) hash = (hash ^ <u32>lower(load<u8>(p + i))) * 0x01000193;
  return hash;
}

/** Writes all noted fields as a member of the request's object. */
export function writeFields(count: u32): void {
  writeName(0x73646c656966, 6); // fields
  writeByte(0x7b);
  for (let i: u32 = 0; i < count; i++) {
    const field = fieldOf(i);
    if (i > 0) writeByte(0x2c);
    writeText(load<usize>(field), load<usize>(field, 4), true);
    writeByte(0x3a); // :
    writeText(load<usize>(field, 8), load<usize>(field, 12), false);
  }
  writeByte(0x7d);
}
