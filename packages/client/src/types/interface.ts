// What callers of the client see: names, records and options. Records are those of the service's
// JSON interface, whichever way they came.

import type { UploadInput } from '../bytes/upload-source.ts';
import type { StorageError } from '../storage-error.ts';
import type { EndToEndRecord, EndToEndSettings } from './end-to-end-records.ts';
import type { Budget } from './service-status.ts';

export interface FileName {
  readonly bucket: string;
  readonly path: string;
}

/** Of a bucket that seals names. */
export interface ShownPath {
  /** Some of the path's names are those that are stored: nothing here opens them. */
  readonly isPathAsStored?: boolean | undefined;
}

export interface FileRecord extends ShownPath {
  readonly id: string;
  readonly bucketId: string;
  readonly path: string;
  readonly name: string;
  readonly size: number;
  /** Of every chunk but the last; absent in lists of files that an earlier version stored. */
  readonly chunkSize?: number | undefined;
  readonly contentType: string;
  readonly tags: readonly string[];
  /** What users noted with it; absent when there is nothing. */
  readonly metadata?: UserMetadata | undefined;
  /** SHA-256 in hexadecimal; of several chunks that of their digests, then `-` and their number. */
  readonly etag: string;
  /** Of the whole file, when the service knows it. */
  readonly sha256?: string | undefined;
  readonly version: number;
  /** ISO 8601. */
  readonly createdAt: string;
  readonly updatedAt: string;
  /** Path of the public address. */
  readonly url: string;
}

export type UploadStatus = 'active' | 'ready' | 'completed' | 'cancelled' | 'expired';

export interface UploadSession extends ShownPath {
  readonly uploadId: string;
  readonly bucketId: string;
  readonly path: string;
  readonly contentType: string;
  readonly tags: readonly string[];
  /** While isSizeKnown is false, what has come so far. */
  readonly totalSize: number;
  readonly isSizeKnown: boolean;
  readonly uploadedSize: number;
  readonly chunkSize: number;
  readonly chunkCount: number;
  readonly receivedChunks: number;
  /** The first 100 missing indexes. */
  readonly missing: readonly number[];
  readonly status: UploadStatus;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly expiresAt: string;
  readonly fileId?: string | undefined;
  /** As `onSession` is told it of an end-to-end bucket: what the upload goes on with. No secret. */
  readonly ageHeader?: string | undefined;
}

export interface Progress {
  /** Bytes that are where they belong, those of an earlier attempt included. */
  readonly doneBytes: number;
  /** `doneBytes`, and what requests under way have moved; less again when one of them fails. */
  readonly movedBytes: number;
  /** Undefined while nobody knows: of a stream whose size was not told. */
  readonly totalBytes: number | undefined;
  /** Of doneBytes, what an earlier attempt had brought there. */
  readonly resumedBytes: number;
}

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
}

export interface TransferOptions extends CallOptions {
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  /** Requests at a time, 1 to 32; 8 unless told. Each holds one chunk in memory. */
  readonly concurrency?: number | undefined;
}

/** Fields that the service keeps with a file and serves again. */
export interface StoredHeaders {
  readonly 'Cache-Control'?: string;
  readonly 'Content-Disposition'?: string;
  readonly 'Content-Encoding'?: string;
  readonly 'Content-Language'?: string;
}

/** Names and values of your own: 32 of them at most, 2,048 bytes together. */
export type UserMetadata = Readonly<Record<string, string>>;

export interface UploadOptions extends TransferOptions, FileName {
  /** Else the source's own (a Blob's), else that of the path's extension. */
  readonly contentType?: string | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly headers?: StoredHeaders | undefined;
  /**
   * Kept in the record. A function is called once, when the last byte of the source has been read
   * and before the file is there: for what only they tell, such as a digest.
   */
  readonly metadata?: UserMetadata | (() => UserMetadata | Promise<UserMetadata>) | undefined;
  /** Of the whole file, in hexadecimal: checked by the service, up to 19,000,000 bytes. */
  readonly sha256?: string | undefined;
  readonly ifMatch?: string | undefined;
  readonly ifNoneMatch?: string | undefined;
  /** Bytes of a stream, where they are known; other sources know theirs. */
  readonly size?: number | undefined;
  /** 65,536 to 1,900,000, the default. */
  readonly chunkBytes?: number | undefined;
  /** Id of a session that was begun before for the same file: only what it misses is sent. */
  readonly resume?: string | undefined;
  /** With `resume`, in an end-to-end bucket. */
  readonly ageHeader?: string | undefined;
  /** Told the session as soon as there is one; a small file needs none. */
  readonly onSession?: ((session: UploadSession) => void | Promise<void>) | undefined;
}

/** One of many: what an upload of it alone would be told. */
export interface FileToUpload
  extends Pick<
    UploadOptions,
    | 'path'
    | 'contentType'
    | 'tags'
    | 'headers'
    | 'metadata'
    | 'sha256'
    | 'ifMatch'
    | 'ifNoneMatch'
    | 'size'
  > {
  readonly source: UploadInput;
}

export interface UploadAllOptions extends CallOptions {
  readonly bucket: string;
  /** Requests at a time, 1 to 32; 8 unless told. */
  readonly concurrency?: number | undefined;
}

/** The file as it is stored, or why it is not. */
export type UploadedFile = { readonly path: string } & (
  | { readonly file: FileRecord; readonly error?: undefined }
  | { readonly error: StorageError; readonly file?: undefined }
);

/** These paths, or all that begins with the prefix; the empty one empties the bucket. */
export type RemoveAllOptions = CallOptions & { readonly bucket: string } & (
    | { readonly paths: Iterable<string> | AsyncIterable<string> }
    | { readonly prefix: string }
  );

/** The file of that path is gone, or why not. */
export interface RemovedFile extends ShownPath {
  readonly path: string;
  readonly error?: StorageError | undefined;
}

export interface DownloadOptions extends TransferOptions {
  /** One of the file's versions, the present or a former one, by its number. */
  readonly version?: number | undefined;
  /** Half-open; part of a file is not verified against the file's digest. */
  readonly range?: { readonly start: number; readonly end?: number } | undefined;
  /** What an earlier download has brought, and of which file; whole chunks of it are kept. */
  readonly resume?: { readonly etag: string; readonly received: UploadInput } | undefined;
  /** False: bytes of a whole file are not compared with its digest. */
  readonly verify?: boolean | undefined;
  /** Of the file's chunks, when the way of transport cannot tell. */
  readonly chunkBytes?: number | undefined;
}

export interface Download {
  readonly etag: string;
  /** Of the whole file. */
  readonly size: number;
  readonly contentType: string | undefined;
  /** Where in the file the first byte of the body belongs. */
  readonly start: number;
  /** Fails with IntegrityError instead of ending when the bytes are not those of the digest. */
  readonly body: ReadableStream<Uint8Array>;
  /** All of them, in place of the stream; fails as it does. */
  bytes(): Promise<Uint8Array>;
}

export interface UploadListOptions extends CallOptions {
  readonly bucket: string;
}

export interface ListOptions extends CallOptions {
  readonly bucket: string;
  /** Literal. */
  readonly prefix?: string | undefined;
  readonly sort?: 'name_asc' | 'name_desc' | 'date_asc' | 'date_desc' | undefined;
  readonly tag?: string | undefined;
}

export interface FolderOptions extends CallOptions {
  readonly bucket: string;
  /** Literal. */
  readonly prefix?: string | undefined;
  /** Shows folders in place of what is in them. */
  readonly delimiter?: '/' | undefined;
  /** The `nextCursor` of the page before. */
  readonly cursor?: string | undefined;
  /**
   * Of a first page, any name, literal: what is shown comes behind it, and behind the folder that
   * it is in. Not where names are sealed.
   */
  readonly startAfter?: string | undefined;
  /** Files and folders together, 1 to 1,000; 100 unless told. */
  readonly limit?: number | undefined;
  readonly sort?: 'name_asc' | 'name_desc' | undefined;
  readonly tag?: string | undefined;
}

export interface FolderRecord extends ShownPath {
  /** Whole, with its last slash. */
  readonly path: string;
}

export interface FolderPage {
  readonly items: readonly FileRecord[];
  readonly folders: readonly FolderRecord[];
  /** Absent at the end. */
  readonly nextCursor?: string | undefined;
}

export interface UsageOptions extends CallOptions {
  readonly bucket: string;
  /** Literal. */
  readonly prefix?: string | undefined;
}

export interface Usage {
  readonly files: number;
  readonly bytes: number;
}

export interface FilePage {
  readonly items: readonly FileRecord[];
  readonly total: number;
  readonly nextPage?: number | undefined;
}

export interface BucketMember {
  readonly principal: string;
  readonly role: string;
}

export interface BucketRecord {
  readonly id: string;
  readonly owner: string;
  readonly isPublic: boolean;
  /** Served as a site while it is public. */
  readonly isSite: boolean;
  readonly fileCount: number;
  readonly byteCount: number;
  /** What the files take beside their bytes; it counts towards the quota. */
  readonly overheadBytes: number;
  readonly openUploads: number;
  readonly quotaBytes?: number | undefined;
  readonly quotaFiles?: number | undefined;
  /** For how many days former versions stay; 0: not at all. */
  readonly keepVersionsDays: number;
  readonly versionCount: number;
  /** What former versions count of the quota. */
  readonly versionBytes: number;
  readonly members: readonly BucketMember[];
  /** Absent where the service stores what it is sent. */
  readonly endToEnd?: EndToEndRecord | undefined;
  readonly createdAt: string;
  readonly updatedAt: string;
}

export interface BucketOptions {
  readonly isPublic?: boolean | undefined;
  /**
   * Folders answer their index.html, 404.html what is not there, and pages run scripts, each in an
   * origin of its own. Only of a public bucket.
   */
  readonly isSite?: boolean | undefined;
  /** 0 takes the quota away. */
  readonly quotaBytes?: number | undefined;
  readonly quotaFiles?: number | undefined;
  /** Up to 3,650; 0 keeps no former versions. */
  readonly keepVersionsDays?: number | undefined;
  /** Files are encrypted before they are sent; while the bucket is empty, but for recipients. */
  readonly endToEnd?: EndToEndSettings | undefined;
}

export interface BucketChange extends BucketOptions {
  /** False ends it, while the bucket is empty. */
  readonly isEndToEnd?: boolean | undefined;
  /** Principal of who is to own it from now on. */
  readonly owner?: string | undefined;
  readonly addMembers?: readonly BucketMember[] | undefined;
  readonly removeMembers?: readonly string[] | undefined;
}

/** What is at `/.well-known/{name}`. */
export interface WellKnownText {
  readonly name: string;
  readonly contentType: string;
  readonly body: string;
}

export type Permission = 'read' | 'write' | 'delete';

export interface KeyRequest {
  readonly name: string;
  readonly buckets: readonly string[];
  readonly permissions: readonly Permission[];
  /**
   * The key is for paths that begin with it, to the letter, and for all without one. `inbox/` is a
   * folder; `inbox` is also `inbox-2/a`.
   */
  readonly prefix?: string | undefined;
  readonly expiresAt?: Date | undefined;
  /**
   * Updates that the key may cause an hour, and bytes in them; 0: no limit. Absent: no limit for a
   * key that may read, else 2,000 updates and 2 GB.
   */
  readonly updatesPerHour?: number | undefined;
  readonly bytesPerHour?: number | undefined;
}

export interface KeyRecord {
  readonly id: string;
  /** The first characters of the secret. */
  readonly hint: string;
  readonly name: string;
  readonly buckets: readonly string[];
  readonly permissions: readonly string[];
  /** Absent when the key is for all paths of its buckets. */
  readonly prefix?: string | undefined;
  readonly createdAt: string;
  /** Principal; absent for keys of version 0.1.0, and in the answer to create(). */
  readonly createdBy?: string | undefined;
  readonly expiresAt?: string | undefined;
  /** Updates that the key may cause an hour, and bytes in them; absent in a record: no limit. */
  readonly updatesPerHour?: number | undefined;
  readonly bytesPerHour?: number | undefined;
}

/** The secret is in the answer to create() and nowhere else. */
export interface NewKey extends KeyRecord {
  readonly secret: string;
}

export interface AccessChange {
  /** Principals that may create buckets from now on. */
  readonly allow?: readonly string[] | undefined;
  /** Those that may not any more; their buckets stay. */
  readonly disallow?: readonly string[] | undefined;
  /** Limits requests without a key that succeed and cost an update, such as ranges. */
  readonly anonymousUpdates?: Budget | undefined;
  /** Limits the same requests by links. */
  readonly linkUpdates?: Budget | undefined;
  /** Limits refused calls and requests of callers who have no right to what they ask for. */
  readonly refusals?: Budget | undefined;
  /** Limits derivations of identities of end-to-end buckets: 26 G cycles each. */
  readonly derivations?: Budget | undefined;
}

/** Where a root key comes from: kept in the canister, or derived by vetKD from a named key. */
export type RootKeySource = 'stored' | { readonly vetkd: string };
