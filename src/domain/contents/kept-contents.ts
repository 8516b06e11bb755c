// Replaced contents that are still being read. Each is kept until its stream ends, ten minutes at
// most, so that a download ends with the version that it began with. In the directory:
//
//   5 | until u64, big-endian | content u64 | key slot u64 | chunks u64 | size u64    -> 0
//
// A deleted file is not kept: its key is erased at once.

import { concatBytes } from '../../lib/bytes.ts';
import { keptContentBytesMax, keptContentCountMax } from '../../limits.ts';
import { u64Key } from '../../storage/codec.ts';
import type { SealedContent } from '../keys/file-keys.ts';
import type { Stores } from '../shared/stores.ts';
import { releaseContent } from './shared-contents.ts';

const kind = Uint8Array.of(5);
const afterKind = Uint8Array.of(6);
const untilAt = 1;
const contentAt = 9;
const slotAt = 17;
const countAt = 25;
const sizeAt = 33;

export interface Replaced extends SealedContent {
  readonly chunkCount: number;
  readonly size: number;
}

interface Kept extends Replaced {
  readonly key: Uint8Array;
  readonly untilNs: bigint;
}

/** Returns all kept contents in the order of their expiry. */
export function keptContents({ directory }: Stores): Kept[] {
  const start = directory.rank(kind);
  const count = directory.rank(afterKind) - start;
  const entries = count === 0 ? [] : directory.read(start, count);
  return entries.map(({ key }) => {
    const view = new DataView(key.buffer, key.byteOffset);
    return {
      key,
      untilNs: view.getBigUint64(untilAt),
      contentId: Number(view.getBigUint64(contentAt)),
      keySlot: Number(view.getBigUint64(slotAt)),
      chunkCount: Number(view.getBigUint64(countAt)),
      size: Number(view.getBigUint64(sizeAt)),
    };
  });
}

/** Keeps the content; returns false, without a change, if a limit is reached. */
export function keepContent(stores: Stores, content: Replaced, untilNs: bigint): boolean {
  const kept = keptContents(stores);
  const bytes = kept.reduce((sum, { size }) => sum + size, content.size);
  if (kept.length >= keptContentCountMax || bytes > keptContentBytesMax) {
    return false;
  }
  const numbers = [content.contentId, content.keySlot, content.chunkCount, content.size];
  const key = concatBytes(kind, u64Key(untilNs), ...numbers.map((number) => u64Key(number)));
  stores.directory.insert(key, 0n);
  return true;
}

/** Releases one expired content; true if more may have expired. */
export function releaseKept(stores: Stores, nowNs: bigint): boolean {
  const first = keptContents(stores)[0];
  if (first === undefined || first.untilNs > nowNs) {
    return false;
  }
  stores.directory.remove(first.key);
  releaseContent(stores, first);
  return true;
}
