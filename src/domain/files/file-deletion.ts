// Deletion of many files in one message, by paths or by a prefix. A file that cannot be deleted
// gets its own refusal and does not stop the others.

import { deletedFileCountMax } from '../../../packages/wire/src/limits.ts';
import { present } from '../../lib/assert.ts';
import { decodeUtf8, encodeUtf8 } from '../../lib/text.ts';
import { deletedPathBytesMax } from '../../limits.ts';
import type { Bucket } from '../buckets/buckets.ts';
import { cursorOf, parseCursor } from '../listing/cursors.ts';
import { pathsWithPrefix } from '../listing/prefix-paths.ts';
import { chargeWork } from '../rights/key-budgets.ts';
import {
  authorize,
  type Grant,
  requireBypassRight,
  requireWithin,
  type SentKey,
} from '../rights/rights.ts';
import type { Call } from '../shared/caller.ts';
import { parseFilePath, parsePrefix, quote } from '../shared/names.ts';
import { checkWritePreconditions } from '../shared/preconditions.ts';
import { Refusal, valueOrRefusal } from '../shared/refusal.ts';
import type { Stores } from '../shared/stores.ts';
import { createWorkLimit, leavesOfDeletion, leavesOfRenewal, type WorkLimit } from './bulk-work.ts';
import { entityTag, findFile, removeFile } from './file-records.ts';
import { refuseMissing } from './files.ts';
import type { Release } from './retention.ts';
import { requireRetirable } from './version-records.ts';

/** The files to delete: either `paths`, or all that begin with `prefix`, from the cursor on. */
export interface Deletion {
  readonly paths?: readonly string[] | undefined;
  /** Compared exactly; '' matches every file of the bucket. */
  readonly prefix?: string | undefined;
  /** The cursor that the previous call with this prefix returned; it contains the last path. */
  readonly cursor?: string | undefined;
  /** Entity tags as in If-Match, one of which the file must have; requires exactly one path. */
  readonly ifMatch?: string | undefined;
  /** For owners: deletes also files that are retained in governance mode. */
  readonly bypassesGovernance?: boolean | undefined;
}

export interface BucketClaim {
  readonly bucket: string;
  readonly apiKey: SentKey;
}

/** The outcome for one path, as sent; `refusal` is absent if the file was deleted. */
export interface DeletionResult {
  readonly path: string;
  readonly refusal?: Refusal | undefined;
}

export interface Deleted {
  readonly results: readonly DeletionResult[];
  /** Continues a call by prefix; absent after the last file. */
  readonly nextCursor?: string | undefined;
}

/** Refuses callers who may not delete anything in the bucket; changes nothing. */
export function authorizeDeletion(stores: Stores, call: Call, claim: BucketClaim): Grant {
  const { bucket, apiKey } = claim;
  return authorize(stores, call, { bucket, apiKey, permission: 'delete', place: 'later' });
}

export type DeletionRequest = BucketClaim & {
  /** Parses the request; called after the caller's right is checked. */
  readonly read: () => Deletion;
};

/** Refuses what deleteFiles() would refuse as a whole, but not single paths; changes nothing. */
export function checkDeletions(
  stores: Stores,
  call: Call,
  request: DeletionRequest,
): { readonly grant: Grant; readonly deletion: Deletion } {
  const grant = authorizeDeletion(stores, call, request);
  const deletion = request.read();
  checkWhich(deletion);
  const { prefix } = deletion;
  if (prefix !== undefined) requireWithin(grant, { prefix });
  const { bypassesGovernance } = deletion;
  const claim = { bucket: request.bucket, apiKey: grant.key, place: 'later' } as const;
  requireBypassRight(stores, call, { bypassesGovernance, claim });
  return { grant, deletion };
}

/** Refuses a request without files or with too many, with InvalidArgument. */
function checkWhich({ paths, prefix, cursor, ifMatch }: Deletion): void {
  if ((paths === undefined) === (prefix === undefined)) {
    throw new Refusal(
      'InvalidArgument',
      'Send either "paths", a list of files to delete, or "prefix", which deletes all files whose ' +
        'paths begin with it. The prefix "" empties the bucket.',
    );
  }
  if (paths !== undefined && (cursor !== undefined || paths.length > deletedFileCountMax)) {
    throw new Refusal(
      'InvalidArgument',
      `One call deletes at most ${deletedFileCountMax} paths, without a cursor; got ${paths.length}.`,
    );
  }
  if (ifMatch !== undefined && paths?.length !== 1) {
    throw new Refusal(
      'InvalidArgument',
      `ifMatch needs exactly one path, and the call has ${paths?.length ?? 'a prefix'}: send ` +
        'one call for each file.',
    );
  }
  if (prefix !== undefined) parsePrefix(prefix);
  if (cursor !== undefined) parseCursor(cursor);
}

/** Deletes as many files as one message can; the caller repeats the call with the cursor. */
export function deleteFiles(stores: Stores, call: Call, request: DeletionRequest): Deleted {
  const { grant, deletion } = checkDeletions(stores, call, request);
  const { paths, prefix = '', cursor, ifMatch, bypassesGovernance } = deletion;
  const at = { ...grant, call, nowNs: call.nowNs, ifMatch, bypassesGovernance };
  if (paths !== undefined) {
    return { results: deleteAll(stores, at, paths) };
  }
  const after = cursor === undefined ? '' : (decodeUtf8(parseCursor(cursor)) ?? '');
  const place = { bucketId: grant.bucket.id, prefix, after };
  const found = pathsWithPrefix(stores, place, deletedFileCountMax);
  const told = withinBytes(found.paths);
  const all = deleteAll(stores, at, told);
  const end = all.findIndex(({ refusal }) => refusal?.code === 'SlowDown');
  const results = end < 0 ? all : all.slice(0, end);
  const hasMore = found.hasMore || results.length < found.paths.length;
  const last = hasMore ? results.at(-1)?.path : undefined;
  return { results, nextCursor: last === undefined ? undefined : cursorOf(encodeUtf8(last)) };
}

/** Returns the first paths, as many as fit into one answer. */
function withinBytes(paths: readonly Uint8Array[]): string[] {
  let bytes = 0;
  const fitting = paths.filter((path) => {
    bytes += path.length;
    return bytes <= deletedPathBytesMax;
  });
  return fitting.map((path) => present(decodeUtf8(path), 'path of a file'));
}

interface Granted extends Grant, Release {
  readonly call: Call;
  readonly ifMatch: string | undefined;
}

/** Deletes as many files as fit into one message, and refuses the others with SlowDown. */
function deleteAll(stores: Stores, granted: Granted, paths: readonly string[]): DeletionResult[] {
  let { bucket } = granted;
  const limit = createWorkLimit();
  return paths.map((path) => {
    const left = valueOrRefusal(() => deleteOne(stores, { ...granted, bucket, limit }, path));
    if (left instanceof Refusal) return { path, refusal: left };
    bucket = left;
    return { path };
  });
}

type Limited = Granted & { readonly limit: WorkLimit };

/** Deletes one file and returns the changed bucket; refuses before it writes. */
function deleteOne(stores: Stores, granted: Limited, sent: string): Bucket {
  const { key, bucket, call, nowNs, limit, ifMatch } = granted;
  requireWithin(granted, { path: sent });
  const path = parseFilePath(sent);
  const found = findFile(stores, bucket.id, path) ?? refuseMissing(bucket, path);
  checkWritePreconditions(entityTag(found), { ifMatch });
  const file = requireRetirable(bucket, found, granted);
  const leaves = leavesOfDeletion(stores, bucket, file);
  if (!limit.fits(leaves)) {
    throw new Refusal(
      'SlowDown',
      `The files before ${quote(path)} already have as many chunks and links as one call can delete: delete ` +
        'this file in a further call.',
    );
  }
  const left = removeFile(stores, bucket, file, nowNs);
  limit.spend(leaves);
  chargeWork(stores, call, { key, leaves: leavesOfRenewal(left, path) });
  return left;
}
