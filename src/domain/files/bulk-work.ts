// The cost of a message that moves, deletes or replaces many files, in units of one written
// certified leaf (0.11 M instructions). A file has a leaf for each chunk, and each of its links has
// as many. The other constants convert measurements by the replica's instruction counter to this
// unit.

import { bulkLeavesPerMessage } from '../../limits.ts';
import type { Bucket } from '../buckets/buckets.ts';
import type { Stores } from '../shared/stores.ts';
import type { FileRecord } from './file-layout.ts';
import { countLinks } from './link-records.ts';

/** A record, its index entries and its seal: 9 M instructions per move, 4 M per deletion. */
const movedFileLeaves = 80;
const deletedFileLeaves = 40;
/** A link's record and its entries: 2 M instructions per move, 0.7 M per deletion. */
const movedLinkLeaves = 18;
const deletedLinkLeaves = 8;
/** Cost of removing a leaf, relative to writing one. */
const deletedPerWritten = 0.6;

/** Returns the cost of moving a file onto a free path or over another file. */
export function leavesOfMove(
  stores: Stores,
  bucket: Bucket,
  { file, old }: { readonly file: FileRecord; readonly old: FileRecord | undefined },
): number {
  const links =
    countLinks(stores, bucket, file.path) + (old ? countLinks(stores, bucket, old.path) : 0);
  const written = (1 + links) * chunksOf(file) + (old === undefined ? 0 : chunksOf(old));
  return movedFileLeaves + links * movedLinkLeaves + written;
}

export function leavesOfDeletion(stores: Stores, bucket: Bucket, file: FileRecord): number {
  const links = countLinks(stores, bucket, file.path);
  return deletedFileLeaves + links * deletedLinkLeaves + chunksOf(file) * deletedPerWritten;
}

/** Returns the cost of removing what a new file of one chunk replaces. */
export function leavesOfReplacement(stores: Stores, bucket: Bucket, old: FileRecord): number {
  const links = countLinks(stores, bucket, old.path);
  return links * movedLinkLeaves + (1 + links) * chunksOf(old) * deletedPerWritten;
}

function chunksOf({ chunkCount }: FileRecord): number {
  return Math.max(1, chunkCount);
}

export interface WorkLimit {
  /** Always true until work was counted; once it was false, it stays false. */
  fits(leaves: number): boolean;
  /** Counts work that was done. Do not count failed work, which wrote nothing. */
  spend(leaves: number): void;
}

export function createWorkLimit(): WorkLimit {
  let spent = 0;
  let isFull = false;
  return {
    fits(leaves) {
      isFull ||= spent > 0 && spent + leaves > bulkLeavesPerMessage;
      return !isFull;
    },
    spend(leaves) {
      spent += leaves;
    },
  };
}
