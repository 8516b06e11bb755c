// The SHA-256 digests of a content's chunks, side by side in one slot of the blob store: what a
// file of many chunks is certified by is made of them again when it is copied, moved or served
// otherwise, and a look-up for each chunk would cost 0.15 M instructions. In the directory:
//
//   7 | content u64 | chunks u32, big-endian    -> slot
//
// A content of one chunk has none, and none has one that version 0.2.0 or an earlier one stored.

import { sha256 } from '../../crypto/hash.ts';
import { present } from '../../lib/assert.ts';
import { bytesEqual, concatBytes } from '../../lib/bytes.ts';
import { u64Key } from '../../storage/codec.ts';
import type { Stores } from '../shared/stores.ts';
import { damagedFile, findChunk } from './chunk-records.ts';

const kind = Uint8Array.of(7);
const countAt = 9;
const keyBytes = 13;
const digestBytes = 32;

interface Table {
  readonly key: Uint8Array;
  readonly slot: number;
  readonly count: number;
}

function findTable({ directory }: Stores, contentId: number): Table | undefined {
  const head = concatBytes(kind, u64Key(contentId));
  const [entry] = directory.read(directory.rank(head), 1);
  const isIt = entry?.key.length === keyBytes && bytesEqual(entry.key.subarray(0, countAt), head);
  if (!isIt) return undefined;
  const { key, value } = entry;
  const count = new DataView(key.buffer, key.byteOffset).getUint32(countAt);
  return { key, slot: Number(value), count };
}

/** For a content that is whole; nothing is kept of a single chunk's. */
export function saveDigestTable(stores: Stores, contentId: number, digests: Uint8Array): void {
  const count = digests.length / digestBytes;
  if (count <= 1) return;
  const slot = present(stores.blobs.allocate([digests.length])[0], 'slot of digests');
  stores.blobs.write(slot, digests);
  const number = new Uint8Array(4);
  new DataView(number.buffer).setUint32(0, count);
  stores.directory.insert(concatBytes(kind, u64Key(contentId), number), BigInt(slot));
}

export function dropDigestTable(stores: Stores, contentId: number): void {
  const table = findTable(stores, contentId);
  if (table === undefined) return;
  stores.directory.remove(table.key);
  stores.blobs.free(Float64Array.of(table.slot), [table.count * digestBytes]);
}

interface Digested {
  readonly contentId: number;
  readonly chunkCount: number;
  /** SHA-256 of the chunk, or of all the digests. */
  readonly digest: Uint8Array;
}

/** Of all chunks, 32 bytes each; refuses with IntegrityError what is not as the record has it. */
export function chunkDigests(stores: Stores, content: Digested): Uint8Array {
  const { contentId, chunkCount, digest } = content;
  if (chunkCount <= 1) return chunkCount === 0 ? new Uint8Array(0) : digest;
  const table = findTable(stores, contentId);
  const digests = new Uint8Array(chunkCount * digestBytes);
  if (table?.count === chunkCount) {
    stores.blobs.read(table.slot, digests);
  } else {
    for (let index = 0; index < chunkCount; index++) {
      const chunk = findChunk(stores, { contentId, index });
      if (chunk === undefined) throw damagedFile();
      digests.set(chunk.digest, index * digestBytes);
    }
  }
  if (!bytesEqual(sha256(digests), digest)) throw damagedFile();
  return digests;
}

/** Slots that tables have, for those who recount them. */
export function digestTables({ directory }: Stores): { slot: number; bytes: number }[] {
  const start = directory.rank(kind);
  const count = directory.rank(Uint8Array.of(8)) - start;
  const entries = count === 0 ? [] : directory.read(start, count);
  return entries.map(({ key, value }) => {
    const chunks = new DataView(key.buffer, key.byteOffset).getUint32(countAt);
    return { slot: Number(value), bytes: chunks * digestBytes };
  });
}
