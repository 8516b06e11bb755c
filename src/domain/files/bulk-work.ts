// The work of one message that moves or deletes many files, counted in certified leaves: to write
// one takes 0.11 M instructions. A file has a leaf for each of its chunks, and each of its links
// has as many. The other constants are what the replica's meter shows, in the same unit.

import { bulkLeavesPerMessage } from '../../limits.ts';
import type { Bucket } from '../buckets/buckets.ts';
import type { Stores } from '../shared/stores.ts';
import type { FileRecord } from './file-layout.ts';
import { countLinks } from './link-records.ts';

/** A record, its index entries and its seal: 9 M instructions to move them, 4 M to delete. */
const movedFileLeaves = 80;
const deletedFileLeaves = 40;
/** A link's record and its entries: 2 M instructions to move them, 0.7 M to delete. */
const movedLinkLeaves = 18;
const deletedLinkLeaves = 8;
/** To take a leaf away costs less than to write it. */
const deletedPerWritten = 0.6;

/** To move the file over another one, or onto a free path. */
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

function chunksOf({ chunkCount }: FileRecord): number {
  return Math.max(1, chunkCount);
}

export interface WorkLimit {
  /** The first piece of work always fits; once one does not, none does. */
  fits(leaves: number): boolean;
  /** Counts work that was done: what fails has written nothing. */
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
