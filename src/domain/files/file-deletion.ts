// Deletion of many files in one message, by their paths or by a prefix. A file that cannot be
// deleted has its own refusal, and stops nothing.

import { present } from '../../lib/assert.ts';
import { decodeUtf8, encodeUtf8 } from '../../lib/text.ts';
import { deletedFileCountMax, deletedPathBytesMax } from '../../limits.ts';
import { authorize, type SentKey } from '../access/access.ts';
import type { Bucket } from '../buckets/buckets.ts';
import { cursorOf, parseCursor } from '../listing/cursors.ts';
import { pathsWithPrefix } from '../listing/prefix-paths.ts';
import type { Call } from '../shared/caller.ts';
import { parseFilePath, parsePrefix } from '../shared/names.ts';
import { Refusal } from '../shared/refusal.ts';
import type { Stores } from '../shared/stores.ts';
import { refuseMissing } from './file-access.ts';
import { findFile, removeFile } from './files.ts';

/** What is to go: either `paths`, or all that begins with `prefix`, from a cursor on. */
export interface Deletion {
  readonly paths?: readonly string[] | undefined;
  /** To the letter; the empty one empties the bucket. */
  readonly prefix?: string | undefined;
  /** What the last call by this prefix gave: it stands for a name. */
  readonly cursor?: string | undefined;
}

export interface BucketClaim {
  readonly bucket: string;
  readonly apiKey: SentKey;
}

/** The file of that path, as it was sent, is deleted; or why not. */
export interface DeletionResult {
  readonly path: string;
  readonly refusal?: Refusal | undefined;
}

export interface Deleted {
  readonly results: readonly DeletionResult[];
  /** For the next call by prefix; absent when nothing is left behind the last of the results. */
  readonly nextCursor?: string | undefined;
}

/** Refuses who may not delete in the bucket; changes nothing. */
export function authorizeDeletion(stores: Stores, call: Call, claim: BucketClaim): Bucket {
  return authorize(stores, call, { ...claim, permission: 'delete' }).bucket;
}

/**
 * Refuses a deletion that says no files, or too many, with InvalidArgument; a path that cannot be
 * deleted is no reason.
 */
export function checkDeletionRequest({ paths, prefix, cursor }: Deletion): void {
  if ((paths === undefined) === (prefix === undefined)) {
    throw new Refusal(
      'InvalidArgument',
      'Say which files: either "paths", a list of them, or "prefix", with which the paths of all ' +
        'that are meant begin. The prefix "" empties the bucket.',
    );
  }
  if (paths !== undefined && (cursor !== undefined || paths.length > deletedFileCountMax)) {
    throw new Refusal(
      'InvalidArgument',
      `One call deletes at most ${deletedFileCountMax} paths; a cursor goes with a prefix.`,
    );
  }
  if (prefix !== undefined) parsePrefix(prefix);
  if (cursor !== undefined) parseCursor(cursor);
}

/** As many as one message may; whoever calls again with the cursor deletes the rest. */
export function deleteFiles(
  stores: Stores,
  call: Call,
  request: BucketClaim & { readonly read: () => Deletion },
): Deleted {
  const bucket = authorizeDeletion(stores, call, request);
  const deletion = request.read();
  checkDeletionRequest(deletion);
  const { paths, prefix = '', cursor } = deletion;
  const at = { bucket, nowNs: call.nowNs };
  if (paths !== undefined) {
    return { results: deleteAll(stores, at, paths) };
  }
  const after = cursor === undefined ? '' : (decodeUtf8(parseCursor(cursor)) ?? '');
  const place = { bucketId: bucket.id, prefix, after };
  const found = pathsWithPrefix(stores, place, deletedFileCountMax);
  const told = withinBytes(found.paths);
  const results = deleteAll(stores, at, told);
  const hasMore = found.hasMore || told.length < found.paths.length;
  const last = hasMore ? told.at(-1) : undefined;
  return { results, nextCursor: last === undefined ? undefined : cursorOf(encodeUtf8(last)) };
}

/** The first ones, whose names fit into one answer. */
function withinBytes(paths: readonly Uint8Array[]): string[] {
  let bytes = 0;
  const fitting = paths.filter((path) => {
    bytes += path.length;
    return bytes <= deletedPathBytesMax;
  });
  return fitting.map((path) => present(decodeUtf8(path), 'path of a file'));
}

interface Granted {
  readonly bucket: Bucket;
  readonly nowNs: bigint;
}

function deleteAll(
  stores: Stores,
  { bucket: granted, nowNs }: Granted,
  paths: readonly string[],
): DeletionResult[] {
  let bucket = granted;
  return paths.map((path) => {
    try {
      bucket = deleteOne(stores, { bucket, nowNs }, path);
      return { path };
    } catch (error) {
      if (error instanceof Refusal) return { path, refusal: error };
      throw error;
    }
  });
}

/** Refuses before it writes; gives the bucket as it is then. */
function deleteOne(stores: Stores, { bucket, nowNs }: Granted, sent: string): Bucket {
  const path = parseFilePath(sent);
  const file = findFile(stores, bucket.id, path) ?? refuseMissing(bucket, path);
  return removeFile(stores, bucket, file, nowNs);
}
