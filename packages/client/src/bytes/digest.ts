// The entity tag that the service makes of the digests of a file's chunks.

import { chunkBytesMax, joinedPartsMax } from '../../../wire/src/limits.ts';
import { StorageError } from '../storage-error.ts';
import { concatBytes, emptyBytes, encodeHex } from './bytes.ts';
import { sha256 } from './sha256.ts';

/** Refuses bytes that are not those whose SHA-256 was told. */
export function requireTold(told: string | undefined, digest: Uint8Array): void {
  if (told === undefined || told.toLowerCase() === encodeHex(digest)) return;
  if (!/^[0-9a-f]{64}$/i.test(told)) {
    throw new StorageError('InvalidArgument', 'sha256 is 64 hexadecimal digits.');
  }
  throw new StorageError('BadDigest', 'The bytes are not those of the sha256 that was given.');
}

/** Of a file whose chunks have these digests, in their order; none for a file of no bytes. */
export async function etagOf(chunkDigests: readonly Uint8Array[]): Promise<string> {
  const [first, ...others] = chunkDigests;
  if (first === undefined) return encodeHex(await sha256(emptyBytes));
  if (others.length === 0) return encodeHex(first);
  const joined = await sha256(concatBytes(...chunkDigests));
  return `${encodeHex(joined)}-${chunkDigests.length}`;
}

/** The number of chunks that an entity tag speaks of. */
export function chunkCountOf(etag: string): number {
  const [, count = '1'] = etag.split('-');
  return Number(count);
}

/** Whether a gateway gives the file to a plain GET. */
export function isGivenWhole(etag: string): boolean {
  return chunkCountOf(etag) <= joinedPartsMax;
}

/**
 * Lengths that uploads commonly have, for a way of transport that does not tell: the entity tag
 * gives the number of chunks, and the digest shows whether the length was the right one.
 */
const commonChunkBytes = [
  chunkBytesMax,
  1_850_000,
  1_800_000,
  2 ** 20,
  1_000_000,
  700_000,
  500_000,
  2 ** 19,
  2 ** 18,
  2 ** 17,
  2 ** 16,
];

/** The length of the chunks that gave a file its entity tag, if it is a common one. */
export function likelyChunkBytes(file: {
  readonly etag: string;
  readonly size: number;
}): number | undefined {
  const count = chunkCountOf(file.etag);
  if (count <= 1) return Math.max(1, file.size);
  return commonChunkBytes.find((bytes) => Math.ceil(file.size / bytes) === count);
}
