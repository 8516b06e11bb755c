// The digest of a list of files, which the service computes in the same way.

import { encodeHex } from './bytes.ts';
import { sha256 } from './sha256.ts';

/** The fields of a file's record that the digest covers. */
export interface DigestedFile {
  readonly path: string;
  readonly etag: string;
  readonly contentType: string;
}

/**
 * Returns the digest of a list of files, in any order, for `ifResult` of `switchAll`: SHA-256 in
 * hexadecimal of path, NUL, ETag, NUL, type, NUL of each file, sorted by path in UTF-16 code units.
 *
 * @example
 * ```ts
 * import { filesDigest } from '@encrypted-file-storage/client';
 *
 * const file = await storage.stat({ bucket: 'demo', path: 'notes/hello.txt' });
 * console.log(await filesDigest([file]));
 * ```
 */
export async function filesDigest(files: Iterable<DigestedFile>): Promise<string> {
  const lines = [...files].map(
    ({ path, etag, contentType }) => `${path}\0${etag}\0${contentType}\0`,
  );
  return encodeHex(await sha256(new TextEncoder().encode(lines.sort().join(''))));
}
