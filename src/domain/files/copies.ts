// Copies and moves of files, without copying their bytes. A copy shares the content of its source;
// the destination bucket wraps the content's key again (contents/shared-contents.ts).

import { type Bucket, getBucket } from '../buckets/buckets.ts';
import { type Addition, checkQuota, overheadBytesOf } from '../buckets/quota.ts';
import { chunkDigests } from '../contents/digest-tables.ts';
import { releaseContent, shareContent } from '../contents/shared-contents.ts';
import { addFileKey } from '../keys/file-keys.ts';
import { chargeWork } from '../rights/key-budgets.ts';
import { authorize, type Grant, requireBypassRight, type SentKey } from '../rights/rights.ts';
import type { Call } from '../shared/caller.ts';
import { parseFilePath, parseNewPath } from '../shared/names.ts';
import {
  checkWritePreconditions,
  matchesTag,
  type WritePreconditions,
} from '../shared/preconditions.ts';
import { Refusal } from '../shared/refusal.ts';
import { nextContentId, type Stores } from '../shared/stores.ts';
import { leavesOfRenewal } from './bulk-work.ts';
import { type ChangedNotes, parseNotes } from './file-changes.ts';
import type { FileMetadata } from './file-fields.ts';
import {
  type Committed,
  commitFile,
  entityTag,
  type FileRecord,
  findFile,
  leavePath,
  type NewFile,
  noteFile,
  type OpenFile,
  withOpenFile,
} from './file-records.ts';
import { readableBucket, refuseMissing } from './files.ts';
import { checkLinkMove, moveLinks } from './link-records.ts';
import { requireNotHeld } from './retention.ts';
import {
  type FormerVersion,
  findVersion,
  freedBytes,
  requireRetirable,
  usedBytes,
} from './version-records.ts';
import { noSuchVersion, withFormer } from './versions.ts';
import { shownToWriter, type WrittenFile } from './written-files.ts';

/** A copy or move; the inherited fields replace those of the source. */
export interface CopyRequest extends ChangedNotes {
  /** The source's bucket. */
  readonly bucket: string;
  readonly from: string;
  /** The version to copy, present or former; only for copies. */
  readonly version?: number | undefined;
  /** `*` or quoted entity tags, one of which the source must have. */
  readonly ifSourceMatch?: string | undefined;
  readonly to: {
    /** Absent: the source's bucket. */
    readonly bucket?: string | undefined;
    readonly path: string;
  };
  /** Preconditions on the file at the new path. */
  readonly conditions: WritePreconditions;
  /** For owners: moves the file also while it is retained in governance mode. */
  readonly bypassesGovernance?: boolean | undefined;
  readonly apiKey: SentKey;
}

type Kind = 'copy' | 'move';

export interface PreparedCopy {
  /** The caller's right to write at the new path. */
  readonly grant: Grant;
  readonly source: Bucket;
  readonly target: Bucket;
  readonly file: FileRecord;
  /** The source, if it is a former version. */
  readonly former: FormerVersion | undefined;
  readonly changed: Partial<FileMetadata>;
  readonly path: string;
  readonly old: FileRecord | undefined;
  /** The usage that it adds to the target. */
  readonly addition: Addition;
}

/** Refuses what copyFile() or moveFile() would refuse, except damaged files; changes nothing. */
export function checkCopy(
  stores: Stores,
  call: Call,
  kind: Kind,
  request: CopyRequest,
): PreparedCopy {
  const prepared = prepareCopy(stores, call, kind, request);
  checkQuota(prepared.target, prepared.addition);
  return prepared;
}

/** Like checkCopy(), but leaves the quota to the caller, who may check a sum. */
export function prepareCopy(
  stores: Stores,
  call: Call,
  kind: Kind,
  request: CopyRequest,
): PreparedCopy {
  const { apiKey } = request;
  const to = request.to.bucket ?? request.bucket;
  const claim = { bucket: to, path: request.to.path, permission: 'write', apiKey } as const;
  const grant = authorize(stores, call, claim);
  const { bucket: target } = grant;
  const source = sourceOf(stores, call, kind, { ...request, apiKey: grant.key });
  const from = parseFilePath(request.from);
  const path = parseNewPath(request.to.path);
  const changed = parseNotes(target, request);
  const found = findSource(stores, source, { from, kind, version: request.version });
  const { former } = found;
  if (source.id === target.id && from === path && former === undefined) {
    throw new Refusal(
      'InvalidArgument',
      'Source and destination are the same file: name another path or bucket.',
    );
  }
  if (target.isEndToEnd && source.id !== target.id) throw foreignFile(target);
  requireSourceMatch(found.file, request);
  const present = findFile(stores, target.id, path);
  checkWritePreconditions(present && entityTag(present), request.conditions);
  const { nowNs } = call;
  const { bypassesGovernance } = request;
  // A moved file leaves its path and stores no former version there
  const file =
    kind === 'move' ? requireNotHeld(found.file, { nowNs, bypassesGovernance }) : found.file;
  const old = present && requireRetirable(target, present, { nowNs });
  const goes = kind === 'move' && source.id === target.id;
  const added = file.size + overheadBytesOf({ ...file, ...changed, bucketId: target.id, path });
  const addition = {
    files: (old === undefined ? 1 : 0) - (goes ? 1 : 0),
    bytes: added - freedBytes(target, old) - (goes ? usedBytes(file) : 0),
  };
  if (goes && old !== undefined) checkLinkMove(stores, source, { from, to: path }, call.nowNs);
  return { grant, source, target, file, former, changed, path, old, addition };
}

function requireSourceMatch(file: FileRecord, { ifSourceMatch }: CopyRequest): void {
  if (ifSourceMatch === undefined || matchesTag(ifSourceMatch, entityTag(file), 'strong')) return;
  const words = 'The entity tag of the source does not match ifSourceMatch.';
  throw new Refusal('PreconditionFailed', words);
}

interface Source {
  readonly from: string;
  readonly kind: Kind;
  readonly version: number | undefined;
}

/** Finds the source: the file, or the named version of it. */
function findSource(
  stores: Stores,
  bucket: Bucket,
  { from, kind, version }: Source,
): Pick<PreparedCopy, 'file' | 'former'> {
  if (version !== undefined && kind === 'move') {
    throw new Refusal(
      'InvalidArgument',
      'A former version cannot be moved, only copied: omit the version.',
    );
  }
  const named = { bucketId: bucket.id, path: from, version: version ?? 0 };
  const former = version === undefined ? undefined : findVersion(stores, named);
  const file = former?.file ?? findFile(stores, bucket.id, from);
  if (version !== undefined && file?.version !== version) throw noSuchVersion(named);
  return { file: file ?? refuseMissing(bucket, from), former };
}

/**
 * Returns the refusal of a file from another bucket: even an end-to-end one has other recipients.
 */
function foreignFile({ id }: Bucket): Refusal {
  return new Refusal(
    'NotEncrypted',
    `Bucket ${id} is end-to-end encrypted, and its members could not decrypt a file from another ` +
      'bucket: download the file with efs get, and upload it with efs put.',
  );
}

/** Returns the source's bucket to callers who may read it and, for a move, delete from it. */
function sourceOf(stores: Stores, call: Call, kind: Kind, request: CopyRequest): Bucket {
  const { bucket, from: path, version, apiKey, bypassesGovernance } = request;
  if (kind === 'copy' && version === undefined)
    return readableBucket(stores, call, { bucket, path, apiKey });
  const readable = authorize(stores, call, { bucket, path, permission: 'read', apiKey }).bucket;
  if (kind === 'copy') return readable;
  requireBypassRight(stores, call, { bypassesGovernance, claim: { bucket, path, apiKey } });
  return authorize(stores, call, { bucket, path, permission: 'delete', apiKey }).bucket;
}

/**
 * Copies a file. The copy has the source's type, tags, headers and metadata, except for fields in
 * the request, and its own times.
 */
export function copyFile(stores: Stores, call: Call, request: CopyRequest): WrittenFile {
  const prepared = checkCopy(stores, call, 'copy', request);
  const copied = putCopy(stores, call, prepared, undefined);
  const { grant, target, path } = prepared;
  chargeWork(stores, call, { key: grant.key, leaves: leavesOfRenewal(target, path) });
  return shownToWriter(prepared.grant, copied, []);
}

/** Moves a file. It keeps its id and creation time unless it replaces another file. */
export function moveFile(stores: Stores, call: Call, request: CopyRequest): WrittenFile {
  return moveChecked(stores, call, checkCopy(stores, call, 'move', request));
}

/** Like moveFile(), after checkCopy() accepted the request in the same message. */
export function moveChecked(stores: Stores, call: Call, prepared: PreparedCopy): WrittenFile {
  const { source, target, file, path } = prepared;
  const leaves = leavesOfRenewal(source, file.path) + leavesOfRenewal(target, path);
  chargeWork(stores, call, { key: prepared.grant.key, leaves });
  if (source.id === target.id) {
    return shownToWriter(prepared.grant, moveWithin(stores, call, prepared).moved, []);
  }
  const moved = putMoved(stores, call, prepared);
  noteFile(stores, 'file.deleted', file);
  leavePath(stores, source, file);
  releaseContent(stores, file);
  return shownToWriter(prepared.grant, moved, []);
}

/** Moves a file within its bucket, with its links and key. Returns the changed bucket too. */
export function moveWithin(
  stores: Stores,
  call: Call,
  prepared: PreparedCopy,
): { readonly moved: Committed; readonly bucket: Bucket } {
  const { source, file } = prepared;
  const moved = putMoved(stores, call, prepared);
  if (source.linkCount > 0) moveLinks(stores, source, file.path, moved.file);
  const left = source.linkCount > 0 ? getBucket(stores, source.id) : moved.bucket;
  return { moved, bucket: leavePath(stores, left, file) };
}

function putMoved(stores: Stores, call: Call, prepared: PreparedCopy): Committed {
  const { id, createdAtNs } = prepared.file;
  return putCopy(stores, call, prepared, { id, createdAtNs });
}

/** Refuses damaged files with IntegrityError before it writes. */
function putCopy(
  stores: Stores,
  call: Call,
  { source, target, file: named, former, changed, path, old }: PreparedCopy,
  origin: NewFile['origin'],
): Committed {
  const put = ({ file, key }: OpenFile): Committed => {
    const digests = chunkDigests(stores, file);
    const isTaken = origin !== undefined && source.id === target.id;
    const keySlot = isTaken ? file.keySlot : addShare(stores, target, { ...file, key });
    const sealNumber = nextContentId(stores);
    const placed = { ...file, ...changed, bucketId: target.id, path, keySlot };
    const newFile = { ...placed, chunkDigests: digests, key, sealNumber, origin };
    const from =
      origin === undefined
        ? {}
        : { from: source.id === target.id ? named.path : `${source.id}/${named.path}` };
    return commitFile(stores, newFile, { nowNs: call.nowNs, bucket: target, old, ...from });
  };
  const copy =
    former === undefined
      ? withOpenFile(stores, { bucket: source, path: named.path }, put)
      : withFormer(stores, { bucket: source, former }, put);
  return copy ?? refuseMissing(source, named.path);
}

/** Adds a slot for the content's key, wrapped by that bucket's key. */
function addShare(
  stores: Stores,
  bucket: Bucket,
  content: Pick<FileRecord, 'contentId' | 'thumbnail'> & { readonly key: Uint8Array },
): number {
  const keySlot = addFileKey(stores, bucket, content);
  shareContent(stores, content);
  return keySlot;
}
