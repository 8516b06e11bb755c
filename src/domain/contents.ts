// The bytes of files: a content is a row of chunks, a chunk a row of segments, a segment a slot of
// the blob store. Knows neither paths nor sessions.

import { assert, present } from '../lib/assert.ts';
import { concatBytes } from '../lib/bytes.ts';
import { reclaimedChunksPerMessage, segmentBytesMax } from '../limits.ts';
import { RecordReader, RecordWriter, u64Key } from '../storage/codec.ts';
import type { Stores } from './stores.ts';

export interface ChunkAddress {
  readonly contentId: number;
  readonly index: number;
}

export interface Chunk {
  readonly length: number;
  readonly digest: Uint8Array;
  /** One slot a segment. */
  readonly slots: Float64Array;
}

// 0: version 1 | digest (length, 32 bytes) | length u32 | zeros up to a multiple of 8
//    | slots: float64 each; the key of the map is content id u64, index u64, big-endian
const version = 1;
const chunkHeadBytes = 40;

function encodeChunk(chunk: Chunk): Uint8Array {
  const head = new Uint8Array(chunkHeadBytes);
  head.set(new RecordWriter(version).bytes(chunk.digest).u32(chunk.length).finish([]));
  const { buffer, byteOffset, byteLength } = chunk.slots;
  return concatBytes(head, new Uint8Array(buffer, byteOffset, byteLength));
}

function decodeChunk(bytes: Uint8Array): Chunk {
  const reader = new RecordReader(bytes);
  const digest = reader.bytes();
  const length = reader.u32();
  return { length, digest, slots: new Float64Array(bytes.slice(chunkHeadBytes).buffer) };
}

function chunkKey(address: ChunkAddress): Uint8Array {
  return concatBytes(u64Key(address.contentId), u64Key(address.index));
}

function segmentSizes(length: number): number[] {
  const sizes: number[] = [];
  for (let start = 0; start < length; start += segmentBytesMax) {
    sizes.push(Math.min(segmentBytesMax, length - start));
  }
  return sizes;
}

export function findChunk(stores: Stores, address: ChunkAddress): Chunk | undefined {
  const bytes = stores.chunks.get(chunkKey(address));
  return bytes === undefined ? undefined : decodeChunk(bytes);
}

/** Stores the bytes as that chunk, in place of one that is there. `digest` is their SHA-256. */
export function writeChunk(
  stores: Stores,
  address: ChunkAddress,
  chunk: { readonly bytes: Uint8Array; readonly digest: Uint8Array },
): void {
  const { bytes, digest } = chunk;
  assert(bytes.length > 0, 'a chunk has at least one byte');
  freeChunk(stores, address);
  const slots = stores.blobs.allocate(segmentSizes(bytes.length));
  let start = 0;
  for (const slot of slots) {
    stores.blobs.write(slot, bytes.subarray(start, start + segmentBytesMax));
    start += segmentBytesMax;
  }
  stores.chunks.set(chunkKey(address), encodeChunk({ length: bytes.length, digest, slots }));
}

function freeChunk(stores: Stores, address: ChunkAddress): void {
  const chunk = findChunk(stores, address);
  if (chunk !== undefined) {
    stores.blobs.free(chunk.slots, segmentSizes(chunk.length));
    stores.chunks.delete(chunkKey(address));
  }
}

export interface Content {
  readonly contentId: number;
  /** Length of every chunk but the last. */
  readonly chunkSize: number;
  readonly size: number;
}

/** The bytes of `[start, end)`; opens only the segments that hold them. */
export function readContent(
  stores: Stores,
  content: Content,
  range: { readonly start: number; readonly end: number },
): Uint8Array {
  const { start, end } = range;
  assert(start <= end && end <= content.size, 'the range lies inside the content');
  const target = new Uint8Array(end - start);
  for (let position = start; position < end; ) {
    const index = Math.floor(position / content.chunkSize);
    const chunkStart = index * content.chunkSize;
    const chunk = findChunk(stores, { contentId: content.contentId, index });
    const chunkEnd = Math.min(end, chunkStart + content.chunkSize);
    readChunk(stores, present(chunk, `chunk ${index} of content ${content.contentId}`), {
      start: position - chunkStart,
      target: target.subarray(position - start, chunkEnd - start),
    });
    position = chunkEnd;
  }
  return target;
}

function readChunk(
  stores: Stores,
  chunk: Chunk,
  part: { readonly start: number; readonly target: Uint8Array },
): void {
  for (let filled = 0; filled < part.target.length; ) {
    const position = part.start + filled;
    const segment = Math.floor(position / segmentBytesMax);
    const offset = position - segment * segmentBytesMax;
    const end = Math.min(part.target.length, filled + segmentBytesMax - offset);
    const slot = present(chunk.slots[segment], `segment ${segment}`);
    stores.blobs.read(slot + offset, part.target.subarray(filled, end));
    filled = end;
  }
}

// 0: version 1 | next index u64 | end index u64; the key of the map is the content id u64,
// big-endian

/**
 * Gives the space of chunks `[0, chunkCount)` back: a bounded number now, the rest step by step by
 * reclaimContents(), which a note is made for.
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
  /** Chunks `[next, end)` are still to be given back. */
  readonly next: number;
  readonly end: number;
}

/** Frees a bounded number of chunks; true, and a note of the rest, when there are more. */
function freeChunks(stores: Stores, discarded: Discarded): boolean {
  const { contentId, next, end } = discarded;
  const stop = Math.min(end, next + reclaimedChunksPerMessage);
  for (let index = next; index < stop; index++) {
    freeChunk(stores, { contentId, index });
  }
  if (stop === end) {
    return false;
  }
  const record = new RecordWriter(version).u64(stop).u64(end).finish([]);
  stores.reclaims.set(u64Key(contentId), record);
  return true;
}

/** One bounded step of giving space back; true while there is more to do. */
export function reclaimContents(stores: Stores): boolean {
  const key = stores.reclaims.firstKey();
  if (key === undefined) {
    return false;
  }
  const contentId = Number(new DataView(key.buffer, key.byteOffset).getBigUint64(0));
  const record = new RecordReader(present(stores.reclaims.get(key), 'discarded content'));
  const next = record.integer();
  const end = record.integer();
  if (freeChunks(stores, { contentId, next, end })) {
    return true;
  }
  stores.reclaims.delete(key);
  return stores.reclaims.firstKey() !== undefined;
}
