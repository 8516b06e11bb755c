// Copying and moving files: the work does not grow with their size. A copy has the content of what
// it was made from; its bucket wraps the content's key once more (contents/shared-contents.ts).

import { authorize, type SentKey } from '../access/access.ts';
import { type Bucket, getBucket } from '../buckets/buckets.ts';
import { checkQuota, overheadBytesOf } from '../buckets/quota.ts';
import { chunkDigests } from '../contents/digest-tables.ts';
import { releaseContent, shareContent } from '../contents/shared-contents.ts';
import { addFileKey } from '../keys/file-keys.ts';
import type { Call } from '../shared/caller.ts';
import { parseFilePath } from '../shared/names.ts';
import { checkWritePreconditions, type WritePreconditions } from '../shared/preconditions.ts';
import { Refusal } from '../shared/refusal.ts';
import { nextContentId, type Stores } from '../shared/stores.ts';
import { readableBucket, refuseMissing } from './file-access.ts';
import {
  type Committed,
  commitFile,
  entityTag,
  type FileRecord,
  findFile,
  leavePath,
  type NewFile,
  withOpenFile,
} from './files.ts';
import { checkLinkMove, moveLinks } from './links.ts';
import { countedBytes, freedBytes } from './versions.ts';

export interface CopyRequest {
  /** Where the file is now. */
  readonly bucket: string;
  readonly from: string;
  readonly to: {
    /** The same one where it is absent. */
    readonly bucket?: string | undefined;
    readonly path: string;
  };
  /** Of what is at the new path now. */
  readonly conditions: WritePreconditions;
  readonly apiKey: SentKey;
}

type Kind = 'copy' | 'move';

export interface CopiedFile {
  readonly file: FileRecord;
  /** Nothing was at the new path before. */
  readonly isNew: boolean;
}

interface Prepared {
  readonly source: Bucket;
  readonly target: Bucket;
  readonly file: FileRecord;
  readonly path: string;
  readonly old: FileRecord | undefined;
}

/** Refuses what copyFile() or moveFile() would refuse, but for damaged files; changes nothing. */
export function checkCopy(stores: Stores, call: Call, kind: Kind, request: CopyRequest): Prepared {
  const { apiKey } = request;
  const to = request.to.bucket ?? request.bucket;
  const claim = { bucket: to, path: request.to.path, permission: 'write', apiKey } as const;
  const { bucket: target, key } = authorize(stores, call, claim);
  const source = sourceOf(stores, call, kind, { ...request, apiKey: key });
  const from = parseFilePath(request.from);
  const path = parseFilePath(request.to.path);
  if (source.id === target.id && from === path) {
    throw new Refusal('InvalidArgument', 'The file is there already: name another path or bucket.');
  }
  if (target.isEndToEnd && source.id !== target.id) throw foreignFile(target);
  const file = findFile(stores, source.id, from) ?? refuseMissing(source, from);
  const old = findFile(stores, target.id, path);
  checkWritePreconditions(old && entityTag(old), request.conditions);
  const goes = kind === 'move' && source.id === target.id;
  const added = file.size + overheadBytesOf({ ...file, bucketId: target.id, path });
  checkQuota(target, {
    files: old === undefined && !goes ? 1 : 0,
    bytes: added - freedBytes(target, old) - (goes ? countedBytes(file) : 0),
  });
  if (goes && old !== undefined) checkLinkMove(stores, source, { from, to: path }, call.nowNs);
  return { source, target, file, path, old };
}

/** Also of one that is end-to-end itself: it is encrypted for others. */
function foreignFile({ id }: Bucket): Refusal {
  return new Refusal(
    'NotEncrypted',
    `Bucket ${id} is end-to-end encrypted, and its members could not open what comes from another ` +
      'bucket: download the file, with efs get, and put it, with efs put.',
  );
}

/** For those who may read it, and, to move it, delete it. */
function sourceOf(stores: Stores, call: Call, kind: Kind, request: CopyRequest): Bucket {
  const { bucket, from: path, apiKey } = request;
  if (kind === 'copy') return readableBucket(stores, call, { bucket, path, apiKey });
  authorize(stores, call, { bucket, path, permission: 'read', apiKey });
  return authorize(stores, call, { bucket, path, permission: 'delete', apiKey }).bucket;
}

/** The copy has type, tags, headers and metadata of the file, and times of its own. */
export function copyFile(stores: Stores, call: Call, request: CopyRequest): CopiedFile {
  const prepared = checkCopy(stores, call, 'copy', request);
  return putCopy(stores, call, prepared, undefined);
}

/** The file keeps its id, and the time at which it was made, unless it replaces another one. */
export function moveFile(stores: Stores, call: Call, request: CopyRequest): CopiedFile {
  const prepared = checkCopy(stores, call, 'move', request);
  const { id, createdAtNs } = prepared.file;
  const moved = putCopy(stores, call, prepared, { id, createdAtNs });
  const { source, target, file } = prepared;
  if (source.id !== target.id) {
    leavePath(stores, source, file);
    releaseContent(stores, file);
    return moved;
  }
  // Within a bucket it takes its links and its key along
  if (source.linkCount > 0) moveLinks(stores, source, file.path, moved.file);
  leavePath(stores, source.linkCount > 0 ? getBucket(stores, source.id) : moved.bucket, file);
  return moved;
}

/** Refuses with IntegrityError, before it writes, what does not open. */
function putCopy(
  stores: Stores,
  call: Call,
  { source, target, file: named, path, old }: Prepared,
  origin: NewFile['origin'],
): Committed {
  const copy = withOpenFile(stores, { bucket: source, path: named.path }, ({ file, key }) => {
    const digests = chunkDigests(stores, file);
    const isTaken = origin !== undefined && source.id === target.id;
    const keySlot = isTaken ? file.keySlot : addShare(stores, target, { ...file, key });
    const sealNumber = nextContentId(stores);
    const placed = { ...file, bucketId: target.id, path, keySlot };
    const newFile = { ...placed, chunkDigests: digests, key, sealNumber, origin };
    return commitFile(stores, newFile, { nowNs: call.nowNs, bucket: target, old });
  });
  return copy ?? refuseMissing(source, named.path);
}

/** A slot more for the content's key, wrapped by that bucket's. */
function addShare(
  stores: Stores,
  bucket: Bucket,
  content: { readonly contentId: number; readonly key: Uint8Array },
): number {
  const keySlot = addFileKey(stores, bucket, content);
  shareContent(stores, content.contentId);
  return keySlot;
}
