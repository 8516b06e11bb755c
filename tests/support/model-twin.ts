// A plain reference model of two buckets: files and former versions as whole byte arrays in
// ordinary maps, and the expected result of every operation. Written from the interface's
// description; it shares only the formula of a file's overhead with src.

import { createHash } from 'node:crypto';
import { overheadBytesOf } from '../../src/domain/buckets/quota.ts';
import { linkBytesOf } from '../../src/domain/files/link-records.ts';
import type { RefusalCode } from '../../src/domain/shared/refusal.ts';
import { hourNs, plainMetadata, startNs } from './domain-fixture.ts';
import {
  canMoveLinks,
  dropTwinLinks,
  moveTwinLinks,
  resizeTwinLinks,
  type TwinKey,
  type TwinLink,
} from './model-link-twin.ts';

/** The fields of a file besides its bytes. */
export interface TwinNotes {
  readonly contentType: string;
  readonly tags: readonly string[];
  readonly metadata: readonly (readonly [name: string, value: string])[];
}

export interface TwinFile extends TwinNotes {
  readonly path: string;
  readonly bytes: Uint8Array;
  readonly etag: string;
  readonly version: number;
  readonly date: bigint;
  readonly createdAt: bigint;
  /** The model's own numbers: files with one id, or one content, share them in the service. */
  readonly id: number;
  readonly content: number;
  /** Bytes that count toward the quota. */
  readonly counted: number;
}

export interface TwinVersion {
  readonly file: TwinFile;
  readonly retiredAt: bigint;
  readonly expiresAt: bigint;
}

export interface TwinBucket {
  readonly id: string;
  readonly files: Map<string, TwinFile>;
  versions: TwinVersion[];
  links: TwinLink[];
  keepDays: number;
  quotaBytes: number;
  quotaFiles: number;
}

export interface Twin {
  readonly buckets: readonly TwinBucket[];
  readonly uploads: TwinUpload[];
  readonly keys: TwinKey[];
  /** All links ever created. */
  readonly madeLinks: TwinLink[];
  nowNs: bigint;
  /** Number of ids and contents used so far. */
  given: number;
}

export interface TwinConditions {
  readonly ifMatch?: string;
  readonly ifNoneMatch?: string;
}

export interface TwinUpload {
  readonly uploadId: string;
  readonly bucket: string;
  readonly path: string;
  readonly tags: readonly string[];
  readonly metadata: TwinNotes['metadata'];
  readonly conditions: TwinConditions;
  /** The bytes that its client will send, in chunks of `pieceLength` bytes. */
  readonly content: Uint8Array;
  readonly pieceLength: number;
  /**
   * Whether the length of `content` was declared at the beginning; else it is the number of
   * received bytes.
   */
  readonly isSizeKnown: boolean;
  /** Whether `pieceLength` was declared at the beginning. */
  readonly isDeclared: boolean;
  /** Whether the digest of `content` was declared. */
  readonly isDigested: boolean;
  readonly chunks: Map<number, Uint8Array>;
  readonly begunAtNs: bigint;
  status: 'active' | 'completed' | 'cancelled' | 'expired' | 'forgotten';
  /** Time of the last new chunk, or of the end. */
  usedAtNs: bigint;
  /** The entity tag of the completed file. */
  etag: string;
}

export function createTwin(): Twin {
  const none = { keepDays: 0, quotaFiles: Number.POSITIVE_INFINITY };
  const buckets = [
    { id: 'box', files: new Map(), versions: [], links: [], ...none, quotaBytes: 2_000_000 },
    { id: 'other', files: new Map(), versions: [], links: [], ...none, quotaBytes: 1_200_000 },
  ];
  return { buckets, uploads: [], keys: [], madeLinks: [], nowNs: startNs, given: 0 };
}

export function bucketOf(twin: Twin, id: string): TwinBucket {
  const found = twin.buckets.find((bucket) => bucket.id === id);
  if (found === undefined) throw new Error(`the twin has no bucket ${id}`);
  return found;
}

function sha256(bytes: Uint8Array): Buffer {
  return createHash('sha256').update(bytes).digest();
}

/**
 * A file of one chunk has the digest of its bytes, one of several chunks that of the chunks'
 * digests.
 */
export function etagOf(chunks: readonly Uint8Array[]): string {
  if (chunks.length > 1) {
    const digest = sha256(Buffer.concat(chunks.map(sha256)));
    return `"${digest.toString('hex')}-${chunks.length}"`;
  }
  return `"${sha256(chunks[0] ?? new Uint8Array(0)).toString('hex')}"`;
}

export function digestOf(bytes: Uint8Array): string {
  return sha256(bytes).toString('hex');
}

export function byName(left: { path: string }, right: { path: string }): number {
  return Buffer.compare(Buffer.from(left.path), Buffer.from(right.path));
}

/** Returns the bytes that a file of the models counts toward its bucket's quota. */
export function quotaOf(
  file: { path: string; tags: readonly string[]; size: number } & Partial<TwinNotes>,
  bucketId = 'box',
): number {
  const { size, ...named } = file;
  return size + overheadBytesOf({ ...plainMetadata, ...named, bucketId });
}

/** The origin of a file whose bytes or id already existed. */
export interface TwinOrigin {
  readonly id?: number;
  readonly createdAt?: bigint;
  readonly content?: number;
  /** The number of the restored former version: the new number is greater. */
  readonly version?: number;
}

type NewFile = Pick<TwinFile, 'path' | 'bytes' | 'etag'> & Partial<TwinNotes>;

/** Stores the file at its path; an existing file becomes a former version or is removed. */
export function saveTwinFile(
  twin: Twin,
  bucket: TwinBucket,
  file: NewFile,
  origin: TwinOrigin = {},
): TwinFile {
  const old = bucket.files.get(file.path);
  const saved = nextVersion(twin, bucket, file, {
    id: old?.id ?? origin.id ?? ++twin.given,
    content: origin.content ?? ++twin.given,
    createdAt: old?.createdAt ?? origin.createdAt ?? twin.nowNs,
    version: Math.max(old?.version ?? 0, origin.version ?? 0),
  });
  if (old !== undefined) retire(twin, bucket, old);
  bucket.files.set(file.path, saved);
  resizeTwinLinks(bucket, saved, twin.nowNs);
  return saved;
}

function nextVersion(
  twin: Twin,
  bucket: TwinBucket,
  file: NewFile,
  former: Pick<TwinFile, 'id' | 'content' | 'createdAt' | 'version'>,
): TwinFile {
  const { path, bytes, etag, contentType = 'text/plain', tags = [], metadata = [] } = file;
  const kept = bucket.versions.filter((one) => one.file.path === path);
  const { id, content, createdAt } = former;
  const version = 1 + Math.max(former.version, ...kept.map((one) => one.file.version));
  const notes = { contentType, tags, metadata };
  const counted = quotaOf({ path, ...notes, size: bytes.length }, bucket.id);
  const history = { id, content, createdAt, version, date: twin.nowNs };
  return { path, bytes, etag, ...notes, ...history, counted };
}

function retire({ nowNs }: Twin, bucket: TwinBucket, file: TwinFile): void {
  if (bucket.keepDays === 0) return;
  const expiresAt = nowNs + BigInt(bucket.keepDays) * 24n * hourNs;
  bucket.versions.push({ file, retiredAt: nowNs, expiresAt });
}

/** Changes a file's fields: its version grows by one, and no former version is stored. */
export function changeTwinFile(
  twin: Twin,
  bucket: TwinBucket,
  file: TwinFile,
  change: Partial<TwinNotes>,
): TwinFile {
  const changed = nextVersion(twin, bucket, { ...file, ...change }, file);
  bucket.files.set(file.path, changed);
  return changed;
}

export function removeTwinFile(twin: Twin, bucket: TwinBucket, file: TwinFile): void {
  bucket.files.delete(file.path);
  dropTwinLinks(bucket, file.path);
  retire(twin, bucket, file);
}

/** The latest former version replaces it; without a former version the file is deleted. */
export function eraseTwinFile(twin: Twin, bucket: TwinBucket, { path }: TwinFile): void {
  const latest = versionsOf(bucket).findLast(({ file }) => file.path === path);
  if (latest === undefined) {
    bucket.files.delete(path);
    dropTwinLinks(bucket, path);
    return;
  }
  bucket.versions = bucket.versions.filter((one) => one !== latest);
  bucket.files.set(path, latest.file);
  resizeTwinLinks(bucket, latest.file, twin.nowNs);
}

/** In the order of lists: by path, the oldest first. */
export function versionsOf({ versions }: TwinBucket): TwinVersion[] {
  return [...versions].sort((left, right) => {
    return byName(left.file, right.file) || left.file.version - right.file.version;
  });
}

/** Returns the quota that a bucket uses: files, former versions, links, open uploads. */
export function heldOf(twin: Twin, bucket: TwinBucket): number {
  const uploads = openUploads(twin, bucket).map(reservedBytes);
  const files = [...bucket.files.values(), ...bucket.versions.map(({ file }) => file)];
  const links = bucket.links.map((link) => linkBytesOf({ ...link, bucketId: bucket.id }));
  const counted = files.map((file) => file.counted);
  return [...uploads, ...counted, ...links].reduce((sum, one) => sum + one, 0);
}

export function openUploads({ uploads }: Twin, { id }: TwinBucket): TwinUpload[] {
  return uploads.filter(({ status, bucket }) => status === 'active' && bucket === id);
}

/** Returns an upload's declared size, or the bytes received if it declared none. */
function reservedBytes(upload: TwinUpload): number {
  const received = [...upload.chunks.values()].reduce((sum, { length }) => sum + length, 0);
  const size = upload.isSizeKnown ? upload.content.length : received;
  const { path, tags, metadata, bucket } = upload;
  return quotaOf({ path, tags, metadata, size }, bucket);
}

export function exceedsQuota(
  twin: Twin,
  bucket: TwinBucket,
  addition: { readonly files: number; readonly bytes: number },
): boolean {
  const files = bucket.files.size + openUploads(twin, bucket).length;
  const isOverFiles = addition.files > 0 && files + addition.files > bucket.quotaFiles;
  const isOverBytes =
    addition.bytes > 0 && heldOf(twin, bucket) + addition.bytes > bucket.quotaBytes;
  return isOverFiles || isOverBytes;
}

/** Returns the bytes that the bucket frees when the file is replaced or deleted. */
function freed(bucket: TwinBucket, file: TwinFile | undefined): number {
  return bucket.keepDays > 0 ? 0 : (file?.counted ?? 0);
}

/** Conditions have a single tag here, never a list. */
export function areMet(bucket: TwinBucket, path: string, conditions: TwinConditions): boolean {
  const etag = bucket.files.get(path)?.etag;
  const { ifMatch, ifNoneMatch } = conditions;
  if (ifMatch !== undefined && (etag === undefined || !['*', etag].includes(ifMatch))) return false;
  return ifNoneMatch === undefined || etag === undefined || !['*', etag].includes(ifNoneMatch);
}

export interface TwinWrite {
  readonly path: string;
  readonly tags: readonly string[];
  readonly metadata?: TwinNotes['metadata'];
  readonly size: number;
  readonly conditions: TwinConditions;
}

function additionOf(bucket: TwinBucket, write: TwinWrite) {
  const old = bucket.files.get(write.path);
  return {
    files: old === undefined ? 1 : 0,
    bytes: quotaOf(write, bucket.id) - freed(bucket, old),
  };
}

export function putCode(twin: Twin, bucket: TwinBucket, write: TwinWrite): RefusalCode | undefined {
  if (!areMet(bucket, write.path, write.conditions)) return 'PreconditionFailed';
  return exceedsQuota(twin, bucket, additionOf(bucket, write)) ? 'QuotaExceeded' : undefined;
}

/** Returns why the batch is refused as a whole, or for each file why it is refused, if any is. */
export function batchCodes(
  twin: Twin,
  bucket: TwinBucket,
  writes: readonly (TwinWrite & { readonly isDenied: boolean; readonly isDamaged: boolean })[],
): RefusalCode | (RefusalCode | undefined)[] {
  const codes = writes.map((write): RefusalCode | undefined => {
    const { path, conditions, isDenied, isDamaged } = write;
    if (isDenied) return 'AccessDenied';
    if (!areMet(bucket, path, conditions)) return 'PreconditionFailed';
    return isDamaged ? 'BadDigest' : undefined;
  });
  const good = writes.filter((_, index) => codes[index] === undefined);
  if (new Set(good.map(({ path }) => path)).size < good.length) return 'InvalidArgument';
  const additions = good.map((write) => additionOf(bucket, write));
  const files = additions.reduce((sum, one) => sum + one.files, 0);
  const bytes = additions.reduce((sum, one) => sum + one.bytes, 0);
  if (exceedsQuota(twin, bucket, { files, bytes })) return 'QuotaExceeded';
  const isStored = good.length === writes.length;
  return isStored ? codes : codes.map((code) => code ?? 'NotStored');
}

export interface TwinCopy {
  readonly isMove: boolean;
  readonly source: TwinBucket;
  readonly from: string;
  readonly target: TwinBucket;
  readonly to: string;
  readonly conditions: TwinConditions;
  /** The version of the source. */
  readonly version?: number | undefined;
  /** Fields that differ in the copy. */
  readonly notes?: Partial<TwinNotes>;
}

function copied({ source, from: path, version }: TwinCopy): {
  readonly file: TwinFile | undefined;
  readonly isFormer: boolean;
} {
  const present = source.files.get(path);
  if (version === undefined || present?.version === version) {
    return { file: present, isFormer: false };
  }
  return { file: findTwinVersion(source, { path, version })?.file, isFormer: true };
}

export function copyCode(twin: Twin, copy: TwinCopy): RefusalCode | undefined {
  const { isMove, source, from, target, to, conditions, notes } = copy;
  const { file, isFormer } = copied(copy);
  if (file === undefined) return 'NoSuchFile';
  if (source === target && from === to && !isFormer) return 'InvalidArgument';
  if (!areMet(target, to, conditions)) return 'PreconditionFailed';
  const goes = isMove && source === target;
  const old = target.files.get(to);
  const added = quotaOf({ ...file, ...notes, path: to, size: file.bytes.length }, target.id);
  const addition = {
    files: old === undefined && !goes ? 1 : 0,
    bytes: added - freed(target, old) - (goes ? file.counted : 0),
  };
  const isRoom = !goes || canMoveLinks(source, { from, to }, twin.nowNs);
  return exceedsQuota(twin, target, addition) || !isRoom ? 'QuotaExceeded' : undefined;
}

/**
 * The bytes are shared; a move keeps id and creation time, and frees the former path. Links move
 * along within the bucket.
 */
export function copyTwinFile(twin: Twin, copy: TwinCopy): TwinFile {
  const { isMove, source, from, target, to, notes } = copy;
  const { file } = copied(copy);
  if (file === undefined) throw new Error(`the twin has no file ${from}`);
  const { content, id, createdAt } = file;
  const origin = isMove ? { content, id, createdAt } : { content };
  const saved = saveTwinFile(twin, target, { ...file, ...notes, path: to }, origin);
  if (!isMove) return saved;
  source.files.delete(from);
  if (source === target) moveTwinLinks(source, { from, to });
  else dropTwinLinks(source, from);
  return saved;
}

export function changeCode(
  twin: Twin,
  bucket: TwinBucket,
  change: Partial<TwinNotes> & { readonly path: string; readonly conditions: TwinConditions },
): RefusalCode | undefined {
  const { path, conditions, ...notes } = change;
  const file = bucket.files.get(path);
  if (file === undefined) return 'NoSuchFile';
  if (!areMet(bucket, path, conditions)) return 'PreconditionFailed';
  const bytes = quotaOf({ ...file, ...notes, size: file.bytes.length }, bucket.id) - file.counted;
  return exceedsQuota(twin, bucket, { files: 0, bytes }) ? 'QuotaExceeded' : undefined;
}

export interface TwinVersionName {
  readonly path: string;
  readonly version: number;
}

export function findTwinVersion(
  { versions }: TwinBucket,
  { path, version }: TwinVersionName,
): TwinVersion | undefined {
  return versions.find(({ file }) => file.path === path && file.version === version);
}

export function restoreCode(
  twin: Twin,
  bucket: TwinBucket,
  named: TwinVersionName & { readonly conditions: TwinConditions },
): RefusalCode | undefined {
  if (findTwinVersion(bucket, named) === undefined) return 'NoSuchFile';
  if (!areMet(bucket, named.path, named.conditions)) return 'PreconditionFailed';
  const old = bucket.files.get(named.path);
  // Its bytes are already counted.
  const addition = { files: old === undefined ? 1 : 0, bytes: -freed(bucket, old) };
  return exceedsQuota(twin, bucket, addition) ? 'QuotaExceeded' : undefined;
}

export function restoreTwin(twin: Twin, bucket: TwinBucket, { file }: TwinVersion): TwinFile {
  bucket.versions = bucket.versions.filter((one) => one.file !== file);
  return saveTwinFile(twin, bucket, file, file);
}

/** Removes expired versions. */
export function expireTwinVersions({ buckets, nowNs }: Twin): number {
  const count = () => buckets.reduce((sum, { versions }) => sum + versions.length, 0);
  const before = count();
  for (const bucket of buckets) {
    bucket.versions = bucket.versions.filter(({ expiresAt }) => expiresAt > nowNs);
  }
  return before - count();
}
