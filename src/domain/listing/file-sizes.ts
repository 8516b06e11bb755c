// The sizes of files by name, in an index with sums, which finds the total below a prefix without
// reading the files. file-index.ts keeps it consistent; record-upgrade.ts adds files of an earlier
// version.
//
//   bucket id | 0 | path -> bytes

import { encodeUtf8 } from '../../lib/text.ts';
import { filePathBytesMax } from '../../limits.ts';
import type { Stores } from '../shared/stores.ts';

interface FileName {
  readonly bucketId: string;
  readonly path: string;
}

function sizeKey({ bucketId, path }: FileName): Uint8Array {
  return encodeUtf8(`${bucketId}\0${path}`);
}

/** Stores the size of a new or replaced file. */
export function noteSize(stores: Stores, file: FileName & { readonly size: number }): void {
  stores.sizes.insert(sizeKey(file), BigInt(file.size));
}

export function forgetSize(stores: Stores, file: FileName): void {
  stores.sizes.remove(sizeKey(file));
}

export interface Sizes {
  readonly files: number;
  /** The sum of the files' sizes. */
  readonly bytes: number;
}

/** Returns the number and total size of the bucket's files whose paths begin with the prefix. */
export function sizesBelow(stores: Stores, bucketId: string, prefix: string): Sizes {
  const { sizes } = stores;
  const first = sizeKey({ bucketId, path: prefix });
  if (first.length > bucketId.length + 1 + filePathBytesMax) {
    return { files: 0, bytes: 0 };
  }
  const end = new Uint8Array(first.length + 1);
  end.set(first);
  // UTF-8 never contains this byte, so the key follows every path with the prefix.
  end[first.length] = 0xff;
  return {
    files: sizes.rank(end) - sizes.rank(first),
    bytes: sizes.sum(end) - sizes.sum(first),
  };
}
