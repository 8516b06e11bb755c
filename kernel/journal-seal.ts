// The seal of the journal's entries, and what blocks commit to. The layout of entries is in
// journal-pages.ts.

import { open, seal } from './aead';
import { heapBase, journalSecretsAt, journalSecretsBytes } from './heap';
import { millisecondsOf } from './journal-pages';
import { copyHash } from './label-nodes';
import { sha256 } from './sha256';

export const entryHeadBytes: usize = 46;
export const tagBytes: usize = 16;
export const saltBytes: usize = 16;
const hashBytes: usize = 32;
const paddingMask: u8 = 127;
const redactedFlag: u8 = 128;
const digestFlag: u8 = 32;

/** Byte offsets inside the secrets. */
const saltsOffset: usize = 0;
const saltInputOffset: usize = 32;
const subjectHashOffset: usize = 80;
const nonceOffset: usize = 112;

export function isRedacted(entry: usize): bool {
  return (load<u8>(entry, 3) & redactedFlag) != 0;
}

/** Returns the number of bytes of an entry's details, subject and padding. */
export function contentBytes(entry: usize): usize {
  return <usize>load<u16>(entry) - entryHeadBytes - tagBytes;
}

export function paddingBytes(entry: usize): usize {
  return <usize>(load<u8>(entry, 3) & paddingMask);
}

/** Returns the number of bytes of the actor's id, which begins at byte 1 of the details. */
export function actorIdBytes(details: usize): usize {
  return <usize>(load<u8>(details) & 31);
}

/** Returns the number of bytes of the digest, the end of the details. */
export function digestBytes(details: usize): usize {
  return (load<u8>(details) & digestFlag) == 0 ? 0 : hashBytes;
}

/** Returns the kind of the actor. */
export function actorKind(details: usize): u8 {
  return load<u8>(details) >> 6;
}

/** Returns the number of bytes of the details of an opened entry. */
export function detailsBytes(entry: usize): usize {
  const details = entry + entryHeadBytes;
  let end = details + 1 + actorIdBytes(details);
  while (load<u8>(end) >= 128) end++;
  return end + 1 + digestBytes(details) - details;
}

export function wipeJournalSecrets(): void {
  memory.fill(heapBase() + journalSecretsAt, 0, journalSecretsBytes);
}

/** Returns the address of the salts of an entry's commitment: of its details, of its subject. */
export function computeSalts(number: u64, saltKey: usize): usize {
  const secrets = heapBase() + journalSecretsAt;
  const input = secrets + saltInputOffset;
  copyHash(input, saltKey);
  store<u64>(input, number, hashBytes);
  sha256(input, hashBytes + 8, secrets + saltsOffset);
  return secrets + saltsOffset;
}

/** Writes the commitment to the entry's content, which is not sealed. */
export function commit(
  number: u64, saltKey: usize, entry: usize, detailsLength: usize, subjectLength: usize,
): void {
  const message = entry + 8192;
  const details = entry + entryHeadBytes;
  const salts = computeSalts(number, saltKey);
  memory.copy(message, salts, saltBytes);
  memory.copy(message + saltBytes, details, detailsLength);
  const detailsEnd = message + saltBytes + detailsLength;
  hashSubject(details + detailsLength, subjectLength, detailsEnd);
  sha256(message, saltBytes + detailsLength + hashBytes, entry + 14);
  memory.fill(message, 0, saltBytes + detailsLength + hashBytes);
}

/** Hashes the computed salt and a subject; the bytes behind `hash` are wiped. */
function hashSubject(subject: usize, length: usize, hash: usize): void {
  const salts = heapBase() + journalSecretsAt + saltsOffset;
  memory.copy(hash, salts + saltBytes, saltBytes);
  memory.copy(hash + saltBytes, subject, length);
  sha256(hash, saltBytes + length, heapBase() + journalSecretsAt + subjectHashOffset);
  memory.fill(hash, 0, max(saltBytes + length, hashBytes));
  copyHash(hash, heapBase() + journalSecretsAt + subjectHashOffset);
}

/**
 * Returns the nonce of an entry. It has the time too, because a restored snapshot gives a number
 * again, and differs for a redacted entry, whose content is another.
 */
function nonceOf(number: u64, entry: usize): usize {
  const nonce = heapBase() + journalSecretsAt + nonceOffset;
  store<u64>(nonce, millisecondsOf(entry) | u64(isRedacted(entry)) << 63);
  store<u32>(nonce, <u32>number, 8);
  return nonce;
}

export function sealEntry(
  number: u64, key: usize, entry: usize, owner: usize, ownerLength: usize,
): void {
  const content = entry + entryHeadBytes;
  const length = contentBytes(entry);
  seal(key, nonceOf(number, entry), owner, ownerLength, content, length, content + length);
}

/** Decrypts an entry in place; false if key, owner or bytes are not the ones of its seal. */
export function openEntry(
  number: u64, key: usize, entry: usize, owner: usize, ownerLength: usize,
): bool {
  if (<usize>load<u16>(entry) < entryHeadBytes + tagBytes) return false;
  const content = entry + entryHeadBytes;
  const length = contentBytes(entry);
  return open(key, nonceOf(number, entry), owner, ownerLength, content, length, content + length);
}

/** Replaces the subject of an opened entry by its hash, and seals the entry again. */
export function redactEntry(
  number: u64, keys: usize, entry: usize, owner: usize, ownerLength: usize,
): void {
  computeSalts(number, keys + hashBytes);
  const subject = entry + entryHeadBytes + detailsBytes(entry);
  const room = entry + entryHeadBytes + contentBytes(entry) - subject;
  const padding = paddingBytes(entry);
  const work = entry + 8192;
  hashSubject(subject, room - padding, work);
  memory.fill(subject, 0, room);
  copyHash(subject, work);
  memory.fill(work, 0, hashBytes);
  store<u8>(entry, load<u8>(entry, 3) | redactedFlag, 3);
  sealEntry(number, keys, entry, owner, ownerLength);
}
