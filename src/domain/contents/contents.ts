// The bytes of files. A content consists of chunks, and a chunk of segments; each segment has a
// slot of the blob store for its ciphertext and tag. Only this module and segment-cipher.ts handle
// both plaintext and ciphertext of files. This module knows neither paths nor
// sessions.

import { aeadKeyBytes, aeadTagBytes } from '../../crypto/aead.ts';
import { createCommand, kernelCall, kernelOperations, kernelWords } from '../../crypto/kernel.ts';
import { assert, present } from '../../lib/assert.ts';
import { reclaimedChunksPerMessage, segmentBytesMax } from '../../limits.ts';
import { RecordReader, RecordWriter, u64Key } from '../../storage/codec.ts';
import type { Stores } from '../shared/stores.ts';
import {
  type ChunkAddress,
  type ChunkNonce,
  chunkKey,
  damagedFile,
  encodeChunk,
  findChunk,
  readableChunk,
  segmentSizes,
} from './chunk-records.ts';
import { SegmentCipher } from './segment-cipher.ts';

const two32 = 0x1_0000_0000;

// One segment and its tag; between messages it contains ciphertext or the bytes last read.
const segmentBuffer = new Uint8Array(segmentBytesMax + aeadTagBytes);

/** Encrypts and stores the bytes as that chunk, replacing an existing one. */
export function writeChunk(
  stores: Stores,
  address: ChunkAddress,
  chunk: {
    readonly bytes: Uint8Array;
    readonly digest: Uint8Array;
    readonly nonce: ChunkNonce;
    readonly key: Uint8Array;
  },
): void {
  const { bytes, key, digest, nonce } = chunk;
  const { length } = bytes;
  assert(length > 0, 'a chunk has at least one byte');
  const slots = stores.blobs.allocate(segmentSizes(length));
  const cipher = new SegmentCipher(address, { length, digest, nonce }, key);
  stores.blobs.fill((space) => cipher.sealInto({ space, offsets: slots }, bytes));
  const record = encodeChunk({ length, digest, nonce, slots });
  freeSlots(stores, stores.records.set(chunkKey(address), record));
}

export function freeChunk(stores: Stores, address: ChunkAddress): void {
  freeSlots(stores, stores.records.delete(chunkKey(address)));
}

/** Frees the slots that a removed chunk record names. */
function freeSlots(stores: Stores, record: Uint8Array | undefined): void {
  const chunk = record && readableChunk(record);
  if (chunk !== undefined) {
    stores.blobs.free(chunk.slots, segmentSizes(chunk.length));
  }
}

export interface Content {
  readonly contentId: number;
  /** Length of every chunk except the last. */
  readonly chunkSize: number;
  readonly size: number;
}

/**
 * Returns the bytes of `[start, end)` and decrypts only the segments that contain them. Refuses
 * with IntegrityError, without returning a byte, if one of them was altered.
 */
export function readContent(
  stores: Stores,
  content: Content,
  part: { readonly start: number; readonly end: number; readonly key: Uint8Array },
): Uint8Array {
  const { start, end, key } = part;
  assert(start <= end && end <= content.size, 'the range lies inside the content');
  const target = new Uint8Array(end - start);
  for (let position = start; position < end; ) {
    const index = Math.floor(position / content.chunkSize);
    const chunkStart = index * content.chunkSize;
    const chunkEnd = Math.min(end, chunkStart + content.chunkSize);
    readChunk(
      stores,
      { contentId: content.contentId, index },
      {
        key,
        start: position - chunkStart,
        target: target.subarray(position - start, chunkEnd - start),
      },
    );
    position = chunkEnd;
  }
  return target;
}

interface ChunkPart {
  readonly key: Uint8Array;
  readonly start: number;
  /** Receives the bytes. */
  readonly target: Uint8Array;
}

const readCommand = createCommand(kernelOperations.chunkRead, 2);
const startWord = kernelWords.length + 1;

/** Reads a part of a chunk; refuses with IntegrityError if a segment was altered. */
export function readChunk(stores: Stores, address: ChunkAddress, part: ChunkPart): void {
  if (part.target.length > 0 && readByKernel(stores, address, part)) return;
  readBySegments(stores, address, part);
}

/**
 * Reads by one call of the kernel (kernel/chunk-read.ts). Returns false for what it does not find
 * as it was written, such as a record that an upgrade has not moved yet.
 */
function readByKernel(stores: Stores, address: ChunkAddress, part: ChunkPart): boolean {
  const { key, start, target } = part;
  const { contentId, index } = address;
  if (key.length !== aeadKeyBytes) return false;
  const { bytes, words } = readCommand;
  words[kernelWords.selector] = stores.records.space;
  words[kernelWords.offset] = contentId;
  words[kernelWords.offset + 1] = contentId / two32;
  words[kernelWords.length] = index;
  words[startWord] = start;
  kernelCall(bytes);
  kernelCall(key);
  kernelCall(target);
  return words[kernelWords.result] === 1;
}

function readBySegments(stores: Stores, address: ChunkAddress, part: ChunkPart): void {
  const chunk = findChunk(stores, address);
  if (chunk === undefined) throw damagedFile();
  const cipher = new SegmentCipher(address, chunk, part.key);
  const { target } = part;
  for (let filled = 0; filled < target.length; ) {
    const position = part.start + filled;
    const segment = Math.floor(position / segmentBytesMax);
    const segmentStart = segment * segmentBytesMax;
    const length = Math.min(segmentBytesMax, chunk.length - segmentStart);
    const opened = openSegment(stores, cipher, { slot: chunk.slots[segment], segment, length });
    const from = position - segmentStart;
    const to = Math.min(length, from + target.length - filled);
    if (to <= from) throw damagedFile();
    target.set(opened.subarray(from, to), filled);
    filled += to - from;
  }
}

/** Returns the segment's plaintext in a buffer that the next call overwrites. */
function openSegment(
  stores: Stores,
  cipher: SegmentCipher,
  at: { readonly slot: number | undefined; readonly segment: number; readonly length: number },
): Uint8Array {
  const { slot, segment, length } = at;
  if (slot === undefined || length <= 0 || !stores.blobs.isSlot(slot, length + aeadTagBytes)) {
    throw damagedFile();
  }
  const sealed = segmentBuffer.subarray(0, length + aeadTagBytes);
  stores.blobs.read(slot, sealed);
  const data = sealed.subarray(0, length);
  if (!cipher.open(segment, data, sealed.subarray(length))) {
    throw damagedFile();
  }
  return data;
}

// Record: 0: version 1 | next index u64 | end index u64. The key in the map is the content id u64,
// big-endian.
const reclaimVersion = 1;

/**
 * Frees the space of chunks `[0, chunkCount)`: a bounded number now, and the rest by
 * reclaimContents(), for which it stores a record.
 */
export function discardContent(
  stores: Stores,
  content: { readonly contentId: number; readonly chunkCount: number },
): void {
  const { contentId, chunkCount } = content;
  freeChunks(stores, { contentId, next: 0, end: chunkCount });
}

interface Discarded {
  readonly contentId: number;
  /** Chunks `[next, end)` still have to be freed. */
  readonly next: number;
  readonly end: number;
}

/** Frees a bounded number of chunks; if more are left, stores a record of them and returns true. */
function freeChunks(stores: Stores, discarded: Discarded): boolean {
  const { contentId, next, end } = discarded;
  const stop = Math.min(end, next + reclaimedChunksPerMessage);
  for (let index = next; index < stop; index++) {
    freeChunk(stores, { contentId, index });
  }
  if (stop === end) {
    return false;
  }
  const record = new RecordWriter(reclaimVersion).u64(stop).u64(end).finish([]);
  stores.reclaims.set(u64Key(contentId), record);
  return true;
}

/** Runs one bounded step of freeing space; true while more is left. */
export function reclaimContents(stores: Stores): boolean {
  const key = stores.reclaims.firstKey();
  if (key === undefined) {
    return false;
  }
  const contentId = Number(new DataView(key.buffer, key.byteOffset).getBigUint64(0));
  const record = new RecordReader(
    present(stores.reclaims.get(key), 'discarded content'),
    reclaimVersion,
  );
  const next = record.integer();
  const end = record.integer();
  if (freeChunks(stores, { contentId, next, end })) {
    return true;
  }
  stores.reclaims.delete(key);
  return stores.reclaims.firstKey() !== undefined;
}
