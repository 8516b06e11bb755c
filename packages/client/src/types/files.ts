// Files: their names and records, and the options to change, copy, move and remove them. Records
// have the form of the service's JSON interface, also when they come through the actor.

import type { StoredHeaderName } from '../../../wire/src/stored-headers.ts';
import type { StorageError } from '../storage-error.ts';
import type { CallOptions } from './call-options.ts';
import type { Retention } from './retention.ts';

export interface FileName {
  readonly bucket: string;
  readonly path: string;
}

/** A path as the library shows it in a bucket that seals names. */
export interface ShownPath {
  /** True if the library could not open all of the path's names and shows them as stored. */
  readonly isPathAsStored?: boolean | undefined;
}

export interface FileRecord extends ShownPath {
  readonly id: string;
  readonly bucketId: string;
  readonly path: string;
  readonly name: string;
  readonly size: number;
  /** The length of every chunk but the last; absent in lists of files that 0.1.0 stored. */
  readonly chunkSize?: number | undefined;
  readonly contentType: string;
  readonly tags: readonly string[];
  /** Absent if the file has no metadata. */
  readonly metadata?: UserMetadata | undefined;
  /**
   * SHA-256 in hexadecimal. A file of several chunks has the SHA-256 of the chunks' digests, then
   * `-` and the number of chunks.
   */
  readonly etag: string;
  /** The SHA-256 of the whole file, if the service knows it. */
  readonly sha256?: string | undefined;
  readonly version: number;
  /** ISO 8601. */
  readonly createdAt: string;
  readonly updatedAt: string;
  /** Path of the public address. */
  readonly url: string;
  /** Absent if neither retention nor a hold protects the version. */
  readonly retention?: Retention | undefined;
  /** Its thumbnail; absent if it has none, and in answers of the actor. */
  readonly thumbnail?: { readonly size: number; readonly contentType: string } | undefined;
  /**
   * In an end-to-end folder that was opened by its link: the file was added, or replaced, after the
   * sharing, so that the link does not open it.
   */
  readonly afterSharing?: 'added' | 'replaced' | undefined;
}

/** Header fields that the service stores with a file and sends with it. */
export type StoredHeaders = { readonly [Name in StoredHeaderName]?: string };

/** The user's own names and values: at most 32 pairs and 2,048 bytes. */
export type UserMetadata = Readonly<Record<string, string>>;

export interface StatOptions extends CallOptions {
  /**
   * The number of the present or a former version.
   *
   * @example
   * ```ts
   * const file = { bucket: 'demo', path: 'notes/hello.txt' };
   * const { version } = await storage.stat(file);
   * console.log((await storage.stat(file, { version })).updatedAt);
   * ```
   */
  readonly version?: number | undefined;
  /**
   * Reads the record by an update, whose reply the network signs, so that no single node can invent
   * it. Takes some seconds. Requires the actor, and a member or a key that may read.
   *
   * @example
   * ```ts
   * const file = { bucket: 'demo', path: 'notes/hello.txt' };
   * console.log((await storage.stat(file, { certified: true })).etag);
   * ```
   */
  readonly certified?: boolean | undefined;
}

/** Each field given replaces the whole stored field; give at least one. */
export interface FileChange extends CallOptions {
  /**
   * @example
   * ```ts
   * const file = { bucket: 'demo', path: 'notes/hello.txt' };
   * const { etag } = await storage.stat(file);
   * const headers = { 'Content-Language': 'en' };
   * await storage.change(file, { contentType: 'text/markdown', headers, ifMatch: etag });
   * ```
   */
  readonly contentType?: string | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly headers?: StoredHeaders | undefined;
  readonly metadata?: UserMetadata | undefined;
  /** Entity tag of the bytes, which a change does not alter. */
  readonly ifMatch?: string | undefined;
}

/** The target of a copy or a move. */
export interface CopyTarget {
  /**
   * The source's bucket by default.
   *
   * @example
   * ```ts
   * const file = { bucket: 'demo', path: 'notes/hello.txt' };
   * await storage.copy(file, { bucket: 'demo', path: 'notes/copy.txt' });
   * ```
   */
  readonly bucket?: string | undefined;
  readonly path: string;
}

/** Conditions on the file that is at the target now. */
export interface CopyOptions extends CallOptions {
  /**
   * @example
   * ```ts
   * const file = { bucket: 'demo', path: 'notes/hello.txt' };
   * const to = { bucket: 'demo', path: 'notes/target.txt' };
   * const { etag } = await storage.upload(new Blob(['old']), to);
   * await storage.copy(file, to, { ifMatch: etag });
   * ```
   */
  readonly ifMatch?: string | undefined;
  /**
   * @example
   * ```ts
   * const file = { bucket: 'demo', path: 'notes/hello.txt' };
   * await storage.copy(file, { path: 'notes/another.txt' }, { ifNoneMatch: '*' });
   * ```
   */
  readonly ifNoneMatch?: string | undefined;
}

/** Each field given replaces the whole field; the others are copied from the source. */
export interface CopyFileOptions extends CopyOptions {
  /**
   * The number of the source's present or a former version.
   *
   * @example
   * ```ts
   * const file = { bucket: 'demo', path: 'notes/hello.txt' };
   * const { version, etag } = await storage.stat(file);
   * const ifSourceMatch = `"${etag}"`;
   * await storage.copy(file, { path: 'notes/copy.txt' }, { version, ifSourceMatch });
   * ```
   */
  readonly version?: number | undefined;
  /** Entity tags; the source must have one of them. */
  readonly ifSourceMatch?: string | undefined;
  /**
   * @example
   * ```ts
   * const file = { bucket: 'demo', path: 'notes/hello.txt' };
   * await storage.copy(file, { path: 'notes/copy.md' }, {
   *   contentType: 'text/markdown',
   *   headers: { 'Content-Language': 'en' },
   *   metadata: { copiedFrom: 'notes/hello.txt' },
   * });
   * ```
   */
  readonly contentType?: string | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly headers?: StoredHeaders | undefined;
  readonly metadata?: UserMetadata | undefined;
}

export interface MoveOptions extends CopyOptions {
  /**
   * For owners: moves the file also while it is retained in governance mode.
   *
   * @example
   * ```ts
   * const from = { bucket: 'demo', path: 'notes/hello.txt' };
   * await storage.move(from, { path: 'notes/moved.txt' }, { bypassGovernance: true });
   * ```
   */
  readonly bypassGovernance?: boolean | undefined;
}

export interface MoveAllOptions extends CallOptions {
  readonly bucket: string;
  /** Taken literally. */
  readonly fromPrefix: string;
  /** Replaces `fromPrefix`; neither prefix may begin with the other. */
  readonly toPrefix: string;
  /**
   * For owners: moves also files that are retained in governance mode.
   *
   * @example
   * ```ts
   * const prefixes = { fromPrefix: 'notes/', toPrefix: 'old/' };
   * await storage.moveAll({ bucket: 'demo', ...prefixes, bypassGovernance: true });
   * ```
   */
  readonly bypassGovernance?: boolean | undefined;
}

export interface MovedFiles {
  readonly moved: number;
  /** The files that could not be moved. */
  readonly failed: readonly { readonly path: string; readonly error: StorageError }[];
}

export interface SwitchOptions extends CallOptions {
  readonly bucket: string;
  /** All files below it move. Taken literally. */
  readonly fromPrefix: string;
  /** Replaces `fromPrefix`. It may contain `fromPrefix`; '' is the whole bucket. */
  readonly toPrefix: string;
  /**
   * Paths to delete, at most 1,000. Paths without a file are accepted.
   *
   * @example
   * ```ts
   * const prefixes = { fromPrefix: 'notes/', toPrefix: '' };
   * await storage.switchAll({ bucket: 'demo', ...prefixes, deletes: ['old.txt'] });
   * ```
   */
  readonly deletes?: readonly string[] | undefined;
  /**
   * The digest of the files below `toPrefix` after the switch, from `filesDigest`. If they would
   * differ, nothing changes, and the call fails with PreconditionFailed.
   *
   * @example
   * ```ts
   * import { filesDigest } from '@encrypted-file-storage/client';
   *
   * const { path, ...rest } = await storage.stat({ bucket: 'demo', path: 'notes/hello.txt' });
   * const ifResult = await filesDigest([{ ...rest, path: 'shown/hello.txt' }]);
   * const prefixes = { fromPrefix: 'notes/hello.', toPrefix: 'shown/hello.' };
   * await storage.switchAll({ bucket: 'demo', ...prefixes, ifResult });
   * ```
   */
  readonly ifResult?: string | undefined;
}

/** Numbers of files; both are 0 if a repeated call finds the work done. */
export interface SwitchedFiles {
  readonly moved: number;
  readonly deleted: number;
}

export interface RemoveOptions extends CallOptions {
  /**
   * Entity tags as in If-Match. The file is removed only if it has one of them; otherwise the call
   * fails with PreconditionFailed.
   *
   * @example
   * ```ts
   * const file = { bucket: 'demo', path: 'notes/hello.txt' };
   * const { etag } = await storage.stat(file);
   * await storage.remove(file, { ifMatch: etag });
   * ```
   */
  readonly ifMatch?: string | undefined;
  /**
   * For owners: removes the file also while it is retained in governance mode.
   *
   * @example
   * ```ts
   * const file = { bucket: 'demo', path: 'notes/hello.txt' };
   * await storage.remove(file, { bypassGovernance: true });
   * ```
   */
  readonly bypassGovernance?: boolean | undefined;
}

/**
 * Pass paths or a prefix; the empty prefix removes every file of the bucket.
 *
 * @example
 * ```ts
 * const paths = ['notes/hello.txt', 'notes/none.txt'];
 * for await (const { path, error } of storage.removeAll({ bucket: 'demo', paths })) {
 *   console.log(path, error?.code ?? 'removed');
 * }
 * ```
 */
export type RemoveAllOptions = CallOptions & {
  readonly bucket: string;
  /**
   * For owners: removes also files that are retained in governance mode.
   *
   * @example
   * ```ts
   * const notes = { bucket: 'demo', prefix: 'notes/', bypassGovernance: true };
   * for await (const { path, error } of storage.removeAll(notes)) console.log(path, error?.code);
   * ```
   */
  readonly bypassGovernance?: boolean | undefined;
} & ({ readonly paths: Iterable<string> | AsyncIterable<string> } | { readonly prefix: string });

/** The result for one path; without `error` the file is removed. */
export interface RemovedFile extends ShownPath {
  readonly path: string;
  readonly error?: StorageError | undefined;
}
