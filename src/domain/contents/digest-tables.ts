// The SHA-256 digests of a content's chunks, stored together in slots of the blob store. Copying,
// moving and renewing a file of many chunks needs all of them for its certified leaves, and a
// look-up per chunk would cost 0.15 M instructions. In the directory, for each 2,048 digests:
//
//   7 | content u64 | first chunk u32 | chunks u32, big-endian    -> slot
//
// Contents of one chunk, and those that version 0.1.0 stored, have no table.

import { chunkCountMax } from '../../../packages/wire/src/limits.ts';
import { sha256 } from '../../crypto/hash.ts';
import { present } from '../../lib/assert.ts';
import { bytesEqual, concatBytes } from '../../lib/bytes.ts';
import { u64Key } from '../../storage/codec.ts';
import type { Stores } from '../shared/stores.ts';
import { damagedFile, findChunk } from './chunk-records.ts';

const kind = Uint8Array.of(7);
const afterKind = Uint8Array.of(8);
const numbersAt = 9;
const digestBytes = 32;
/** The largest slot of the blob store holds this many. */
const digestsPerPage = 2_048;
const pagesMax = Math.ceil(chunkCountMax / digestsPerPage);

interface Page {
  readonly key: Uint8Array;
  readonly slot: number;
  readonly first: number;
  readonly count: number;
}

/** Returns the pages in order. */
function pagesOf({ directory }: Stores, contentId: number): Page[] {
  const head = concatBytes(kind, u64Key(contentId));
  const entries = directory.read(directory.rank(head), pagesMax);
  const own = entries.filter(({ key }) => bytesEqual(key.subarray(0, numbersAt), head));
  return own.map(({ key, value }) => {
    const view = new DataView(key.buffer, key.byteOffset + numbersAt);
    return { key, slot: Number(value), first: view.getUint32(0), count: view.getUint32(4) };
  });
}

/** Stores the digests of a complete content, except for a single chunk. */
export function saveDigestTable(stores: Stores, contentId: number, digests: Uint8Array): void {
  const count = digests.length / digestBytes;
  if (count <= 1) return;
  for (let first = 0; first < count; first += digestsPerPage) {
    const end = Math.min(count, first + digestsPerPage);
    const part = digests.subarray(first * digestBytes, end * digestBytes);
    const slot = present(stores.blobs.allocate([part.length])[0], 'slot of digests');
    stores.blobs.write(slot, part);
    const numbers = new Uint8Array(8);
    const view = new DataView(numbers.buffer);
    view.setUint32(0, first);
    view.setUint32(4, end - first);
    stores.directory.insert(concatBytes(kind, u64Key(contentId), numbers), BigInt(slot));
  }
}

export function dropDigestTable(stores: Stores, contentId: number): void {
  for (const { key, slot, count } of pagesOf(stores, contentId)) {
    stores.directory.remove(key);
    stores.blobs.free(Float64Array.of(slot), [count * digestBytes]);
  }
}

interface Digested {
  readonly contentId: number;
  readonly chunkCount: number;
  /** SHA-256 of the single chunk, or of the digests of all chunks. */
  readonly digest: Uint8Array;
}

/** Returns the digests of all chunks, 32 bytes each; throws IntegrityError unless they match. */
export function chunkDigests(stores: Stores, content: Digested): Uint8Array {
  const { contentId, chunkCount, digest } = content;
  if (chunkCount <= 1) return chunkCount === 0 ? new Uint8Array(0) : digest;
  const pages = pagesOf(stores, contentId);
  const digests =
    pages.length === 0
      ? gatherDigests(stores, { contentId, chunkCount })
      : readPages(stores, pages, chunkCount);
  if (!bytesEqual(sha256(digests), digest)) throw damagedFile();
  return digests;
}

function readPages(stores: Stores, pages: readonly Page[], chunkCount: number): Uint8Array {
  const digests = new Uint8Array(chunkCount * digestBytes);
  for (const { slot, first, count } of pages) {
    const end = Math.min(chunkCount, first + count);
    if (first < end) {
      stores.blobs.read(slot, digests.subarray(first * digestBytes, end * digestBytes));
    }
  }
  return digests;
}

function gatherDigests(
  stores: Stores,
  { contentId, chunkCount }: Pick<Digested, 'contentId' | 'chunkCount'>,
): Uint8Array {
  const digests = new Uint8Array(chunkCount * digestBytes);
  for (let index = 0; index < chunkCount; index++) {
    const chunk = findChunk(stores, { contentId, index });
    if (chunk === undefined) throw damagedFile();
    digests.set(chunk.digest, index * digestBytes);
  }
  return digests;
}

/** Returns the slots of all tables, for recounting slots. */
export function digestTables({ directory }: Stores): { slot: number; bytes: number }[] {
  const start = directory.rank(kind);
  const count = directory.rank(afterKind) - start;
  const entries = count === 0 ? [] : directory.read(start, count);
  return entries.map(({ key, value }) => {
    const chunks = new DataView(key.buffer, key.byteOffset + numbersAt).getUint32(4);
    return { slot: Number(value), bytes: chunks * digestBytes };
  });
}
