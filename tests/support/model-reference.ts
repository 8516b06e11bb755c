// A plain reference model of two buckets: files and former versions as whole byte arrays in
// ordinary maps, and the expected result of every operation. It follows the description of the
// interface; it shares with src only the formulas for the overhead of files and bytes of links.

import { createHash } from 'node:crypto';
import { overheadBytesOf } from '../../src/domain/buckets/quota.ts';
import { linkBytesOf } from '../../src/domain/files/link-records.ts';
import type { RefusalCode } from '../../src/domain/shared/refusal.ts';
import { hourNs, plainMetadata, startNs } from './domain-fixture.ts';
import {
  canMoveLinks,
  dropReferenceLinks,
  moveReferenceLinks,
  type ReferenceKey,
  type ReferenceLink,
  resizeReferenceLinks,
} from './model-link-reference.ts';

/** The fields of a file besides its bytes. */
export interface ReferenceNotes {
  readonly contentType: string;
  readonly tags: readonly string[];
  readonly metadata: readonly (readonly [name: string, value: string])[];
}

export interface ReferenceFile extends ReferenceNotes {
  readonly path: string;
  readonly bytes: Uint8Array;
  readonly etag: string;
  readonly version: number;
  readonly date: bigint;
  readonly createdAt: bigint;
  /**
   * Numbers that the model assigns: in the service, files with the same `id` have the same id, and
   * files with the same `content` share their stored bytes.
   */
  readonly id: number;
  readonly content: number;
  /** Bytes that count toward the quota. */
  readonly counted: number;
}

export interface ReferenceVersion {
  readonly file: ReferenceFile;
  readonly retiredAt: bigint;
  readonly expiresAt: bigint;
}

export interface ReferenceBucket {
  readonly id: string;
  readonly files: Map<string, ReferenceFile>;
  versions: ReferenceVersion[];
  links: ReferenceLink[];
  keepDays: number;
  quotaBytes: number;
  quotaFiles: number;
}

export interface Reference {
  readonly buckets: readonly ReferenceBucket[];
  readonly uploads: ReferenceUpload[];
  readonly keys: ReferenceKey[];
  /** All links ever created. */
  readonly madeLinks: ReferenceLink[];
  nowNs: bigint;
  /** Number of ids and contents used so far. */
  given: number;
}

export interface ReferenceConditions {
  readonly ifMatch?: string;
  readonly ifNoneMatch?: string;
}

export interface ReferenceUpload {
  readonly uploadId: string;
  readonly bucket: string;
  readonly path: string;
  readonly tags: readonly string[];
  readonly metadata: ReferenceNotes['metadata'];
  readonly conditions: ReferenceConditions;
  /** The bytes that its client will send, in chunks of `pieceLength` bytes. */
  readonly content: Uint8Array;
  readonly pieceLength: number;
  /**
   * Whether the length of `content` was declared at the beginning; if not, the bytes received so
   * far count toward the quota.
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

export function createReference(): Reference {
  const none = { keepDays: 0, quotaFiles: Number.POSITIVE_INFINITY };
  const buckets = [
    { id: 'box', files: new Map(), versions: [], links: [], ...none, quotaBytes: 2_000_000 },
    { id: 'other', files: new Map(), versions: [], links: [], ...none, quotaBytes: 1_200_000 },
  ];
  return { buckets, uploads: [], keys: [], madeLinks: [], nowNs: startNs, given: 0 };
}

export function bucketOf(reference: Reference, id: string): ReferenceBucket {
  const found = reference.buckets.find((bucket) => bucket.id === id);
  if (found === undefined) throw new Error(`the reference has no bucket ${id}`);
  return found;
}

function sha256(bytes: Uint8Array): Buffer {
  return createHash('sha256').update(bytes).digest();
}

/**
 * Returns the entity tag: the digest of the bytes of one chunk, or of the digests of several
 * chunks.
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
  file: { path: string; tags: readonly string[]; size: number } & Partial<ReferenceNotes>,
  bucketId = 'box',
): number {
  const { size, ...named } = file;
  return size + overheadBytesOf({ ...plainMetadata, ...named, bucketId });
}

/** The origin of a file whose bytes or id already existed. */
export interface ReferenceOrigin {
  readonly id?: number;
  readonly createdAt?: bigint;
  readonly content?: number;
  /** The number of the restored former version: the new number is greater. */
  readonly version?: number;
}

type NewFile = Pick<ReferenceFile, 'path' | 'bytes' | 'etag'> & Partial<ReferenceNotes>;

/** Stores the file at its path; an existing file becomes a former version or is removed. */
export function saveReferenceFile(
  reference: Reference,
  bucket: ReferenceBucket,
  file: NewFile,
  origin: ReferenceOrigin = {},
): ReferenceFile {
  const old = bucket.files.get(file.path);
  const saved = nextVersion(reference, bucket, file, {
    id: old?.id ?? origin.id ?? ++reference.given,
    content: origin.content ?? ++reference.given,
    createdAt: old?.createdAt ?? origin.createdAt ?? reference.nowNs,
    version: Math.max(old?.version ?? 0, origin.version ?? 0),
  });
  if (old !== undefined) retire(reference, bucket, old);
  bucket.files.set(file.path, saved);
  resizeReferenceLinks(bucket, saved, reference.nowNs);
  return saved;
}

function nextVersion(
  reference: Reference,
  bucket: ReferenceBucket,
  file: NewFile,
  former: Pick<ReferenceFile, 'id' | 'content' | 'createdAt' | 'version'>,
): ReferenceFile {
  const { path, bytes, etag, contentType = 'text/plain', tags = [], metadata = [] } = file;
  const kept = bucket.versions.filter((one) => one.file.path === path);
  const { id, content, createdAt } = former;
  const version = 1 + Math.max(former.version, ...kept.map((one) => one.file.version));
  const notes = { contentType, tags, metadata };
  const counted = quotaOf({ path, ...notes, size: bytes.length }, bucket.id);
  const history = { id, content, createdAt, version, date: reference.nowNs };
  return { path, bytes, etag, ...notes, ...history, counted };
}

function retire({ nowNs }: Reference, bucket: ReferenceBucket, file: ReferenceFile): void {
  if (bucket.keepDays === 0) return;
  const expiresAt = nowNs + BigInt(bucket.keepDays) * 24n * hourNs;
  bucket.versions.push({ file, retiredAt: nowNs, expiresAt });
}

/** Changes a file's fields: its version grows by one, and no former version is stored. */
export function changeReferenceFile(
  reference: Reference,
  bucket: ReferenceBucket,
  file: ReferenceFile,
  change: Partial<ReferenceNotes>,
): ReferenceFile {
  const changed = nextVersion(reference, bucket, { ...file, ...change }, file);
  bucket.files.set(file.path, changed);
  return changed;
}

export function removeReferenceFile(
  reference: Reference,
  bucket: ReferenceBucket,
  file: ReferenceFile,
): void {
  bucket.files.delete(file.path);
  dropReferenceLinks(bucket, file.path);
  retire(reference, bucket, file);
}

/** Erases the present version: the latest former version replaces it, or the file is deleted. */
export function eraseReferenceFile(
  reference: Reference,
  bucket: ReferenceBucket,
  { path }: ReferenceFile,
): void {
  const latest = versionsOf(bucket).findLast(({ file }) => file.path === path);
  if (latest === undefined) {
    bucket.files.delete(path);
    dropReferenceLinks(bucket, path);
    return;
  }
  bucket.versions = bucket.versions.filter((one) => one !== latest);
  bucket.files.set(path, latest.file);
  resizeReferenceLinks(bucket, latest.file, reference.nowNs);
}

/** Returns the former versions in the order of lists: by path, the oldest first. */
export function versionsOf({ versions }: ReferenceBucket): ReferenceVersion[] {
  return [...versions].sort((left, right) => {
    return byName(left.file, right.file) || left.file.version - right.file.version;
  });
}

/** Returns the quota that a bucket uses: files, former versions, links, open uploads. */
export function heldOf(reference: Reference, bucket: ReferenceBucket): number {
  const uploads = openUploads(reference, bucket).map(reservedBytes);
  const files = [...bucket.files.values(), ...bucket.versions.map(({ file }) => file)];
  const links = bucket.links.map((link) => linkBytesOf({ ...link, bucketId: bucket.id }));
  const counted = files.map((file) => file.counted);
  return [...uploads, ...counted, ...links].reduce((sum, one) => sum + one, 0);
}

export function openUploads({ uploads }: Reference, { id }: ReferenceBucket): ReferenceUpload[] {
  return uploads.filter(({ status, bucket }) => status === 'active' && bucket === id);
}

/** Returns an upload's declared size, or the bytes received if it declared none. */
function reservedBytes(upload: ReferenceUpload): number {
  const received = [...upload.chunks.values()].reduce((sum, { length }) => sum + length, 0);
  const size = upload.isSizeKnown ? upload.content.length : received;
  const { path, tags, metadata, bucket } = upload;
  return quotaOf({ path, tags, metadata, size }, bucket);
}

export function exceedsQuota(
  reference: Reference,
  bucket: ReferenceBucket,
  addition: { readonly files: number; readonly bytes: number },
): boolean {
  const files = bucket.files.size + openUploads(reference, bucket).length;
  const isOverFiles = addition.files > 0 && files + addition.files > bucket.quotaFiles;
  const isOverBytes =
    addition.bytes > 0 && heldOf(reference, bucket) + addition.bytes > bucket.quotaBytes;
  return isOverFiles || isOverBytes;
}

/** Returns the bytes that the bucket frees when the file is replaced or deleted. */
function freed(bucket: ReferenceBucket, file: ReferenceFile | undefined): number {
  return bucket.keepDays > 0 ? 0 : (file?.counted ?? 0);
}

/** Whether the conditions are met; each has a single tag here, never a list. */
export function areMet(
  bucket: ReferenceBucket,
  path: string,
  conditions: ReferenceConditions,
): boolean {
  const etag = bucket.files.get(path)?.etag;
  const { ifMatch, ifNoneMatch } = conditions;
  if (ifMatch !== undefined && (etag === undefined || !['*', etag].includes(ifMatch))) return false;
  return ifNoneMatch === undefined || etag === undefined || !['*', etag].includes(ifNoneMatch);
}

export interface ReferenceWrite {
  readonly path: string;
  readonly tags: readonly string[];
  readonly metadata?: ReferenceNotes['metadata'];
  readonly size: number;
  readonly conditions: ReferenceConditions;
}

function additionOf(bucket: ReferenceBucket, write: ReferenceWrite) {
  const old = bucket.files.get(write.path);
  return {
    files: old === undefined ? 1 : 0,
    bytes: quotaOf(write, bucket.id) - freed(bucket, old),
  };
}

export function putCode(
  reference: Reference,
  bucket: ReferenceBucket,
  write: ReferenceWrite,
): RefusalCode | undefined {
  if (!areMet(bucket, write.path, write.conditions)) return 'PreconditionFailed';
  return exceedsQuota(reference, bucket, additionOf(bucket, write)) ? 'QuotaExceeded' : undefined;
}

/**
 * Returns the code with which the whole batch is refused, or for each file its code or undefined.
 */
export function batchCodes(
  reference: Reference,
  bucket: ReferenceBucket,
  writes: readonly (ReferenceWrite & { readonly isDenied: boolean; readonly isDamaged: boolean })[],
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
  if (exceedsQuota(reference, bucket, { files, bytes })) return 'QuotaExceeded';
  const isStored = good.length === writes.length;
  return isStored ? codes : codes.map((code) => code ?? 'NotStored');
}

export interface ReferenceCopy {
  readonly isMove: boolean;
  readonly source: ReferenceBucket;
  readonly from: string;
  readonly target: ReferenceBucket;
  readonly to: string;
  readonly conditions: ReferenceConditions;
  /** The version of the source. */
  readonly version?: number | undefined;
  /** Fields that differ in the copy. */
  readonly notes?: Partial<ReferenceNotes>;
}

function copied({ source, from: path, version }: ReferenceCopy): {
  readonly file: ReferenceFile | undefined;
  readonly isFormer: boolean;
} {
  const present = source.files.get(path);
  if (version === undefined || present?.version === version) {
    return { file: present, isFormer: false };
  }
  return { file: findReferenceVersion(source, { path, version })?.file, isFormer: true };
}

export function copyCode(reference: Reference, copy: ReferenceCopy): RefusalCode | undefined {
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
  const isRoom = !goes || canMoveLinks(source, { from, to }, reference.nowNs);
  return exceedsQuota(reference, target, addition) || !isRoom ? 'QuotaExceeded' : undefined;
}

/**
 * Copies or moves a file; the bytes are shared. A move frees the former path and keeps id and
 * creation time, unless it replaces a file, whose id and creation time then stay; links move along
 * only within the bucket.
 */
export function copyReferenceFile(reference: Reference, copy: ReferenceCopy): ReferenceFile {
  const { isMove, source, from, target, to, notes } = copy;
  const { file } = copied(copy);
  if (file === undefined) throw new Error(`the reference has no file ${from}`);
  const { content, id, createdAt } = file;
  const origin = isMove ? { content, id, createdAt } : { content };
  const saved = saveReferenceFile(reference, target, { ...file, ...notes, path: to }, origin);
  if (!isMove) return saved;
  source.files.delete(from);
  if (source === target) moveReferenceLinks(source, { from, to });
  else dropReferenceLinks(source, from);
  return saved;
}

export function changeCode(
  reference: Reference,
  bucket: ReferenceBucket,
  change: Partial<ReferenceNotes> & {
    readonly path: string;
    readonly conditions: ReferenceConditions;
  },
): RefusalCode | undefined {
  const { path, conditions, ...notes } = change;
  const file = bucket.files.get(path);
  if (file === undefined) return 'NoSuchFile';
  if (!areMet(bucket, path, conditions)) return 'PreconditionFailed';
  const bytes = quotaOf({ ...file, ...notes, size: file.bytes.length }, bucket.id) - file.counted;
  return exceedsQuota(reference, bucket, { files: 0, bytes }) ? 'QuotaExceeded' : undefined;
}

export interface ReferenceVersionName {
  readonly path: string;
  readonly version: number;
}

export function findReferenceVersion(
  { versions }: ReferenceBucket,
  { path, version }: ReferenceVersionName,
): ReferenceVersion | undefined {
  return versions.find(({ file }) => file.path === path && file.version === version);
}

export function restoreCode(
  reference: Reference,
  bucket: ReferenceBucket,
  named: ReferenceVersionName & { readonly conditions: ReferenceConditions },
): RefusalCode | undefined {
  if (findReferenceVersion(bucket, named) === undefined) return 'NoSuchFile';
  if (!areMet(bucket, named.path, named.conditions)) return 'PreconditionFailed';
  const old = bucket.files.get(named.path);
  // The bytes of the version are already counted.
  const addition = { files: old === undefined ? 1 : 0, bytes: -freed(bucket, old) };
  return exceedsQuota(reference, bucket, addition) ? 'QuotaExceeded' : undefined;
}

export function restoreReference(
  reference: Reference,
  bucket: ReferenceBucket,
  { file }: ReferenceVersion,
): ReferenceFile {
  bucket.versions = bucket.versions.filter((one) => one.file !== file);
  return saveReferenceFile(reference, bucket, file, file);
}

/** Removes expired versions. */
export function expireReferenceVersions({ buckets, nowNs }: Reference): number {
  const count = () => buckets.reduce((sum, { versions }) => sum + versions.length, 0);
  const before = count();
  for (const bucket of buckets) {
    bucket.versions = bucket.versions.filter(({ expiresAt }) => expiresAt > nowNs);
  }
  return before - count();
}
