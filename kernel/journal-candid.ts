// Entries and blocks of the journal in Candid (specification, "Binary format"). Fields of records
// and variants are in the order of the hashes of their names.

import { nanosecondsOf, writeLeb128 } from './journal-chain';
import {
  actorIdBytes, actorKind, computeSalts, contentBytes, detailsBytes, digestBytes, entryHeadBytes,
  isRedacted, paddingBytes, saltBytes,
} from './journal-seal';
import { copyHash } from './label-nodes';
import { hexDigit } from './hex';

const hashBytes: usize = 32;
/** The encoding of an entry has at most so many bytes besides its content; a block is shorter. */
export const encodedBytesMax: usize = 512;

/** Actors' kinds as entries have them; the variant's order is principal, apiKey, canister. */
const canisterActor: u8 = 0;
const principalActor: u8 = 1;

let out: usize = 0;

/** Writes at that address; returns the end of what was written. */
export function writeEntry(
  target: usize, number: u64, entry: usize, saltKey: usize, kinds: usize,
): usize {
  const details = entry + entryHeadBytes;
  const detailsLength = detailsBytes(entry);
  const subject = details + detailsLength;
  const isHidden = isRedacted(entry);
  const padding = paddingBytes(entry);
  const subjectLength = isHidden ? 0 : contentBytes(entry) - detailsLength - padding;
  out = target;
  writeSigned(nanosecondsOf(entry));
  const idLength = actorIdBytes(details);
  writeActor(actorKind(details), details + 1, idLength);
  writeNumber(number);
  writeBytes(subject, subjectLength);
  writeKind(kinds, load<u8>(entry, 2));
  const digest = writeVersion(details + 1 + idLength);
  writeDigest(digest, digestBytes(details));
  const salts = computeSalts(number, saltKey);
  writeBytes(salts, saltBytes);
  if (isHidden) {
    writeByte(1);
    writeBytes(subject, hashBytes);
    writeByte(0);
  } else {
    writeByte(0);
    writeByte(1);
    writeBytes(salts + saltBytes, saltBytes);
  }
  return out;
}

/** Writes record { id; block = variant { Map = vec record { text; value } } }. */
export function writeBlock(
  target: usize, number: u64, entry: usize, before: usize, types: usize,
): usize {
  out = target;
  writeNumber(number - 1);
  writeByte(0);
  writeByte(number == 1 ? 3 : 4);
  store<u64>(out, 0x65707974_6205); // 5, "btype"
  out += 6;
  writeByte(2);
  writeKind(types, load<u8>(entry, 2));
  store<u64>(out, 0x79_72746e65_05); // 5, "entry"
  out += 6;
  writeBlob(entry + 14);
  store<u32>(out, 0x737402); // 2, "ts"
  out += 3;
  writeByte(0);
  writeNumber(nanosecondsOf(entry));
  if (number == 1) return out;
  store<u64>(out, 0x68736168_7005); // 5, "phash"
  out += 6;
  writeBlob(before);
  return out;
}

function writeBlob(hash: usize): void {
  writeByte(1);
  writeByte(<u8>hashBytes);
  copyHash(out, hash);
  out += hashBytes;
}

function writeActor(kind: u8, id: usize, length: usize): void {
  if (kind == canisterActor) {
    writeByte(2);
    return;
  }
  if (kind == principalActor) {
    writeByte(0);
    writeByte(1);
  } else writeByte(1);
  writeBytes(id, length);
}

/** `names`: a text after its length, for each kind. */
function writeKind(names: usize, kind: u8): void {
  let name = names;
  for (let i: u8 = 0; i < kind; i++) name += <usize>load<u8>(name) + 1;
  writeBytes(name + 1, load<u8>(name));
}

/** Writes an optional number in LEB128, 0 for none; returns its end in the details. */
function writeVersion(version: usize): usize {
  let end = version;
  while (load<u8>(end) >= 128) end++;
  end++;
  const isNone = load<u8>(version) == 0;
  writeByte(u8(!isNone));
  if (!isNone) copyBytes(version, end - version);
  return end;
}

function writeDigest(digest: usize, length: usize): void {
  writeByte(u8(length != 0));
  if (length == 0) return;
  writeNumber(length << 1);
  for (let i: usize = 0; i < length; i++) {
    const byte = load<u8>(digest + i);
    writeByte(hexDigit(byte >> 4));
    writeByte(hexDigit(byte & 15));
  }
}

function writeBytes(bytes: usize, length: usize): void {
  writeNumber(length);
  copyBytes(bytes, length);
}

function copyBytes(bytes: usize, length: usize): void {
  memory.copy(out, bytes, length);
  out += length;
}

function writeNumber(value: u64): void {
  out += writeLeb128(out, value);
}

/** Writes SLEB128 of a number that is not negative. */
function writeSigned(value: u64): void {
  while (value >= 64) {
    writeByte(<u8>value | 128);
    value >>= 7;
  }
  writeByte(<u8>value);
}

function writeByte(byte: u8): void {
  store<u8>(out, byte);
  out++;
}
