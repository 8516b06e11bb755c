// The places of equal parts in a session: part N follows N - 1 parts, each of whole chunks.

import { chunkBytesMax, chunkBytesMin, chunkCountMax } from '../../../wire/src/limits.ts';

export interface Layout {
  readonly partBytes: number;
  /** Divides `partBytes`. */
  readonly chunkBytes: number;
}

/** Shorter chunks would limit a file to less than 5 GB and need more calls. */
const chunkBytesOfLargeFiles = 524_288;

/**
 * Returns the layout with the longest chunks, up to `longest`, that divide the part; undefined if
 * those are too short. On a slow line only short chunks arrive in time, which limits the file's
 * size.
 */
export function layoutOf(partBytes: number, longest = chunkBytesMax): Layout | undefined {
  const chunkBytesGood = Math.min(chunkBytesOfLargeFiles, Math.floor(longest / 2));
  const chunkBytesLeast = Math.max(chunkBytesMin, Math.min(chunkBytesGood, partBytes));
  for (let count = Math.max(1, Math.ceil(partBytes / longest)); ; count += 1) {
    const chunkBytes = partBytes / count;
    if (!(chunkBytes >= chunkBytesLeast)) return undefined;
    if (Number.isInteger(chunkBytes)) return { partBytes, chunkBytes };
  }
}

/** Returns whether a part with that number and length has a place among the chunks of one file. */
export function hasPlace({ partBytes, chunkBytes }: Layout, number: number, size: number): boolean {
  const end = (number - 1) * partBytes + size;
  return Math.ceil(end / chunkBytes) <= chunkCountMax;
}
