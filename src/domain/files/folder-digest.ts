// The digest of the list of files below a prefix, by which a caller names the files that it expects
// there: SHA-256 of path NUL entity tag NUL type NUL of each file, sorted by path, in UTF-8. The
// order is that of UTF-16 code units, in which the engine sorts natively.

import { digestedFilesMax } from '../../../packages/wire/src/limits.ts';
import { sha256 } from '../../crypto/hash.ts';
import { encodeHex } from '../../lib/hex.ts';
import { decodeUtf8, encodeUtf8 } from '../../lib/text.ts';
import { countWithPrefix, pathsWithPrefix } from '../listing/prefix-paths.ts';
import { quote } from '../shared/names.ts';
import { Refusal } from '../shared/refusal.ts';
import type { Stores } from '../shared/stores.ts';
import type { FileRecord } from './file-fields.ts';
import { readFileParts } from './file-records.ts';
import { entityTag } from './file-view.ts';

export type ListedLine = readonly [path: string, line: string];

/** Returns the line of a file at a path where it will be. */
export function lineOf(path: string, file: FileRecord): ListedLine {
  return [path, lineText(path, entityTag(file).slice(1, -1), file.contentType)];
}

function lineText(path: string, etag: string, contentType: string): string {
  return `${path}\0${etag}\0${contentType}\0`;
}

/** Counts the files below the prefix without reading them; refuses more than `digestedFilesMax`. */
export function countDigested(stores: Stores, bucketId: string, prefix: string): number {
  const count = countWithPrefix(stores, bucketId, prefix);
  if (count > digestedFilesMax) {
    throw new Refusal(
      'InvalidArgument',
      `More than ${digestedFilesMax} files are below ${quote(prefix)}, and ifResult covers at most so many: omit it, ` +
        'or divide the files among buckets.',
    );
  }
  return count;
}

/** Returns the lines of all files below the prefix, which countDigested() has not refused. */
export function linesBelow(stores: Stores, bucketId: string, prefix: string): ListedLine[] {
  const place = { bucketId, prefix, after: '' };
  const { paths } = pathsWithPrefix(stores, place, digestedFilesMax);
  return readFileParts(stores, bucketId, paths).map(({ path, etag, contentType }) => {
    const [name = '', tag = '', type = ''] = [path, etag, contentType].map(decodeUtf8);
    return [name, lineText(name, tag, type)];
  });
}

/** Returns the digest in hexadecimal. */
export function digestOfLines(lines: readonly string[]): string {
  return encodeHex(sha256(encodeUtf8([...lines].sort().join(''))));
}
