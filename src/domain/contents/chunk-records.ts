// The record of a chunk: its length, its digest, and the nonces and slots of its segments.
// contents.ts handles the bytes.

import { aeadTagBytes } from '../../crypto/aead.ts';
import { sha256 } from '../../crypto/hash.ts';
import { bytesEqual, concatBytes } from '../../lib/bytes.ts';
import { segmentBytesMax } from '../../limits.ts';
import { RecordReader, u64Key } from '../../storage/codec.ts';
import { Refusal, unlessRefused } from '../shared/refusal.ts';
import type { Stores } from '../shared/stores.ts';

export interface ChunkAddress {
  readonly contentId: number;
  readonly index: number;
}

/** The nonce of a chunk's first segment; the counter increases by one per segment. */
export interface ChunkNonce {
  readonly counter: number;
  readonly timeNs: bigint;
}

export interface Chunk {
  readonly length: number;
  /** SHA-256 of the plaintext. */
  readonly digest: Uint8Array;
  readonly nonce: ChunkNonce;
  /** One slot per segment. */
  readonly slots: Float64Array;
}

// 0: version 2 | digest (length, 32 bytes) | length u32 | nonce: counter u32, time u64
//    | zeros up to byte 56 | checksum 8 | slots: float64 each
// The key is 2, content id u64, index u64, big-endian. The checksum is the beginning of the
// record's SHA-256, with zeros in place of the checksum; it prevents a damaged record from freeing
// slots of other chunks.
const version = 2;
const checksumStart = 56;
const chunkHeadBytes = 64;
/** No bucket id begins with it, nor do keys of former versions and links. */
const keyKind = Uint8Array.of(2);

export function encodeChunk(chunk: Chunk): Uint8Array {
  const { digest, length, nonce, slots } = chunk;
  const record = new Uint8Array(chunkHeadBytes + slots.byteLength);
  record[0] = version;
  record[1] = digest.length;
  record.set(digest, 2);
  const view = new DataView(record.buffer, 2 + digest.length);
  view.setUint32(0, length, true);
  view.setUint32(4, nonce.counter, true);
  view.setBigUint64(8, nonce.timeNs, true);
  new Float64Array(record.buffer, chunkHeadBytes).set(slots);
  record.set(checksum(record), checksumStart);
  return record;
}

function checksum(record: Uint8Array): Uint8Array {
  return sha256(record).subarray(0, chunkHeadBytes - checksumStart);
}

function decodeChunk(bytes: Uint8Array): Chunk {
  if (bytes[0] !== version) throw damagedFile();
  const expected = bytes.slice(checksumStart, chunkHeadBytes);
  bytes.fill(0, checksumStart, chunkHeadBytes);
  if (!bytesEqual(checksum(bytes), expected)) {
    throw damagedFile();
  }
  const reader = new RecordReader(bytes, version);
  const digest = reader.bytes();
  const length = reader.u32();
  const nonce = { counter: reader.u32(), timeNs: reader.u64() };
  return { length, digest, nonce, slots: new Float64Array(bytes.slice(chunkHeadBytes).buffer) };
}

export function chunkKey(address: ChunkAddress): Uint8Array {
  return concatBytes(keyKind, u64Key(address.contentId), u64Key(address.index));
}

/** Returns the slot sizes for a chunk of that length. */
export function segmentSizes(length: number): number[] {
  const sizes: number[] = [];
  for (let start = 0; start < length; start += segmentBytesMax) {
    sizes.push(Math.min(segmentBytesMax, length - start) + aeadTagBytes);
  }
  return sizes;
}

/** Returns the number of segments, and so of nonces, of a chunk of that length. */
export function segmentCount(length: number): number {
  return Math.ceil(length / segmentBytesMax);
}

/** Returns the chunk, or `undefined`. Refuses an altered record with IntegrityError. */
export function findChunk(stores: Stores, address: ChunkAddress): Chunk | undefined {
  const bytes = stores.records.get(chunkKey(address));
  return bytes === undefined ? undefined : decodeChunk(bytes);
}

/** Returns `undefined` for a damaged record, whose slots are unknown. */
export function readableChunk(record: Uint8Array): Chunk | undefined {
  return unlessRefused(() => decodeChunk(record));
}

/** Returns the error for any altered part of a file, of which no byte is returned. */
export function damagedFile(): Refusal {
  return new Refusal(
    'IntegrityError',
    'The stored bytes of this file were altered, so it cannot be read. Restore it from a ' +
      'back-up, or upload it again.',
  );
}
