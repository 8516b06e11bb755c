// A plain twin of one bucket: files and uploads as whole byte arrays in ordinary maps, and what every
// operation must answer. Written from the interface's description; shares no code with src.

import { createHash } from 'node:crypto';
import { overheadBytesOf } from '../../src/domain/buckets/quota.ts';
import type { RefusalCode } from '../../src/domain/shared/refusal.ts';
import { hourNs, plainMetadata, startNs } from './domain-fixture.ts';

export interface TwinFile {
  readonly path: string;
  readonly bytes: Uint8Array;
  readonly etag: string;
  readonly version: number;
  readonly date: bigint;
  readonly tags: readonly string[];
}

export interface TwinConditions {
  readonly ifMatch?: string;
  readonly ifNoneMatch?: string;
}

export interface TwinUpload {
  readonly uploadId: string;
  readonly path: string;
  readonly tags: readonly string[];
  readonly conditions: TwinConditions;
  /** What its client means to send, in pieces of `pieceLength` bytes. */
  readonly content: Uint8Array;
  readonly pieceLength: number;
  /** Whether `pieceLength` was declared at the beginning. */
  readonly isDeclared: boolean;
  /** Whether the digest of `content` was. */
  readonly isDigested: boolean;
  readonly chunks: Map<number, Uint8Array>;
  readonly begunAtNs: bigint;
  status: 'active' | 'completed' | 'cancelled' | 'expired' | 'forgotten';
  /** Last new chunk, or end. */
  usedAtNs: bigint;
  /** Of the file that completion made. */
  etag: string;
}

export interface Twin {
  readonly files: Map<string, TwinFile>;
  readonly uploads: TwinUpload[];
  nowNs: bigint;
}

export const twinQuotaBytes = 2_000_000;
const openUploadsMax = 50;
const pageSizeMax = 50;

/** What uploads are made of. */
export const twinPlans = [
  { size: 0, pieceLength: 100, isDeclared: false },
  { size: 250, pieceLength: 100, isDeclared: false },
  { size: 250, pieceLength: 250, isDeclared: false },
  { size: 900, pieceLength: 20, isDeclared: false },
  { size: 140_000, pieceLength: 70_000, isDeclared: false },
  { size: 140_000, pieceLength: 65_536, isDeclared: true },
  { size: 65_536, pieceLength: 65_536, isDeclared: true },
];

export function createTwin(): Twin {
  return { files: new Map(), uploads: [], nowNs: startNs };
}

function sha256(bytes: Uint8Array): Buffer {
  return createHash('sha256').update(bytes).digest();
}

/** A file of one chunk has the digest of its bytes, one of several that of the chunks' digests. */
function etagOf(chunks: readonly Uint8Array[]): string {
  if (chunks.length > 1) {
    const digest = sha256(Buffer.concat(chunks.map(sha256)));
    return `"${digest.toString('hex')}-${chunks.length}"`;
  }
  return `"${sha256(chunks[0] ?? new Uint8Array(0)).toString('hex')}"`;
}

export function digestOf(bytes: Uint8Array): string {
  return sha256(bytes).toString('hex');
}

export function saveTwinFile(
  twin: Twin,
  file: Pick<TwinFile, 'path' | 'tags'> & { readonly chunks: readonly Uint8Array[] },
): TwinFile {
  const { path, tags, chunks } = file;
  const version = (twin.files.get(path)?.version ?? 0) + 1;
  const bytes = Buffer.concat(chunks);
  const saved = { path, tags, bytes, version, etag: etagOf(chunks), date: twin.nowNs };
  twin.files.set(path, saved);
  return saved;
}

function openUploads({ uploads }: Twin): TwinUpload[] {
  return uploads.filter(({ status }) => status === 'active');
}

/** What a file of the models takes of its bucket's quota. */
export function quotaOf(file: { path: string; tags: readonly string[]; size: number }): number {
  const { path, tags, size } = file;
  return size + overheadBytesOf({ ...plainMetadata, bucketId: 'box', path, tags });
}

/** Files count, and open uploads as what they will be. */
function exceedsQuota(twin: Twin, additional: number): boolean {
  const uploads = openUploads(twin).map((upload) => ({ ...upload, size: upload.content.length }));
  const files = [...twin.files.values()].map((file) => ({ ...file, size: file.bytes.length }));
  const held = [...uploads, ...files].reduce((sum, file) => sum + quotaOf(file), 0);
  return additional > 0 && held + additional > twinQuotaBytes;
}

/** Tags stand alone here, never in lists. */
export function areMet(twin: Twin, path: string, conditions: TwinConditions): boolean {
  const etag = twin.files.get(path)?.etag;
  const { ifMatch, ifNoneMatch } = conditions;
  if (ifMatch !== undefined && (etag === undefined || !['*', etag].includes(ifMatch))) return false;
  return ifNoneMatch === undefined || etag === undefined || !['*', etag].includes(ifNoneMatch);
}

export interface TwinWrite {
  readonly path: string;
  readonly tags: readonly string[];
  readonly size: number;
  readonly conditions: TwinConditions;
}

export function putCode(twin: Twin, write: TwinWrite): RefusalCode | undefined {
  const file = twin.files.get(write.path);
  const old = file === undefined ? 0 : quotaOf({ ...file, size: file.bytes.length });
  if (!areMet(twin, write.path, write.conditions)) return 'PreconditionFailed';
  return exceedsQuota(twin, quotaOf(write) - old) ? 'QuotaExceeded' : undefined;
}

export function beginCode(twin: Twin, write: TwinWrite): RefusalCode | undefined {
  if (openUploads(twin).length >= openUploadsMax) return 'SlowDown';
  if (exceedsQuota(twin, quotaOf(write))) return 'QuotaExceeded';
  return areMet(twin, write.path, write.conditions) ? undefined : 'PreconditionFailed';
}

function isOver(twin: Twin, upload: TwinUpload): boolean {
  const isOld = upload.status === 'active' && upload.begunAtNs + 168n * hourNs <= twin.nowNs;
  return isOld || upload.usedAtNs + 24n * hourNs <= twin.nowNs;
}

/** The sweep: open sessions end, and those that ended a day ago are forgotten. */
export function expireTwin(twin: Twin): void {
  for (const upload of twin.uploads.filter((upload) => isOver(twin, upload))) {
    upload.status = upload.status === 'active' ? 'expired' : 'forgotten';
    upload.usedAtNs = twin.nowNs;
  }
}

/** What any step on an upload that has ended is refused with. */
export function endedCode(twin: Twin, upload: TwinUpload): RefusalCode | undefined {
  switch (upload.status) {
    case 'forgotten':
      return 'NoSuchUpload';
    case 'completed':
      return 'UploadCompleted';
    case 'cancelled':
      return 'UploadCancelled';
    case 'expired':
      return 'UploadExpired';
    case 'active':
      return isOver(twin, upload) ? 'UploadExpired' : undefined;
  }
}

export function sizeOf(chunks: ReadonlyMap<number, Uint8Array>): number {
  return [...chunks.values()].reduce((sum, { length }) => sum + length, 0);
}

export function pieceOf({ content, pieceLength }: TwinUpload, index: number): Uint8Array {
  return content.subarray(index * pieceLength, (index + 1) * pieceLength);
}

/** As pieceOf(), but the first piece is the one that may be short. */
export function unevenPieceOf({ content, pieceLength }: TwinUpload, index: number): Uint8Array {
  const count = Math.ceil(content.length / pieceLength);
  const end = content.length - (count - 1 - index) * pieceLength;
  return content.subarray(Math.max(0, end - pieceLength), end);
}

export function chunkCode(
  twin: Twin,
  upload: TwinUpload,
  chunk: readonly [index: number, bytes: Uint8Array],
): RefusalCode | undefined {
  const ended = endedCode(twin, upload);
  if (ended !== undefined) return ended;
  const [index, { length }] = chunk;
  const { isDeclared, content, pieceLength } = upload;
  const count = isDeclared ? Math.ceil(content.length / pieceLength) : 1_000;
  if (index >= count) return 'InvalidChunkIndex';
  const isRightLength = !isDeclared || length === pieceOf(upload, index).length;
  if (length === 0 || !isRightLength) return 'ChunkSizeMismatch';
  const next = sizeOf(new Map([...upload.chunks, chunk]));
  return next > content.length ? 'EntityTooLarge' : undefined;
}

/** In order; holes are left out. */
export function chunksOf({ chunks }: TwinUpload): Uint8Array[] {
  return [...chunks].sort(([left], [right]) => left - right).map(([, bytes]) => bytes);
}

export function completionCode(twin: Twin, upload: TwinUpload): RefusalCode | undefined {
  const ended = endedCode(twin, upload);
  if (ended !== undefined) return ended;
  const chunks = chunksOf(upload);
  const hasHole = chunks.some((_, index) => !upload.chunks.has(index));
  if (hasHole || sizeOf(upload.chunks) !== upload.content.length) return 'UploadIncomplete';
  const [first = new Uint8Array(0)] = chunks;
  const isEven = chunks.slice(0, -1).every(({ length }) => length === first.length);
  if (!isEven || (chunks.at(-1) ?? first).length > first.length) return 'ChunkSizeMismatch';
  if (!areMet(twin, upload.path, upload.conditions)) return 'PreconditionFailed';
  const isWrong = upload.isDigested && !Buffer.concat(chunks).equals(upload.content);
  return isWrong ? 'BadDigest' : undefined;
}

export interface TwinListing {
  readonly sort: string;
  readonly prefix: string;
  readonly tag: string | undefined;
  readonly page: number;
  readonly pageSize: number;
}

export function listTwin(twin: Twin, { sort, prefix, tag, page, pageSize }: TwinListing) {
  const sign = sort.endsWith('asc') ? 1 : -1;
  const size = Math.min(pageSize, pageSizeMax);
  const wanted = [...twin.files.values()]
    .filter(({ path }) => path.startsWith(prefix))
    .filter(({ tags }) => tag === undefined || tags.includes(tag))
    .sort((left, right) => {
      const byName = Buffer.compare(Buffer.from(left.path), Buffer.from(right.path));
      return sort.startsWith('name')
        ? sign * byName
        : sign * Number(left.date - right.date) || byName;
    });
  const paths = wanted.slice((page - 1) * size, page * size).map(({ path }) => path);
  const pages = Math.ceil(wanted.length / size);
  return { paths, total: wanted.length, pages, hasMore: page < pages };
}

/** What must have happened for a history to have tried everything. */
export const twinOutcomes: readonly string[] = [
  ...['put', 'put: PreconditionFailed', 'put: QuotaExceeded', 'put: BadDigest'],
  ...['delete', 'delete: NoSuchFile', 'delete: PreconditionFailed'],
  ...['begin', 'begin: PreconditionFailed', 'begin: QuotaExceeded'],
  ...['chunk', 'chunk: InvalidChunkIndex', 'chunk: ChunkSizeMismatch', 'chunk: EntityTooLarge'],
  ...['chunk: UploadCompleted', 'chunk: UploadCancelled', 'chunk: UploadExpired'],
  ...['resend', 'fill', 'complete', 'complete: UploadIncomplete', 'complete: ChunkSizeMismatch'],
  ...['complete: PreconditionFailed', 'complete: BadDigest', 'complete: UploadCompleted'],
  ...['complete: UploadCancelled', 'complete: UploadExpired', 'complete: NoSuchUpload'],
  ...['cancel', 'cancel: UploadCancelled', 'cancel: UploadCompleted', 'cancel: UploadExpired'],
  ...[
    'read',
    'read: NoSuchFile',
    'read: InvalidRange',
    'list',
    'intrude: AccessDenied',
    'intrude: NoSuchBucket',
  ],
  ...['wait', 'expire', 'reclaim', 'reclaim: more', 'upgrade'],
];
