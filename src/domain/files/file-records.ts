// The records of files. A new version replaces the record in one step; the bytes of the old one
// stay complete until then and are freed afterwards.

import { decodeUtf8, encodeUtf8 } from '../../lib/text.ts';
import { type Bucket, findServed, type ServedBucket, saveBucket } from '../buckets/buckets.ts';
import { defaultRetention } from '../buckets/retention-rules.ts';
import { damagedFile } from '../contents/chunk-records.ts';
import { readContent } from '../contents/contents.ts';
import { releaseContent } from '../contents/shared-contents.ts';
import type { BucketKeys } from '../keys/bucket-keys.ts';
import { withFileKey } from '../keys/file-keys.ts';
import { indexFile, unindexFile } from '../listing/file-index.ts';
import type { EntryKind } from '../shared/journal.ts';
import { parseBucketId, parseFilePath, quote } from '../shared/names.ts';
import { Refusal, unlessRefused } from '../shared/refusal.ts';
import type { Stores } from '../shared/stores.ts';
import { type FileRecord, fileId } from './file-fields.ts';
import {
  decodeFile,
  decodeHead,
  encodeFile,
  fileMapKey,
  isSealed,
  isUpgraded,
  laidOutJsonEnd,
  sealFile,
  unreadableFile,
} from './file-layout.ts';
import { type FileParts, fileParts } from './file-parts.ts';
import { dropLinks, publishLinks } from './link-records.ts';
import { requireReleased } from './retention.ts';
import { saveOwnHeaders, wantedLeaves, withOwnHeaders } from './site-header-records.ts';
import { mayBeOfSite, publishOfSite, unpublishOfSite } from './site-publication.ts';
import { countedOverhead, latestVersion, type Retired, retireFile } from './version-records.ts';

export type { FileMetadata, FileRecord } from './file-fields.ts';
export { entityTag } from './file-view.ts';

/** Returns the stored record without decrypting it, for replacing or deleting it. */
export function findFile(stores: Stores, bucketId: string, path: string): FileRecord | undefined {
  const bytes = stores.records.get(fileMapKey(bucketId, path));
  if (bytes === undefined) {
    return undefined;
  }
  const file = unlessRefused(() => decodeFile(bucketId, path, bytes));
  return file === undefined ? unreadableFile(bucketId, path) : withOwnHeaders(stores, file);
}

/** A file while it is read: its record, and its key, which is wiped afterwards. */
export interface OpenFile {
  readonly file: FileRecord;
  readonly key: Uint8Array;
}

/**
 * Opens a file for reading; returns `undefined` if it does not exist. Refuses with IntegrityError
 * if the record or its key was altered.
 */
export function withOpenFile<T>(
  stores: Stores,
  named: { readonly bucket: BucketKeys; readonly path: string },
  use: (opened: OpenFile) => T,
): T | undefined {
  const { bucket, path } = named;
  const mapKey = fileMapKey(bucket.id, path);
  const bytes = stores.records.get(mapKey);
  if (bytes === undefined) {
    return undefined;
  }
  return withFileKey(stores, { bucket, ...decodeHead(bytes) }, (key) => {
    if (!isSealed(bytes, mapKey, key)) {
      throw damagedFile();
    }
    return use({ file: withOwnHeaders(stores, decodeFile(bucket.id, path, bytes)), key });
  });
}

/**
 * Visits the records of existing files, by UTF-8 of their paths. Skips records that cannot be
 * shown, and paths without a record, which a damaged record leaves in the index of its tags. Stops
 * when `show` returns false, and returns how many paths it has visited.
 */
export function eachRecord(
  stores: Stores,
  named: { readonly bucketId: string; readonly paths: readonly Uint8Array[] },
  show: (bytes: Uint8Array, jsonEnd: number, path: Uint8Array) => boolean,
): number {
  let gone = 0;
  const keys = { head: fileMapKey(named.bucketId, ''), tails: named.paths };
  stores.records.each(keys, (stored, path) => {
    const bytes = stored && presentForm(stored, named.bucketId, path);
    const end = bytes === undefined ? 0 : laidOutJsonEnd(bytes);
    gone += 1;
    return bytes === undefined || end === 0 || show(bytes, end, path);
  });
  return gone;
}

/** Returns a record of release 0.1.0 as it will be after its upgrade, without a seal. */
function presentForm(bytes: Uint8Array, bucketId: string, path: Uint8Array): Uint8Array {
  if (isUpgraded(bytes)) return bytes;
  const file = unlessRefused(() => decodeFile(bucketId, decodeUtf8(path) ?? '', bytes));
  return file === undefined ? bytes : encodeFile(file);
}

/** Returns the shown fields of existing files' records, by UTF-8 of their paths. */
export function readFileParts(
  stores: Stores,
  bucketId: string,
  paths: readonly Uint8Array[],
): FileParts[] {
  const bucket = encodeUtf8(bucketId);
  const parts: FileParts[] = [];
  eachRecord(stores, { bucketId, paths }, (bytes, _, path) => {
    parts.push(fileParts(bytes, { bucketId: bucket, path }));
    return true;
  });
  return parts;
}

/** `record`: the file's record, if it is at hand. */
export function partsOfFile(file: FileRecord, record = encodeFile(file)): FileParts {
  return fileParts(record, { bucketId: encodeUtf8(file.bucketId), path: encodeUtf8(file.path) });
}

/**
 * Calls `use` with a file of a public bucket. A private file gives the error of a missing one.
 * `otherwise`: may replace this error if the bucket is public.
 */
export function withPublicFile<T extends object>(
  stores: Stores,
  named: { readonly bucket: string; readonly path: string },
  use: (opened: OpenFile) => T,
  otherwise?: (bucket: ServedBucket, path: string) => T | undefined,
): T {
  const path = parseFilePath(named.path);
  const bucket = findServed(stores, parseBucketId(named.bucket));
  const used = bucket?.isPublic
    ? (withOpenFile(stores, { bucket, path }, use) ?? otherwise?.(bucket, path))
    : undefined;
  if (used === undefined) {
    throw new Refusal(
      'NoSuchFile',
      `File ${quote(named.path)} does not exist in a public bucket ${named.bucket}.`,
    );
  }
  return used;
}

type History = Pick<FileRecord, 'id' | 'version' | 'createdAtNs' | 'updatedAtNs' | 'leavesVersion'>;

export type NewFile = Omit<FileRecord, keyof History> & {
  /** SHA-256 of each chunk, 32 bytes each. */
  readonly chunkDigests: Uint8Array;
  /** Key of the content, which seals the record. */
  readonly key: Uint8Array;
  /** Origin of a file that was moved, copied or restored. */
  readonly origin?: Origin | undefined;
  /** A number from nextContentId() that nothing else uses; for a new content, its id. */
  readonly sealNumber: number;
};

interface Origin extends Pick<FileRecord, 'id' | 'createdAtNs'> {
  /** The version number of the former file at this path; the new number is greater. */
  readonly version?: number;
}

/** The stored state that a commit replaces. */
export interface Replaced {
  readonly nowNs: bigint;
  readonly bucket: Bucket;
  readonly old: FileRecord | undefined;
  /** The former path, if the file was moved. */
  readonly from?: string;
}

/** A stored file, and its bucket with changed counts. */
export interface Committed {
  readonly file: FileRecord;
  /** Its record as bytes, for the answer. */
  readonly record: Uint8Array;
  /** Whether the path was free. */
  readonly isNew: boolean;
  readonly bucket: Bucket;
}

/** Stores the file at its path and replaces an existing one. */
export function commitFile(stores: Stores, newFile: NewFile, replaced: Replaced): Committed {
  const { bucket, old, nowNs } = replaced;
  const { file, record, former, linkBytes } = addVersion(stores, newFile, replaced);
  const counted = withFileCounted(bucket, file, { old, linkBytes });
  const retired = old && retireFile(stores, { bucket: counted, file: old, ...former, nowNs });
  const saved = retired ?? counted;
  saveBucket(stores, saved, bucket);
  noteFile(stores, kindOf(newFile, replaced), file, replaced.from);
  return { file, record, isNew: old === undefined, bucket: saved };
}

function kindOf({ origin }: NewFile, { from }: Replaced): EntryKind {
  if (from !== undefined) return 'file.moved';
  return origin?.version === undefined ? 'file.stored' : 'file.restored';
}

/** Adds an entry about the file to the journal. `from`: its former path, if it was moved. */
export function noteFile(
  stores: Stores,
  kind: EntryKind,
  { bucketId, path, version, digest }: Pick<FileRecord, 'bucketId' | 'path' | 'version' | 'digest'>,
  from?: string,
): void {
  const subject = from === undefined ? path : `${path}\0${from}`;
  stores.journal.note(bucketId, { kind, subject, version, digest });
}

/** A file at its path that its bucket has not counted yet. */
interface Placed {
  readonly file: FileRecord;
  readonly record: Uint8Array;
  /** The former file. */
  readonly former: Pick<Retired, 'record' | 'sequence'>;
  /** Additional bytes of its links. */
  readonly linkBytes: number;
}

/** Stores the record at its path, adds it to the index and publishes it. */
export function addVersion(stores: Stores, newFile: NewFile, replaced: Replaced): Placed {
  const { nowNs, bucket, old } = replaced;
  const { chunkDigests, key, origin, sealNumber, ...named } = newFile;
  const known = Math.max(old?.version ?? 0, origin?.version ?? 0);
  const latest = Math.max(known, latestVersion(stores, bucket, named.path));
  const file: FileRecord = {
    ...named,
    id: old?.id || origin?.id || fileId(sealNumber),
    version: latest + 1,
    createdAtNs: old?.createdAtNs || origin?.createdAtNs || nowNs,
    updatedAtNs: nowNs,
    ...wantedLeaves(stores, bucket, named.path),
    retention: defaultRetention(stores, bucket, { path: named.path, nowNs }),
  };
  return placeFile(stores, file, { chunkDigests, key, sealNumber }, replaced);
}

type Placement = Pick<NewFile, 'chunkDigests' | 'key' | 'sealNumber'> & {
  /** Sequence number of its former date in the index, if any. */
  readonly sequence?: number;
};

function placeFile(
  stores: Stores,
  file: FileRecord,
  { chunkDigests, key, sealNumber, sequence }: Placement,
  { nowNs, bucket, old }: Replaced,
): Placed {
  const mapKey = fileMapKey(file.bucketId, file.path);
  const bytes = encodeFile(file, { number: sealNumber, timeNs: nowNs });
  sealFile(bytes, mapKey, key);
  const replacedRecord = stores.records.set(mapKey, bytes, file.size);
  const former = { record: replacedRecord, sequence: indexFile(stores, file, { old, sequence }) };
  const isOfSite = mayBeOfSite(bucket, old);
  if (isOfSite) saveOwnHeaders(stores, file, file.siteHeaders);
  stores.publication.put(file, chunkDigests);
  if (isOfSite) {
    publishOfSite(stores, { bucket, path: file.path, digests: chunkDigests, key });
  }
  const linkBytes = publishLinks(stores, bucket, file, chunkDigests);
  return { file, record: bytes, former, linkBytes };
}

/**
 * Replaces the file, whose key is erased, by a former version that was already taken from the
 * stored ones. The version keeps its own number and dates. Returns the bucket.
 */
export function replaceByFormer(
  stores: Stores,
  { file, ...placement }: Placement & { readonly file: FileRecord },
  replaced: Replaced & { readonly old: FileRecord },
): Bucket {
  const { bucket, old } = replaced;
  requireReleased(old);
  const shown = { ...file, ...wantedLeaves(stores, bucket, file.path) };
  const { linkBytes } = placeFile(stores, shown, placement, replaced);
  releaseContent(stores, old);
  return withFileCounted(bucket, shown, { old, linkBytes });
}

/** Returns the bucket with the file counted in place of the old one. */
export function withFileCounted(
  bucket: Bucket,
  file: FileRecord,
  { old, linkBytes = 0 }: { readonly old: FileRecord | undefined; readonly linkBytes?: number },
): Bucket {
  const overheadBytes = Math.max(0, bucket.overheadBytes - countedOverhead(old));
  return {
    ...bucket,
    fileCount: bucket.fileCount + (old === undefined ? 1 : 0),
    byteCount: Math.max(0, bucket.byteCount - (old?.size ?? 0)) + file.size,
    overheadBytes: overheadBytes + countedOverhead(file) + linkBytes,
  };
}

/**
 * Removes the file from its path. If the bucket stores versions, the file becomes one; else its key
 * is erased at once and its space is freed step by step. Returns the changed bucket.
 */
export function removeFile(
  stores: Stores,
  bucket: Bucket,
  file: FileRecord,
  nowNs: bigint,
): Bucket {
  noteFile(stores, 'file.deleted', file);
  if (bucket.keepVersionsDays === 0) return eraseFile(stores, bucket, file);
  const former = takeFromPath(stores, bucket, file);
  const without = dropLinks(stores, withoutFile(bucket, file), file.path);
  const saved = retireFile(stores, { bucket: without, file, ...former, nowNs });
  saveBucket(stores, saved, bucket);
  return saved;
}

/**
 * Removes the file from its path and erases its key at once, even while it is being read. Returns
 * the changed bucket.
 */
export function eraseFile(stores: Stores, bucket: Bucket, file: FileRecord): Bucket {
  const saved = leavePath(stores, bucket, file);
  releaseContent(stores, file);
  return saved;
}

/** Removes a moved file from its former path and stores no former version. Its content stays. */
export function leavePath(stores: Stores, bucket: Bucket, file: FileRecord): Bucket {
  requireReleased(file);
  takeFromPath(stores, bucket, file);
  const saved = dropLinks(stores, withoutFile(bucket, file), file.path);
  saveBucket(stores, saved, bucket);
  return saved;
}

/** Frees the path; returns the record that was there. */
function takeFromPath(stores: Stores, bucket: Bucket, file: FileRecord): Placed['former'] {
  const record = stores.records.delete(fileMapKey(file.bucketId, file.path));
  const sequence = unindexFile(stores, file);
  stores.publication.remove(file);
  if (mayBeOfSite(bucket, file)) unpublishOfSite(stores, { bucket, path: file.path });
  return { record, sequence };
}

function withoutFile(bucket: Bucket, file: FileRecord): Bucket {
  return {
    ...bucket,
    fileCount: bucket.fileCount - 1,
    // A damaged record can have any size.
    byteCount: Math.max(0, bucket.byteCount - file.size),
    overheadBytes: Math.max(0, bucket.overheadBytes - countedOverhead(file)),
  };
}

/** Returns bytes `[start, end)` of the file. */
export function readFile(
  stores: Stores,
  { file, key }: OpenFile,
  range: { readonly start: number; readonly end: number },
): Uint8Array {
  return readContent(stores, file, { ...range, key });
}
