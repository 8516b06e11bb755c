// Entity tags, which the service computes from the SHA-256 digests of a file's chunks.

import { chunkBytesMax, joinedPartsMax } from '../../../wire/src/limits.ts';
import { StorageError } from '../storage-error.ts';
import { concatBytes, emptyBytes, encodeHex } from './bytes.ts';
import { sha256 } from './sha256.ts';

/** Throws BadDigest if `expected` differs from the digest, InvalidArgument if it is malformed. */
export function requireSha256(expected: string | undefined, digest: Uint8Array): void {
  if (expected === undefined || expected.toLowerCase() === encodeHex(digest)) return;
  if (!/^[0-9a-f]{64}$/i.test(expected)) {
    throw new StorageError('InvalidArgument', 'sha256 must have 64 hexadecimal digits.');
  }
  throw new StorageError('BadDigest', 'The bytes do not match the given sha256.');
}

/** Returns the entity tag of a file with these chunk digests; no digests mean an empty file. */
export async function etagOf(chunkDigests: readonly Uint8Array[]): Promise<string> {
  const [first, ...others] = chunkDigests;
  if (first === undefined) return encodeHex(await sha256(emptyBytes));
  if (others.length === 0) return encodeHex(first);
  const joined = await sha256(concatBytes(...chunkDigests));
  return `${encodeHex(joined)}-${chunkDigests.length}`;
}

/** Returns the number of chunks that an entity tag states. */
export function chunkCountOf(etag: string): number {
  const [, count = '1'] = etag.split('-');
  return Number(count);
}

/** Returns whether a gateway serves the whole file to a plain GET. */
export function isGivenWhole(etag: string): boolean {
  return chunkCountOf(etag) <= joinedPartsMax;
}

/**
 * Common chunk lengths. `likelyChunkBytes` guesses the first that fits the number of chunks; a
 * wrong guess fails at the digest.
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

/** Returns the likely chunk length of a file, or undefined if no common length fits. */
export function likelyChunkBytes(file: {
  readonly etag: string;
  readonly size: number;
}): number | undefined {
  const count = chunkCountOf(file.etag);
  if (count <= 1) return Math.max(1, file.size);
  return commonChunkBytes.find((bytes) => Math.ceil(file.size / bytes) === count);
}

/** Throws IntegrityError unless the stored entity tag equals that of the bytes read. */
export function requireSame(stored: string, read: string): void {
  if (stored === read) return;
  throw new StorageError(
    'IntegrityError',
    `The stored ETag ${stored} does not match the bytes read, ${read}; upload the file again.`,
  );
}
