// Rewrites records of an earlier version after an upgrade, a bounded step per message. It notes
// open uploads, moves the records of files and chunks out of their former maps, rewrites each
// file's record with the present fields, counts it in its bucket, and certifies it with the present
// header fields. Until then, old records are read where they are, in their own format. The progress
// is in stable memory, so the work continues after another upgrade.

import { present } from '../../lib/assert.ts';
import { encodeHex } from '../../lib/hex.ts';
import { decodeUtf8, encodeUtf8 } from '../../lib/text.ts';
import {
  movedRecordsPerMessage,
  upgradedChunksPerMessage,
  upgradedFilesPerMessage,
} from '../../limits.ts';
import { RecordReader, RecordWriter } from '../../storage/codec.ts';
import { bucketIdsAfter } from '../buckets/bucket-directory.ts';
import { findBucket, getBucket, saveBucket } from '../buckets/buckets.ts';
import { overheadBytesOf } from '../buckets/quota.ts';
import { saveDigestTable } from '../contents/digest-tables.ts';
import { decodeFile, fileMapKey, isUpgraded } from '../files/file-layout.ts';
import { renewLeaves } from '../files/leaf-renewal.ts';
import { unlessDamaged } from '../keys/wrapped-keys.ts';
import { pathsAfter } from '../listing/file-index.ts';
import { unlessRefused } from '../shared/refusal.ts';
import type { Stores } from '../shared/stores.ts';
import { noteUpload } from '../uploads/open-uploads.ts';
import { getSession, saveSession } from '../uploads/upload-session.ts';
import { reservedBytes } from '../uploads/uploads.ts';

const stages = ['uploads', 'records', 'files', 'done'] as const;
type Stage = (typeof stages)[number];

interface Progress {
  readonly stage: Stage;
  /** Position of the next upload, unless uploads have begun or ended since. */
  readonly position: number;
  /** The last file that was processed; in the stage `uploads` the id of the last upload. */
  readonly bucketId: string;
  readonly path: string;
}

// 0: version 1 | target u8 | stage u8 | position u32 | 0 u32 | texts: bucket id, path; in the meta
// map
const version = 1;
const unusedBytes = 4;
const metaKey = 'recordUpgrade';
/** Increases with each change that requires rewriting records. */
const target = 5;
const beginning: Progress = { stage: 'uploads', position: 0, bucketId: '', path: '' };

function readProgress(stores: Stores): Progress {
  const stored = stores.meta.get(encodeUtf8(metaKey));
  if (stored === undefined) {
    return beginning;
  }
  const reader = new RecordReader(stored, version);
  if (reader.u8() !== target) return beginning;
  const stage = present(stages[reader.u8()], 'stage of the upgrade of records');
  const position = reader.u32();
  const [bucketId = '', path = ''] = reader.skip(unusedBytes).texts();
  return { stage, position, bucketId, path };
}

function saveProgress(stores: Stores, progress: Progress): void {
  const { stage, position, bucketId, path } = progress;
  const writer = new RecordWriter(version).u8(target).u8(stages.indexOf(stage)).u32(position);
  stores.meta.set(encodeUtf8(metaKey), writer.zeros(unusedBytes).finish([bucketId, path]));
}

/** Marks the upgrade as done in a new canister, which has no records of an earlier version. */
export function skipUpgrade(stores: Stores): void {
  saveProgress(stores, { ...beginning, stage: 'done' });
}

/** Whether the former maps are empty, so that the index of records has the sizes of all files. */
export function areRecordsMoved(stores: Stores): boolean {
  return stages.indexOf(readProgress(stores).stage) > stages.indexOf('records');
}

/**
 * Whether the former maps may have records. Also if the progress is unreadable: an upgrade of the
 * canister must not fail for it.
 */
export function mayHaveFormerRecords(stores: Stores): boolean {
  try {
    return !areRecordsMoved(stores);
  } catch {
    return true;
  }
}

/** Runs one bounded step; true while more is left. */
export function upgradeRecords(stores: Stores, nowNs: bigint): boolean {
  const progress = readProgress(stores);
  if (progress.stage === 'done') {
    return false;
  }
  const next = stepOf(progress.stage)(stores, progress, nowNs);
  saveProgress(stores, next);
  return next.stage !== 'done';
}

type Step = (stores: Stores, progress: Progress, nowNs: bigint) => Progress;

function stepOf(stage: Exclude<Stage, 'done'>): Step {
  switch (stage) {
    case 'uploads':
      return noteUploads;
    case 'records':
      return moveRecords;
    case 'files':
      return upgradeFiles;
  }
}

/** One pass is enough: it proceeds by id, and every later upload begins with an entry. */
function noteUploads(stores: Stores, progress: Progress): Progress {
  const position = positionAfter(stores, progress);
  const ids = stores.uploads.keys(position, upgradedFilesPerMessage).map(encodeHex);
  for (const id of ids) noteOpenUpload(stores, id);
  const last = ids[upgradedFilesPerMessage - 1];
  return last === undefined
    ? { ...beginning, stage: 'records' }
    : { ...progress, position: position + ids.length, path: last };
}

/**
 * Returns a position that skips no upload after the last one. Uploads that ended since have moved
 * later ones to lower positions, so it goes back until it finds the last one or an earlier one.
 */
function positionAfter(stores: Stores, { position, path: last }: Progress): number {
  // An earlier build kept no id
  if (last === '') return 0;
  for (let at = position; at > 0; at = Math.max(0, at - upgradedFilesPerMessage)) {
    const [before] = stores.uploads.keys(at - 1, 1);
    if (before !== undefined && encodeHex(before) <= last) return at;
  }
  return 0;
}

/** Adds an upload's entry in the directory. A repetition changes nothing. */
function noteOpenUpload(stores: Stores, uploadId: string): void {
  const session = getSession(stores, uploadId);
  if (session.isNoted || session.status !== 'active') return;
  const noted = { ...session, isNoted: true };
  const bytes = reservedBytes(noted);
  const bucket = getBucket(stores, session.bucketId);
  const openUploadByteCount = bucket.openUploadByteCount - reservedBytes(session) + bytes;
  saveBucket(stores, { ...bucket, openUploadByteCount }, bucket);
  saveSession(stores, noted);
  noteUpload(stores, noted, bytes);
}

/** Returns the bucket's next files; none before the first bucket and after its last file. */
function nextPaths(stores: Stores, progress: Progress, limit: number): string[] {
  return progress.bucketId === '' ? [] : pathsAfter(stores, progress, limit);
}

/** Moves on to the next bucket, or after the last one to the next stage. */
function afterBucket(stores: Stores, progress: Progress, nextStage: Stage): Progress {
  const [next] = bucketIdsAfter(stores.directory, progress.bucketId, 1);
  return next === undefined
    ? { ...beginning, stage: nextStage }
    : { ...progress, bucketId: next, path: '' };
}

function moveRecords(stores: Stores, progress: Progress): Progress {
  const hasMore = stores.records.moveFormer(movedRecordsPerMessage, sizeOf);
  return hasMore ? progress : { ...beginning, stage: 'files' };
}

/** Returns the size of the file of a record; 0 if the record is damaged. */
function sizeOf(key: Uint8Array, record: Uint8Array): number {
  const [bucketId = '', path = ''] = (decodeUtf8(key) ?? '').split('\0');
  return unlessRefused(() => decodeFile(bucketId, path, record))?.size ?? 0;
}

function upgradeFiles(stores: Stores, progress: Progress, nowNs: bigint): Progress {
  const { bucketId, path } = progress;
  const paths = nextPaths(stores, progress, upgradedFilesPerMessage);
  if (paths.length === 0) {
    return afterBucket(stores, progress, 'done');
  }
  let last = path;
  let chunks = 0;
  for (const each of paths) {
    if (chunks >= upgradedChunksPerMessage) break;
    unlessDamaged(() => {
      chunks += upgradeFile(stores, { bucketId, path: each, nowNs });
    });
    last = each;
  }
  return { ...progress, path: last };
}

/** Returns the number of chunks that it read. A damaged file stays unchanged. */
function upgradeFile(
  stores: Stores,
  named: { readonly bucketId: string; readonly path: string; readonly nowNs: bigint },
): number {
  const { bucketId, path, nowNs } = named;
  const bytes = stores.records.get(fileMapKey(bucketId, path));
  if (bytes === undefined || isUpgraded(bytes)) {
    return 0;
  }
  const bucket = present(findBucket(stores, bucketId), 'bucket of a file');
  const { file, digests } = renewLeaves(stores, bucket, { path, bytes, nowNs });
  saveDigestTable(stores, file.contentId, digests);
  const overheadBytes = bucket.overheadBytes + overheadBytesOf(file);
  saveBucket(stores, { ...bucket, overheadBytes }, bucket);
  return file.chunkCount;
}
