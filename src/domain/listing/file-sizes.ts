// The sizes of files by name: the weights of their records, whose index has sums. So the total
// below a prefix is found without reading the files.
//
//   bucket id | 0 | path -> record, with the file's size as its weight

import { encodeUtf8 } from '../../lib/text.ts';
import { filePathBytesMax } from '../../limits.ts';
import type { Stores } from '../shared/stores.ts';

export interface Sizes {
  readonly files: number;
  /** The sum of the files' sizes. */
  readonly bytes: number;
}

/** Returns the number and total size of the bucket's files whose paths begin with the prefix. */
export function sizesBelow({ records }: Stores, bucketId: string, prefix: string): Sizes {
  const first = encodeUtf8(`${bucketId}\0${prefix}`);
  if (first.length > bucketId.length + 1 + filePathBytesMax) {
    return { files: 0, bytes: 0 };
  }
  const end = new Uint8Array(first.length + 1);
  end.set(first);
  // UTF-8 never contains this byte, so the key follows every path with the prefix.
  end[first.length] = 0xff;
  return {
    files: records.rank(end) - records.rank(first),
    bytes: records.sum(end) - records.sum(first),
  };
}
