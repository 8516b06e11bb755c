// The cost of a message that moves, deletes, replaces or erases many files, in units of one written
// certified leaf (0.11 M instructions). A file has a leaf for each chunk, and each of its links has
// as many. A content that no record shares any longer frees its first chunks at once. The other
// constants convert measurements by the replica's instruction counter to this unit.

import { bulkLeavesPerMessage, reclaimedChunksPerMessage } from '../../limits.ts';
import type { Bucket } from '../buckets/buckets.ts';
import { sharesOf } from '../contents/shared-contents.ts';
import type { Stores } from '../shared/stores.ts';
import type { FileRecord } from './file-fields.ts';
import { countLinks } from './link-records.ts';
import { headersPath } from './site-headers.ts';
import { addressesOf } from './site-paths.ts';

/** A record, its index entries and its seal: 9 M instructions per move, 4 M per deletion. */
const movedFileLeaves = 80;
const deletedFileLeaves = 40;
/** A link's record and its entries: 2 M instructions per move, 0.7 M per deletion. */
const movedLinkLeaves = 18;
const deletedLinkLeaves = 8;
/** Cost of removing a leaf, relative to writing one. */
const deletedPerWritten = 0.6;
/** Freeing the storage of a full chunk: 2.5 M instructions. */
const freedChunkLeaves = 23;
/** Sealing a record again and publishing its leaves: 4 M instructions. */
export const renewedFileLeaves = 36;
/** Publishing an address of a site besides a file's path: 2 M instructions. */
const addressLeaves = 18;
/** A line of the digest of files, see folder-digest.ts: 0.3 M instructions. */
const digestedFileLeaves = 3;
/** Looking up, decrypting and hashing a chunk: 0.5 M instructions, and 0.1 M per 1,000 bytes. */
const hashedChunkLeaves = 5;
const hashedBytesPerLeaf = 1_000;

/** Returns the cost of moving a file onto a free path or over another file. */
export function leavesOfMove(
  stores: Stores,
  bucket: Bucket,
  { file, old }: { readonly file: FileRecord; readonly old: FileRecord | undefined },
): number {
  const links =
    countLinks(stores, bucket, file.path) + (old ? countLinks(stores, bucket, old.path) : 0);
  const written = (1 + links) * chunksOf(file) + (old === undefined ? 0 : chunksOf(old));
  const freed = old === undefined ? 0 : leavesOfRetirement(stores, bucket, old);
  return movedFileLeaves + links * movedLinkLeaves + written + freed;
}

/** Returns the cost of a move to a path with further addresses. */
export function leavesOfAddresses({ isSite }: Bucket, path: string): number {
  return isSite ? addressesOf(path).length * addressLeaves : 0;
}

/** Returns the cost of the digest of so many files. */
export function leavesOfDigest(files: number): number {
  return files * digestedFileLeaves;
}

export function leavesOfDeletion(stores: Stores, bucket: Bucket, file: FileRecord): number {
  const links = countLinks(stores, bucket, file.path);
  const removed = links * deletedLinkLeaves + chunksOf(file) * deletedPerWritten;
  return deletedFileLeaves + removed + leavesOfRetirement(stores, bucket, file);
}

/** Returns the cost of erasing a former version; `undefined` is a damaged one. */
export function leavesOfErasure(stores: Stores, file: FileRecord | undefined): number {
  return deletedFileLeaves + (file === undefined ? 0 : leavesOfRelease(stores, file));
}

/** Returns the cost of writing all leaves of the file and its links again. */
export function leavesOfChange(stores: Stores, bucket: Bucket, file: FileRecord): number {
  return (1 + countLinks(stores, bucket, file.path)) * chunksOf(file);
}

/** Returns the cost of renewing all files of a site after a change of its `_headers`. */
export function leavesOfRenewal({ isSite, fileCount }: Bucket, path: string): number {
  return isSite && path === headersPath ? fileCount * renewedFileLeaves : 0;
}

/** Returns the cost of reading a content to determine the digest of its bytes. */
export function leavesOfHashing(content: {
  readonly chunkCount: number;
  readonly size: number;
}): number {
  return content.chunkCount * hashedChunkLeaves + content.size / hashedBytesPerLeaf;
}

/** Returns the cost of removing what a new file of one chunk replaces. */
export function leavesOfReplacement(stores: Stores, bucket: Bucket, old: FileRecord): number {
  const links = countLinks(stores, bucket, old.path);
  const removed = links * movedLinkLeaves + (1 + links) * chunksOf(old) * deletedPerWritten;
  return removed + leavesOfRetirement(stores, bucket, old);
}

/** Returns 0 in a bucket that stores the file as a former version, with its chunks. */
function leavesOfRetirement(stores: Stores, bucket: Bucket, file: FileRecord): number {
  return bucket.keepVersionsDays > 0 ? 0 : leavesOfRelease(stores, file);
}

/**
 * Returns the cost of the chunks that are freed at once. Only the last record of a content frees
 * them, so each counts its share: together, those of one message count at least what it frees.
 */
function leavesOfRelease(stores: Stores, { contentId, chunkCount }: FileRecord): number {
  const freed = Math.min(chunkCount, reclaimedChunksPerMessage);
  return (freed * freedChunkLeaves) / sharesOf(stores, contentId);
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
