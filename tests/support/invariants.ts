// Compares the stored counts with the primary records, and finds bytes with no owner or with two.

import { expect } from 'vitest';
import { findBucket } from '../../src/domain/buckets/buckets.ts';
import { findChunk } from '../../src/domain/contents/chunk-records.ts';
import { digestTables } from '../../src/domain/contents/digest-tables.ts';
import { keptContents } from '../../src/domain/contents/kept-contents.ts';
import { sharesOf } from '../../src/domain/contents/shared-contents.ts';
import { type FileRecord, findFile } from '../../src/domain/files/file-records.ts';
import { versionNames } from '../../src/domain/files/version-entries.ts';
import { countedOverhead, findVersion } from '../../src/domain/files/version-records.ts';
import { rootKeyEntries } from '../../src/domain/keys/root-keys.ts';
import { sizesBelow } from '../../src/domain/listing/file-sizes.ts';
import { openUploadsOf } from '../../src/domain/uploads/open-uploads.ts';
import {
  expiresAtNs,
  getSession,
  type UploadSession,
} from '../../src/domain/uploads/upload-session.ts';
import { reservedBytes } from '../../src/domain/uploads/uploads.ts';
import { spaceIds } from '../../src/storage/memory.ts';
import { checkDirectory, type SharedContent } from './directory-invariants.ts';
import { keySlotsOf } from './encryption-reference.ts';
import { expectSame } from './expect-same.ts';
import { checkIndexStructure } from './index-structure.ts';
import { checkLinks, linkBytesIn } from './link-invariants.ts';
import type { MemoryStores } from './memory-stores.ts';

const tagBytes = 16;

/**
 * Returns the size of the slot for `length` bytes: 16 bytes for a tag, and a multiple of 64. Above
 * 1,024 it is a multiple of a larger power of two, so that a size is at most an eighth above the
 * previous one.
 */
function slotBytes(length: number): number {
  let step = 64;
  while (16 * step + tagBytes < length) step *= 2;
  return step * Math.ceil(Math.max(1, length - tagBytes) / step) + tagBytes;
}

function text(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('utf8');
}

export function allFiles(stores: MemoryStores): FileRecord[] {
  // Records of other kinds begin with a byte that no bucket's id has
  const present = stores.files.entries().filter(([key]) => (key[0] ?? 0) > 0x1f);
  return present.map(([key]) => {
    const [bucketId = '', path = ''] = text(key).split('\0');
    return findFile(stores, bucketId, path) ?? expect.fail(`no file at ${bucketId}/${path}`);
  });
}

/** Returns all stored former versions. */
export function allVersions(stores: MemoryStores): FileRecord[] {
  const former = stores.files.entries().filter(([key]) => key[0] === 0);
  return former.map(([key]) => {
    const [, bucketId = '', path = '', version = ''] = text(key).split('\0');
    const found = findVersion(stores, { bucketId, path, version: Number(version) });
    return found?.file ?? expect.fail(`no version ${version} of ${bucketId}/${path}`);
  });
}

export function allSessions(stores: MemoryStores): UploadSession[] {
  return stores.uploads
    .entries()
    .map(([key]) => getSession(stores, Buffer.from(key).toString('hex')));
}

export function checkInvariants(stores: MemoryStores): void {
  const files = allFiles(stores);
  const sessions = allSessions(stores);
  checkBuckets(stores, files, sessions);
  checkVersions(stores);
  checkLinks(stores, files);
  checkIndex(stores, files);
  checkSizes(stores, files);
  checkNotes(stores, sessions);
  const expected = new Set<string>();
  const contents = new Map<number, SharedContent>();
  /** Returns true the first time that a content is seen. */
  const isFirst = ({ contentId, chunkCount }: { contentId: number; chunkCount: number }) => {
    const records = (contents.get(contentId)?.records ?? 0) + 1;
    contents.set(contentId, { chunkCount, records });
    return records === 1;
  };
  const versions = allVersions(stores);
  const thumbnails = new Map<string, number>();
  for (const file of [...files, ...versions]) {
    if (isFirst(file)) addFileChunks(stores, file, expected);
    addThumbnail(stores, file, { expected, thumbnails });
  }
  for (const kept of keptContents(stores)) {
    const { contentId, chunkCount } = kept;
    if (!isFirst(kept)) continue;
    for (let index = 0; index < chunkCount; index++) claim(expected, chunkKey(contentId, index));
  }
  for (const [contentId, { records }] of contents) {
    expectSame(sharesOf(stores, contentId), records, `records that have content ${contentId}`);
  }
  checkDirectory(stores, { contents, thumbnails, versions, sessions });
  for (const session of sessions) {
    if (session.status === 'active') addSessionChunks(stores, session, expected);
  }
  const leftovers = addDiscarded(stores, expected);
  const there = stores.chunks.entries().map(([key]) => Buffer.from(key).toString('hex'));
  expect(there.filter((key) => !leftovers.has(key))).toEqual([...expected].sort());
  checkBlobs(stores, sessions);
  checkKeySlots(stores, { files, sessions });
}

/**
 * Each file, open upload, bucket and stored root key must have exactly one key slot, which names
 * it; a bucket whose key is being rotated has a second one for its former key. Free slots must
 * contain only the number of the next free slot.
 */
export function checkKeySlots(
  stores: MemoryStores,
  owners: {
    readonly files: readonly FileRecord[];
    readonly sessions: readonly UploadSession[];
  } = { files: allFiles(stores), sessions: allSessions(stores) },
): void {
  const active = owners.sessions.filter(({ status }) => status === 'active');
  const contents = [...owners.files, ...allVersions(stores), ...active];
  const expected: { slot: number; owner: number; wrappers: number[] | undefined }[] = [];
  for (const { keySlot, contentId } of keptContents(stores)) {
    // Any wrapper is right, since the bucket may be deleted.
    expected.push({ slot: keySlot, owner: contentId, wrappers: undefined });
  }
  for (const { keySlot, contentId, bucketId } of contents) {
    const { keyId, formerKeyId } = findBucket(stores, bucketId) ?? expect.fail('no such bucket');
    const wrappers = [keyId, formerKeyId].filter((id) => id !== 0);
    expected.push({ slot: keySlot, owner: contentId, wrappers });
  }
  const roots = rootKeyEntries(stores);
  const wrappers = roots.filter(({ check }) => check.length > 0).map(({ version }) => -version);
  for (const [name] of stores.buckets.entries()) {
    const bucket = findBucket(stores, text(name)) ?? expect.fail('no such bucket');
    expected.push({ slot: bucket.keySlot, owner: bucket.keyId, wrappers });
    if (bucket.formerKeyId !== 0) {
      expected.push({ slot: bucket.formerKeySlot, owner: bucket.formerKeyId, wrappers });
    }
  }
  const { used, free } = keySlotsOf(stores.system.stable);
  const ofRoots = new Set(roots.map(({ slot }) => slot).filter((slot) => slot !== 0));
  const wrapped = used.filter(({ slot }) => !ofRoots.has(slot));
  const numbers = expected.map(({ slot, owner }) => `${slot} of ${owner}`);
  expect(wrapped.map(({ slot, ownerId }) => `${slot} of ${ownerId}`).sort()).toEqual(
    numbers.sort(),
  );
  for (const { slot, wrappers } of expected) {
    const wrapperId = wrapped.find((found) => found.slot === slot)?.wrapperId;
    const isKnown = wrapperId !== undefined && (wrappers?.includes(wrapperId) ?? true);
    expectSame(isKnown, true, `slot ${slot} is wrapped by ${wrapperId}, not by ${wrappers}`);
  }
  expect(stores.keySlots.inUse()).toBe(expected.length + ofRoots.size);
  const [behind, ...erased] = free;
  const zeros = erased.map((bytes) => bytes.slice().fill(0, 8, 16));
  expect(Buffer.concat([behind ?? new Uint8Array(0), ...zeros]).some((byte) => byte !== 0)).toBe(
    false,
  );
}

function checkBuckets(
  stores: MemoryStores,
  files: readonly FileRecord[],
  sessions: readonly UploadSession[],
): void {
  for (const [key] of stores.buckets.entries()) {
    const bucket = findBucket(stores, text(key)) ?? expect.fail('no such bucket');
    const own = files.filter(({ bucketId }) => bucketId === bucket.id);
    expect(bucket.fileCount).toBe(own.length);
    expect(bucket.byteCount).toBe(own.reduce((sum, { size }) => sum + size, 0));
    const open = sessions.filter(
      ({ bucketId, status }) => bucketId === bucket.id && status === 'active',
    );
    expect(bucket.openUploadCount).toBe(open.length);
    const reserved = open.reduce((sum, session) => sum + reservedBytes(session), 0);
    expect(bucket.openUploadByteCount).toBe(reserved);
    const noted = openUploadsOf(stores, bucket.id);
    const expected = open.filter(({ isNoted }) => isNoted);
    expect(noted.map(({ uploadId }) => uploadId).sort()).toEqual(
      expected.map(({ uploadId }) => uploadId).sort(),
    );
    const overhead = own.reduce((sum, file) => sum + countedOverhead(file), 0);
    expect(bucket.overheadBytes).toBe(overhead + linkBytesIn(stores, bucket.id));
  }
}

/** Each former version must be listed, and its bucket must count it. */
function checkVersions(stores: MemoryStores): void {
  const versions = allVersions(stores);
  for (const [key] of stores.buckets.entries()) {
    const { id, versionCount, versionBytes } = findBucket(stores, text(key)) ?? expect.fail();
    const own = versions.filter(({ bucketId }) => bucketId === id);
    expect(versionCount).toBe(own.length);
    expect(versionBytes).toBe(
      own.reduce((sum, file) => sum + file.size + countedOverhead(file), 0),
    );
    const named = versionNames(stores, { bucketId: id, prefix: '' }, 10_000);
    const names = named.map(({ path, version }) => `${path} ${version}`);
    expect(names.sort()).toEqual(own.map(({ path, version }) => `${path} ${version}`).sort());
  }
}

/**
 * Each file must have its entries by name and by date, once in the scope of all files and once in
 * the scope of each of its tags.
 */
function checkIndex(stores: MemoryStores, files: readonly FileRecord[]): void {
  const { keys } = checkIndexStructure(spaceIds.index);
  const isCounter = (key: Buffer) => !key.includes(0) && [1, 2].includes(key.at(-1) ?? 0);
  const found = keys.filter((key) => !isCounter(key)).map((key) => key.toString('latin1'));
  const dates = new Map<string, bigint>();
  const expected = files.flatMap(({ bucketId, path, tags, updatedAtNs }) =>
    ['', ...tags].flatMap((tag) => {
      const scope = `${bucketId}\0${tag}\0`;
      const sequence = Number(stores.index.find(Buffer.from(`${scope}\0${path}`)) ?? -1n);
      const date = dates.get(`${bucketId} ${sequence}`);
      expectSame(date ?? updatedAtNs, updatedAtNs, 'files with one number have one date');
      dates.set(`${bucketId} ${sequence}`, updatedAtNs);
      return indexKeys({ scope, path, sequence });
    }),
  );
  expect(found).toEqual(expected.sort());
}

/** The record of a file has its size as weight, and other records have none. */
function checkSizes(stores: MemoryStores, files: readonly FileRecord[]): void {
  const { keys, values } = checkIndexStructure(spaceIds.records, true);
  const entries = keys.map((key, index) => ({ key: key.toString('utf8'), size: values[index] }));
  const weighed = entries.filter(({ key, size }) => key > '\x02\xff' || size !== 0n);
  const found = weighed.map(({ key, size }) => `${key} ${size}`);
  expect(found).toEqual(files.map(({ bucketId, path, size }) => `${bucketId}\0${path} ${size}`));
  for (const [name] of stores.buckets.entries()) {
    const { id, fileCount, byteCount } = findBucket(stores, text(name)) ?? expect.fail('no bucket');
    expect(sizesBelow(stores, id, '')).toEqual({ files: fileCount, bytes: byteCount });
  }
}

function indexKeys(entry: { scope: string; path: string; sequence: number }): string[] {
  const [scope, path] = [entry.scope, entry.path].map((part) => {
    return Buffer.from(part).toString('latin1');
  });
  const keys = [`${scope}\0${path}`];
  for (let level = 0, number = entry.sequence; level === 0 || number > 0; level++, number >>>= 4) {
    const block = Buffer.from([level + 1, 0, 0, 0, 0]);
    block.writeUInt32BE(number, 1);
    keys.push(`${scope}${block.toString('latin1')}${path}`);
  }
  return keys;
}

/** Each session must have a noted expiry, which is not later than the real one. */
function checkNotes(stores: MemoryStores, sessions: readonly UploadSession[]): void {
  const notes = new Map<string, bigint>();
  for (const [key] of stores.uploadExpirations.entries()) {
    const uploadId = Buffer.from(key.subarray(8)).toString('hex');
    const atNs = Buffer.from(key).readBigUInt64BE(0);
    const known = notes.get(uploadId);
    // A session that must end at once has two notes.
    notes.set(uploadId, known !== undefined && known < atNs ? known : atNs);
  }
  for (const session of sessions) {
    const noted = notes.get(session.uploadId) ?? expect.fail('a session without a noted expiry');
    expectSame(noted <= expiresAtNs(session), true);
  }
}

function chunkKey(contentId: number, index: number): string {
  const key = Buffer.alloc(16);
  key.writeBigUInt64BE(BigInt(contentId), 0);
  key.writeBigUInt64BE(BigInt(index), 8);
  return key.toString('hex');
}

function claim(expected: Set<string>, key: string): void {
  expectSame(expected.has(key), false, `chunk ${key} has two owners`);
  expected.add(key);
}

function addFileChunks(stores: MemoryStores, file: FileRecord, expected: Set<string>): void {
  let size = 0;
  for (let index = 0; index < file.chunkCount; index++) {
    claim(expected, chunkKey(file.contentId, index));
    const length = findChunk(stores, { contentId: file.contentId, index })?.length ?? -1;
    if (index < file.chunkCount - 1) expectSame(length, file.chunkSize);
    size += length;
  }
  expectSame(size, file.size);
}

/** Records that share a content may have different thumbnails, or none. */
function addThumbnail(
  stores: MemoryStores,
  { contentId, thumbnail }: FileRecord,
  found: { readonly expected: Set<string>; readonly thumbnails: Map<string, number> },
): void {
  if (thumbnail === undefined) return;
  const { index, size } = thumbnail;
  const name = `${contentId} ${index}`;
  const records = found.thumbnails.get(name) ?? 0;
  found.thumbnails.set(name, records + 1);
  if (records > 0) return;
  claim(found.expected, chunkKey(contentId, index));
  expectSame(findChunk(stores, { contentId, index })?.length, size, 'bytes of a thumbnail');
}

function addSessionChunks(
  stores: MemoryStores,
  session: UploadSession,
  expected: Set<string>,
): void {
  let uploadedSize = 0;
  let largest = 0;
  let count = 0;
  for (let index = 0; index < session.received.length * 8; index++) {
    const isReceived = ((session.received[index >> 3] ?? 0) & (1 << (index & 7))) !== 0;
    if (!isReceived) continue;
    claim(expected, chunkKey(session.contentId, index));
    const length = findChunk(stores, { contentId: session.contentId, index })?.length ?? -1;
    uploadedSize += length;
    largest = Math.max(largest, length);
    count += 1;
    expectSame(index < session.chunkIndexEnd, true, `index ${index}`);
  }
  const { uploadedSize: stored, receivedChunks, chunkSize } = session;
  expectSame(stored, uploadedSize, 'the bytes received');
  expectSame(receivedChunks, count, 'the chunks received');
  expectSame(chunkSize, largest, 'the largest chunk');
}

/** Returns the chunks that are still to be freed; they must have no owner. */
function addDiscarded(stores: MemoryStores, expected: ReadonlySet<string>): Set<string> {
  const leftovers = new Set<string>();
  for (const [key, record] of stores.reclaims.entries()) {
    const contentId = Number(Buffer.from(key).readBigUInt64BE(0));
    const next = Number(Buffer.from(record).readBigUInt64LE(1));
    const end = Number(Buffer.from(record).readBigUInt64LE(9));
    for (let index = next; index < end; index++) {
      const chunk = chunkKey(contentId, index);
      expectSame(expected.has(chunk), false, `chunk ${chunk} is discarded and owned`);
      leftovers.add(chunk);
    }
  }
  return leftovers;
}

function checkBlobs(stores: MemoryStores, sessions: readonly UploadSession[]): void {
  const slots = digestTables(stores).map(({ slot, bytes }) => {
    return { offset: slot, bytes: slotBytes(bytes) };
  });
  for (const { status, digestPages } of sessions) {
    for (const { at, bytes } of digestPages.filter(({ at }) => at !== 0)) {
      expect(status).toBe('active');
      slots.push({ offset: at, bytes: slotBytes(bytes) });
    }
  }
  for (const [key] of stores.chunks.entries()) {
    const [contentId, index] = [0, 8].map((at) => Number(Buffer.from(key).readBigUInt64BE(at)));
    const address = { contentId: contentId ?? 0, index: index ?? 0 };
    const chunk = findChunk(stores, address) ?? expect.fail('no such chunk');
    expectSame(chunk.slots.length, Math.ceil(chunk.length / 65_536));
    chunk.slots.forEach((offset, segment) => {
      const length = Math.min(65_536, chunk.length - segment * 65_536);
      slots.push({ offset, bytes: slotBytes(length + tagBytes) });
    });
  }
  expect(stores.blobs.bytesInUse()).toBe(slots.reduce((sum, { bytes }) => sum + bytes, 0));
  slots.sort((left, right) => left.offset - right.offset);
  let end = 4_096;
  for (const { offset, bytes } of slots) {
    expectSame(offset >= end, true, `slot at ${offset}, the last one ends at ${end}`);
    end = offset + bytes;
  }
}
