// The bytes of thumbnails. A thumbnail is a chunk of its file's content, under an index that no
// chunk of the file has, so the content's key seals it, bound to the content and to that index. The
// index comes from nextContentId(), as does the nonce's counter: a thumbnail that replaces another
// one has a new index. Copies share it with the content, see shared-contents.ts.
//
//   index and counter   0x80000000 | number: indexes and counters of the file's chunks are below,
//                       and seals of records have other numbers

import { sealedThumbnailBytesMax } from '../../../packages/wire/src/limits.ts';
import { sha256 as digestOf } from '../../crypto/hash.ts';
import { encodeHex } from '../../lib/hex.ts';
import type { ShownThumbnail } from '../shared/publication.ts';
import type { Stores } from '../shared/stores.ts';
import { freeChunk, readChunk, writeChunk } from './contents.ts';

/** The place of a thumbnail in its content, and what the record of the file says of it. */
export interface Thumbnail extends ShownThumbnail {
  readonly index: number;
}

const indexMin = 0x8000_0000;
const indexEnd = 0x1_0000_0000;
const digestPattern = /^[0-9a-f]{64}$/;

/** Whether the fields are those of a thumbnail, not of a damaged record. */
export function isPossibleThumbnail({ index, size, sha256 }: Thumbnail): boolean {
  const isIndex = Number.isInteger(index) && index >= indexMin && index < indexEnd;
  return isIndex && size > 0 && size <= sealedThumbnailBytesMax && digestPattern.test(sha256);
}

/** Encrypts and stores the bytes. `number`: from nextContentId(), used for nothing else. */
export function writeThumbnail(
  stores: Stores,
  contentId: number,
  picture: {
    readonly bytes: Uint8Array;
    readonly contentType: string;
    readonly number: number;
    readonly nowNs: bigint;
    readonly key: Uint8Array;
  },
): Thumbnail {
  const { bytes, contentType, number, nowNs, key } = picture;
  const index = indexMin + (number % indexMin);
  const nonce = { counter: index, timeNs: nowNs };
  const digest = digestOf(bytes);
  writeChunk(stores, { contentId, index }, { bytes, digest, nonce, key });
  return { index, size: bytes.length, contentType, sha256: encodeHex(digest) };
}

/** Refuses altered bytes with IntegrityError. */
export function readThumbnail(
  stores: Stores,
  contentId: number,
  { index, size, key }: Pick<Thumbnail, 'index' | 'size'> & { readonly key: Uint8Array },
): Uint8Array {
  const target = new Uint8Array(size);
  readChunk(stores, { contentId, index }, { key, start: 0, target });
  return target;
}

export function discardThumbnail(stores: Stores, contentId: number, { index }: Thumbnail): void {
  freeChunk(stores, { contentId, index });
}
