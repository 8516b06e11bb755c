// The end of an upload session: completed, cancelled or expired. Completion turns the chunks into
// the file at the session's path; a refused completion keeps the session and every chunk.

import { present } from '../../lib/assert.ts';
import { bytesEqual } from '../../lib/bytes.ts';
import { type Bucket, findBucket } from '../buckets/buckets.ts';
import { checkQuota, overheadBytesOf } from '../buckets/quota.ts';
import { discardContent, readContent } from '../contents/contents.ts';
import { saveDigestTable } from '../contents/digest-tables.ts';
import { leavesOfHashing, leavesOfRenewal } from '../files/bulk-work.ts';
import { commitFile } from '../files/file-records.ts';
import { checkSiteFile } from '../files/site-headers.ts';
import { shownToWriter, uploadedFields, type WrittenFile } from '../files/written-files.ts';
import { eraseFileKey, withFileKey } from '../keys/file-keys.ts';
import type { ApiKey } from '../rights/api-keys.ts';
import { chargeWork } from '../rights/key-budgets.ts';
import { isOwner } from '../rights/ownership.ts';
import type { SentKey } from '../rights/rights.ts';
import { countFiles } from '../rights/upload-bounds.ts';
import { requireAgeSize } from '../shared/age-format.ts';
import type { Call } from '../shared/caller.ts';
import { type Metadata, mergeMetadata } from '../shared/file-metadata.ts';
import type { WritePreconditions } from '../shared/preconditions.ts';
import type { Stores } from '../shared/stores.ts';
import { forgetToken, forgetUpload, openUploadsOf } from './open-uploads.ts';
import { releaseDigests } from './upload-digests.ts';
import { scheduleExpiry, takeDueSession } from './upload-expiry.ts';
import {
  completedFile,
  layoutOf,
  newFileOf,
  requireTag,
  requireWhole,
  verifyFile,
} from './upload-file.ts';
import { parseFileDigest, requireVerifiable } from './upload-options.ts';
import {
  deleteSession,
  expiresAtNs,
  getSession,
  saveSession,
  type UploadSession,
} from './upload-session.ts';
import {
  checkReplacement,
  closeUpload,
  continuedUpload,
  getUpload,
  keyOf,
  requireActive,
  requireStillAllowed,
  restsOnGoodKey,
  type UploadName,
  withUploadCounted,
} from './uploads.ts';

const expiredPerMessage = 4;

export interface Completion extends UploadName {
  readonly apiKey: SentKey;
  /** 64 hexadecimal digits of the whole file, checked before the file is stored. */
  readonly sha256?: string | undefined;
  /** The entity tag that the file will have, without quotes, checked before the file is stored. */
  readonly etag?: string | undefined;
  /** Preconditions at completion, in addition to those of the beginning. */
  readonly conditions?: WritePreconditions | undefined;
  /** Added to the session's metadata; replaces pairs with the same name. */
  readonly metadata?: Metadata | undefined;
}

export interface CompletedUpload extends WrittenFile {
  readonly session: UploadSession;
}

/** Turns the chunks into the file at the session's path; a repetition returns the same result. */
export function completeUpload(stores: Stores, call: Call, request: Completion): UploadSession {
  return finishUpload(stores, call, request).session;
}

/** Like completeUpload(), with the file. A repetition returns the same record with isNew false. */
export function finishUpload(stores: Stores, call: Call, request: Completion): CompletedUpload {
  const {
    begun,
    session,
    digests,
    payer,
    key: owner,
    old,
  } = checkCompletion(stores, call, request);
  if (session.status === 'completed') {
    const completed = { file: completedFile(session), isNew: false };
    return { session, ...shownToUploader(stores, session, completed) };
  }
  const layout = layoutOf(stores, session);
  requireTag({ session, layout }, request.etag);
  if (digests.length > 0) {
    // Before the check, because a wrong digest costs as much and can be sent again and again
    const leaves = leavesOfHashing({ chunkCount: session.chunkIndexEnd, size: session.totalSize });
    chargeWork(stores, call, { key: payer, leaves });
  }
  verifyFile(stores, { session, layout }, digests);
  const open = present(findBucket(stores, session.bucketId), 'bucket of an upload');
  // The commit stores the bucket with the file counted and the upload removed
  const replaced = { nowNs: call.nowNs, bucket: withUploadCounted(open, begun, -1), old };
  const { file, record, isNew } = withFileKey(stores, { ...session, bucket: open }, (key) =>
    commitFile(stores, { ...newFileOf(session, layout), key }, replaced),
  );
  countFiles(stores, owner, 1);
  chargeWork(stores, call, { key: payer, leaves: leavesOfRenewal(open, file.path) });
  saveDigestTable(stores, session.contentId, layout.chunkDigests);
  if (session.isNoted) forgetUpload(stores, session);
  const completed: UploadSession = {
    ...releaseDigests(stores, session),
    status: 'completed',
    isSizeKnown: true,
    updatedAtNs: call.nowNs,
    chunkSize: layout.chunkSize,
    fileId: file.id,
    fileDigest: file.digest,
    fileVersion: file.version,
    fileCreatedAtNs: file.createdAtNs,
  };
  saveSession(stores, completed);
  return { session: completed, ...shownToUploader(stores, session, { file, record, isNew }) };
}

/** Returns what the key of the upload may see, because anybody with the id can complete it. */
function shownToUploader(
  stores: Stores,
  session: UploadSession,
  written: Omit<WrittenFile, 'hidden'>,
): WrittenFile {
  return shownToWriter({ key: keyOf(stores, session) }, written, uploadedFields);
}

/**
 * Refuses what finishUpload() would refuse, except for digest and tag of a file of several chunks;
 * changes nothing. A repetition needs the same right as the first call, and its key pays for it.
 * Returns the session before and after completion, and
 * the file that it replaces.
 */
export function checkCompletion(stores: Stores, call: Call, request: Completion) {
  const begun = continuedUpload(stores, call, request);
  const payer = requireStillAllowed(stores, call, { session: begun, apiKey: request.apiKey });
  if (begun.status === 'completed') {
    return { begun, session: begun, digests: [], payer, key: undefined, old: undefined };
  }
  requireActive(begun, call.nowNs);
  const session = withMetadata(begun, request.metadata);
  const sent = parseFileDigest(request.sha256, session.totalSize);
  const digests = [session.sha256, sent].filter((digest) => digest.length > 0);
  if (digests.length > 0) requireVerifiable(session.totalSize);
  requireWhole(stores, session);
  // The first chunk was checked when it was received.
  const bucket = present(findBucket(stores, session.bucketId), 'bucket of an upload');
  if (bucket.isEndToEnd) requireAgeSize(bucket.id, session.totalSize);
  checkSiteFile(bucket, { path: session.path, size: session.totalSize }, () =>
    contentOf(stores, bucket, session),
  );
  const key = begunBy(stores, session, payer);
  const { conditions } = request;
  const old = checkReplacement(stores, call, { session, bucket, key, conditions });
  const bytes = overheadBytesOf(session) - overheadBytesOf(begun);
  checkQuota(bucket, { files: 0, bytes });
  if (session.chunkIndexEnd <= 1) {
    const layout = layoutOf(stores, session);
    requireTag({ session, layout }, request.etag);
    verifyFile(stores, { session, layout }, digests);
  }
  return { begun, session, digests, payer, key, old };
}

/** Returns the key that began the session, which usually is the one that pays for its end. */
function begunBy(stores: Stores, session: UploadSession, payer: ApiKey | undefined) {
  const isPayer = payer !== undefined && bytesEqual(payer.hash, session.keyHash);
  return isPayer ? payer : keyOf(stores, session);
}

/** Returns the bytes of a short file whose chunks have arrived. */
function contentOf(stores: Stores, bucket: Bucket, session: UploadSession): Uint8Array {
  const { contentId, totalSize: size, chunkSize } = session;
  const content = { contentId, size, chunkSize: Math.max(chunkSize, 1) };
  return withFileKey(stores, { ...session, bucket }, (key) =>
    readContent(stores, content, { start: 0, end: size, key }),
  );
}

function withMetadata(session: UploadSession, brought: Metadata | undefined): UploadSession {
  if (brought === undefined) return session;
  return { ...session, metadata: mergeMetadata(session.metadata, brought) };
}

/** Refuses what cancelUpload() would refuse; changes nothing. */
export function checkCancellation(stores: Stores, call: Call, name: UploadName): UploadSession {
  const session = getUpload(stores, call, name);
  // Over HTTP, the sent key has already been checked and charged
  if (name.isOverHttp !== true && !isOwner(stores, call, session.bucketId)) {
    // A key whose budget is used up can still free the room of its open uploads, each once.
    const isOpen = session.status === 'active';
    const free = { ...call, charge: undefined };
    requireStillAllowed(stores, isOpen ? free : call, { session, apiKey: undefined });
  }
  if (session.status !== 'cancelled') {
    requireActive(session, call.nowNs);
  }
  return session;
}

/** Ends the session and frees its chunks; a repetition returns the same result. */
export function cancelUpload(stores: Stores, call: Call, name: UploadName): void {
  const session = checkCancellation(stores, call, name);
  if (session.status === 'active') {
    endSession(stores, { ...session, status: 'cancelled', updatedAtNs: call.nowNs });
  }
}

/** Cancels all open uploads of a bucket before its deletion. */
export function cancelUploadsOf(stores: Stores, call: Call, bucketId: string): void {
  for (const { uploadId } of openUploadsOf(stores, bucketId)) {
    const session = getSession(stores, uploadId);
    endSession(stores, { ...session, status: 'cancelled', updatedAtNs: call.nowNs });
  }
}

function endSession(stores: Stores, session: UploadSession): void {
  saveSession(stores, releaseDigests(stores, session));
  closeUpload(stores, session);
  eraseFileKey(stores, session);
  discardContent(stores, { contentId: session.contentId, chunkCount: session.chunkIndexEnd });
}

/**
 * Runs one bounded step of ending expired sessions and removing those that ended a day ago; true
 * while more may be left.
 */
export function expireUploads(stores: Stores, nowNs: bigint): boolean {
  for (let count = 0; count < expiredPerMessage; count++) {
    const due = takeDueSession(stores, nowNs);
    if (due === undefined) {
      return false;
    }
    if (due.session !== undefined) lookAt(stores, nowNs, { ...due, session: due.session });
  }
  return true;
}

function lookAt(
  stores: Stores,
  nowNs: bigint,
  { session, isDoomed }: { readonly session: UploadSession; readonly isDoomed: boolean },
): void {
  const isTimeOver = expiresAtNs(session) <= nowNs;
  const isActive = session.status === 'active';
  if (isActive && (isTimeOver || isDoomed || !restsOnGoodKey(stores, session, nowNs))) {
    const status = isTimeOver ? 'expired' : 'cancelled';
    const ended: UploadSession = { ...session, status, updatedAtNs: nowNs };
    endSession(stores, ended);
    scheduleExpiry(stores, ended);
  } else if (isTimeOver) {
    deleteSession(stores, session);
    forgetToken(stores, session);
  } else {
    scheduleExpiry(stores, session, isActive ? keyOf(stores, session)?.expiresAtNs : undefined);
  }
}
