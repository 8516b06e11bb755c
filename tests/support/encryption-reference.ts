// Reads the stored data without code of src: spaces from raw stable memory, records by their
// diagrams, keys and segments by another implementation of the cipher. Tests compare src with it.

import { chacha20poly1305 } from '@noble/ciphers/chacha.js';
import { expand, hkdf } from '@noble/hashes/hkdf';
import { sha256 } from '@noble/hashes/sha2';
import type { MemoryStores } from './memory-stores.ts';

const segmentBytes = 65_536;
export const tagBytes = 16;
export const keySlotBytes = 80;
const extentBytes = 2 ** 20;
const tableOffset = 4_096;

/** Returns a virtual stable memory, joined from its extents. */
export function spaceBytes(stable: Uint8Array, space: number): Uint8Array {
  const view = new DataView(stable.buffer, stable.byteOffset, stable.byteLength);
  const extents = view.getUint32(12, true);
  const bytes = new Uint8Array(Number(view.getBigUint64(16 + 8 * space, true)));
  for (let extent = 2; extent < extents; extent++) {
    const entry = view.getUint32(tableOffset + 4 * extent, true);
    const start = (entry & 0x1fff_ffff) * extentBytes;
    if (entry >>> 29 === space && start < bytes.length) {
      const real = extent * extentBytes;
      const length = Math.min(extentBytes, bytes.length - start);
      bytes.set(stable.subarray(real, real + length), start);
    }
  }
  return bytes;
}

/** Returns the offset in stable memory of a byte of a space. */
export function realOffset(stable: Uint8Array, at: { space: number; offset: number }): number {
  const view = new DataView(stable.buffer, stable.byteOffset, stable.byteLength);
  const wanted = Math.floor(at.offset / extentBytes);
  for (let extent = 2; extent < view.getUint32(12, true); extent++) {
    const entry = view.getUint32(tableOffset + 4 * extent, true);
    if (entry >>> 29 === at.space && (entry & 0x1fff_ffff) === wanted) {
      return extent * extentBytes + (at.offset % extentBytes);
    }
  }
  throw new Error(`space ${at.space} has no byte ${at.offset}`);
}

export interface ReferenceSlot {
  readonly slot: number;
  readonly wrapperId: number;
  readonly ownerId: number;
  readonly bytes: Uint8Array;
}

/**
 * Returns the used slots of the space of wrapped keys, and the bytes of the free slots and after
 * the slots.
 */
export function keySlotsOf(stable: Uint8Array): { used: ReferenceSlot[]; free: Uint8Array[] } {
  const space = spaceBytes(stable, 4);
  const end = keySlotBytes * (space.length === 0 ? 0 : (new Float64Array(space.buffer)[1] ?? 0));
  const used: ReferenceSlot[] = [];
  const free = [space.subarray(end)];
  for (let at = keySlotBytes; at < end; at += keySlotBytes) {
    const [wrapperId = 0, ownerId = 0] = new Float64Array(space.buffer, at, 2);
    const bytes = space.slice(at, at + keySlotBytes);
    if (wrapperId === 0) free.push(bytes);
    else used.push({ slot: at / keySlotBytes, wrapperId, ownerId, bytes });
  }
  return { used, free };
}

export function openKey(slot: Uint8Array, wrapper: Uint8Array, name = ''): Uint8Array {
  const aad = Buffer.concat([slot.subarray(0, 16), Buffer.from(name)]);
  return chacha20poly1305(wrapper, slot.slice(16, 28), aad).decrypt(slot.slice(28, 76));
}

/** Reads four numbers of the record in buckets.ts, after 8 small fields and two longs. */
export function bucketKeysOf(record: Uint8Array) {
  const view = Buffer.from(record);
  const number = (index: number) => view.readDoubleLE(24 + 8 * index);
  return { keyId: number(6), slot: number(7), formerKeyId: number(8), formerSlot: number(9) };
}

/** Follows file-layout.ts: eight small fields, four longs, seven numbers, tag. */
export function fileHeadOf(record: Uint8Array) {
  const view = Buffer.from(record);
  return {
    tag: record.slice(96, 112),
    keySlot: view.readDoubleLE(40),
    contentId: view.readDoubleLE(48),
  };
}

export interface ReferenceChunk {
  readonly contentId: number;
  readonly index: number;
  readonly digest: Uint8Array;
  readonly length: number;
  readonly counter: number;
  readonly timeNs: bigint;
  readonly checksum: Uint8Array;
  readonly slots: Float64Array;
}

/** Follows the diagram in chunk-records.ts. */
export function chunkOf([key, record]: readonly [Uint8Array, Uint8Array]): ReferenceChunk {
  const [name, view] = [Buffer.from(key), Buffer.from(record)];
  return {
    contentId: Number(name.readBigUInt64BE(0)),
    index: Number(name.readBigUInt64BE(8)),
    digest: record.slice(2, 34),
    length: view.readUInt32LE(34),
    counter: view.readUInt32LE(38),
    timeNs: view.readBigUInt64LE(42),
    checksum: record.slice(56, 64),
    slots: new Float64Array(record.slice(64).buffer),
  };
}

export function segmentLength(chunk: ReferenceChunk, segment: number): number {
  return Math.min(segmentBytes, chunk.length - segment * segmentBytes);
}

export function segmentNonce(chunk: ReferenceChunk, segment: number): Uint8Array {
  const nonce = Buffer.alloc(12);
  nonce.writeUInt32LE(chunk.counter + segment, 0);
  nonce.writeBigUInt64LE(chunk.timeNs, 4);
  return new Uint8Array(nonce);
}

export function segmentData(chunk: ReferenceChunk, segment: number): Uint8Array {
  const data = Buffer.alloc(24);
  data.writeDoubleLE(chunk.contentId, 0);
  data.writeUInt32LE(chunk.index, 8);
  data.writeUInt32LE(segment, 12);
  data.writeUInt32LE(chunk.length, 16);
  data.writeUInt32LE(segment === chunk.slots.length - 1 ? 1 : 0, 20);
  return Buffer.concat([data, chunk.digest]);
}

/** Decrypts a segment with the other implementation; throws if it is not authentic. */
function openSegment(
  chunk: ReferenceChunk,
  segment: number,
  stored: { readonly blobs: Uint8Array; readonly key: Uint8Array },
): Uint8Array {
  const at = chunk.slots[segment] ?? -1;
  const sealed = stored.blobs.slice(at, at + segmentLength(chunk, segment) + tagBytes);
  const nonce = segmentNonce(chunk, segment);
  return chacha20poly1305(stored.key, nonce, segmentData(chunk, segment)).decrypt(sealed);
}

/** Returns a file's key, unwrapped with the bucket's key and the root key. */
export function fileKeyOf(
  stores: MemoryStores,
  at: { readonly bucket: string; readonly keySlot: number },
  rootKeyOf: (version: number) => Uint8Array = (version) => new Uint8Array(32).fill(version),
): Uint8Array {
  const { used } = keySlotsOf(stores.system.stable);
  const slotOf = (number: number) => {
    const found = used.find(({ slot }) => slot === number);
    if (found === undefined) throw new Error(`no key in slot ${number}`);
    return found;
  };
  const keys = bucketKeysOf(stores.buckets.get(Buffer.from(at.bucket)) ?? new Uint8Array(0));
  const wrapped = slotOf(at.keySlot);
  const ofBucket = slotOf(wrapped.wrapperId === keys.keyId ? keys.slot : keys.formerSlot);
  const bucketKey = openKey(ofBucket.bytes, rootKeyOf(-ofBucket.wrapperId), at.bucket);
  return openKey(wrapped.bytes, bucketKey);
}

/**
 * Returns every content key that can be unwrapped with the keys in stable memory and the root keys
 * of the test stores, by its hexadecimal digits.
 */
export function keysThatOpen(
  stores: MemoryStores,
  buckets: readonly string[],
): Map<string, Uint8Array> {
  const { used } = keySlotsOf(stores.system.stable);
  const keys = new Map<string, Uint8Array>();
  const ofBuckets = new Map<number, Uint8Array>();
  for (const { wrapperId, ownerId, bytes } of used.filter((slot) => slot.wrapperId < 0)) {
    const root = new Uint8Array(32).fill(-wrapperId);
    for (const name of buckets) {
      try {
        ofBuckets.set(ownerId, openKey(bytes, root, name));
      } catch {
        // The key belongs to the other bucket.
      }
    }
  }
  for (const { wrapperId, bytes } of used) {
    const wrapper = ofBuckets.get(wrapperId);
    if (wrapper === undefined) continue;
    const key = openKey(bytes, wrapper);
    keys.set(Buffer.from(key).toString('hex'), key);
  }
  return keys;
}

export interface ReferenceRecord {
  /** The name in the record's seal: bucket, NUL, path. */
  readonly name: string;
  /** The number of a former version. */
  readonly version: string | undefined;
  readonly bytes: Uint8Array;
}

/** Returns the records of files and of former versions, without the 17 bytes before the latter. */
export function recordsOf(stores: MemoryStores): ReferenceRecord[] {
  return stores.files.entries().map(([key, bytes]) => {
    const isFormer = key[0] === 0;
    const [bucket, path, version] = Buffer.from(key)
      .subarray(isFormer ? 1 : 0)
      .toString()
      .split('\0');
    return { name: `${bucket}\0${path}`, version, bytes: isFormer ? bytes.slice(17) : bytes };
  });
}

/**
 * Returns all bytes of a stored file, decrypted by the other implementation from raw stable memory.
 */
export function readByReference(stores: MemoryStores, bucket: string, path: string): Uint8Array {
  const name = `${bucket}\0${path}`;
  const bytes = stores.files.get(Buffer.from(name)) ?? new Uint8Array(0);
  return openByReference(stores, { name, version: undefined, bytes });
}

/** Like readByReference(), for a given record. */
export function openByReference(
  stores: MemoryStores,
  { name, bytes: record }: ReferenceRecord,
): Uint8Array {
  const [bucket = '', path = ''] = name.split('\0');
  const { contentId, keySlot, tag } = fileHeadOf(record);
  const key = fileKeyOf(stores, { bucket, keySlot });
  const expected = sealOfRecord(record, { key, mapKey: Buffer.from(name) });
  if (!Buffer.from(tag).equals(expected)) throw new Error(`the record of ${path} is not sealed`);
  const blobs = spaceBytes(stores.system.stable, 1);
  const chunks = stores.chunks.entries().map(chunkOf);
  // Thumbnails have indexes above those of all chunks
  const own = chunks.filter((chunk) => chunk.contentId === contentId && chunk.index < 2 ** 31);
  own.sort((left, right) => left.index - right.index);
  return Buffer.concat(
    own.flatMap((chunk) =>
      [...chunk.slots.keys()].map((segment) => openSegment(chunk, segment, { blobs, key })),
    ),
  );
}

/**
 * Returns the nonce of a record's seal: its number, with the highest bit of u32 set, and its time.
 */
export function nonceOfRecord(record: Uint8Array): Uint8Array {
  const view = Buffer.from(record);
  const head = Buffer.alloc(4);
  head.writeUInt32LE(((view.readDoubleLE(88) % 2 ** 32) | 0x8000_0000) >>> 0);
  return Buffer.concat([head, view.subarray(32, 40)]);
}

/** Returns the tag of a file record, which seals the record (with a zeroed tag) and its name. */
export function sealOfRecord(
  record: Uint8Array,
  under: { readonly key: Uint8Array; readonly mapKey: Uint8Array },
): Uint8Array {
  const aad = Buffer.concat([new Uint8Array(record).fill(0, 96, 112), under.mapKey]);
  return chacha20poly1305(under.key, nonceOfRecord(record), aad).encrypt(new Uint8Array(0));
}

export function checksumOfChunk(record: Uint8Array): Uint8Array {
  return sha256(new Uint8Array(record).fill(0, 56, 64)).subarray(0, 8);
}

/**
 * Computes the random bytes of the test stores independently: HKDF-Expand, with a new key after
 * each call.
 */
export function createReferenceRandom(seed: number): (length: number) => Uint8Array {
  const entropy = new Uint8Array(Uint32Array.from({ length: 8 }, () => seed).buffer);
  let key = hkdf(sha256, entropy, undefined, undefined, 32);
  return (length) => {
    const output = expand(sha256, key, new Uint8Array(8), 32 + length);
    key = output.slice(0, 32);
    return output.slice(32);
  };
}
