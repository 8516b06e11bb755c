// What callers tell copies, moves, changes and former versions, and what these give.

import type { StorageError } from '../storage-error.ts';
import type { CallOptions, FileName, ShownPath, StoredHeaders, UserMetadata } from './interface.ts';

/** Where a copy or a move goes. */
export interface CopyTarget {
  /** The source's unless told. */
  readonly bucket?: string | undefined;
  readonly path: string;
}

/** What is at the target now must be. */
export interface CopyOptions extends CallOptions {
  readonly ifMatch?: string | undefined;
  readonly ifNoneMatch?: string | undefined;
}

/** What is named takes the place of the whole field; what is not comes along. */
export interface CopyFileOptions extends CopyOptions {
  /** One of the source's versions, the present or a former one. */
  readonly version?: number | undefined;
  /** Entity tags, of which the source must have one. */
  readonly ifSourceMatch?: string | undefined;
  readonly contentType?: string | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly headers?: StoredHeaders | undefined;
  readonly metadata?: UserMetadata | undefined;
}

export interface MoveAllOptions extends CallOptions {
  readonly bucket: string;
  /** Literal. */
  readonly fromPrefix: string;
  /** Takes its place; neither may begin with the other. */
  readonly toPrefix: string;
}

export interface MovedFiles {
  readonly moved: number;
  /** What stays where it is. */
  readonly failed: readonly { readonly path: string; readonly error: StorageError }[];
}

/** What is named takes the place of the whole field; what is not stays. At least one is named. */
export interface FileChange extends CallOptions {
  readonly contentType?: string | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly headers?: StoredHeaders | undefined;
  readonly metadata?: UserMetadata | undefined;
  /** Entity tag of the bytes, which no change alters. */
  readonly ifMatch?: string | undefined;
}

/** A former version. */
export interface FileVersion extends ShownPath {
  readonly path: string;
  readonly version: number;
  readonly size: number;
  readonly contentType: string;
  readonly etag: string;
  /** ISO 8601: when it was stored, when it was replaced or deleted, and until when it is kept. */
  readonly updatedAt: string;
  readonly retiredAt: string;
  readonly expiresAt: string;
  readonly metadata?: UserMetadata | undefined;
}

export interface StatOptions extends CallOptions {
  /** One of the file's versions, the present or a former one. */
  readonly version?: number | undefined;
}

/** Of a path, of a prefix, or, with neither, of the bucket. */
export interface VersionListOptions extends CallOptions {
  readonly bucket: string;
  readonly path?: string | undefined;
  /** Literal. */
  readonly prefix?: string | undefined;
}

export interface VersionPage {
  readonly items: readonly FileVersion[];
  /** Absent at the end. */
  readonly nextCursor?: string | undefined;
}

export interface RemoveOptions extends CallOptions {
  /** Entity tags as in If-Match: a file that has none of them stays, with PreconditionFailed. */
  readonly ifMatch?: string | undefined;
}

export interface RestoreOptions extends CopyOptions, FileName {
  readonly version: number;
}

/**
 * Of a path one version, the present or a former one, or all former ones; else of all paths that
 * begin with the prefix.
 */
export interface EraseOptions extends CallOptions {
  readonly bucket: string;
  readonly path?: string | undefined;
  readonly version?: number | undefined;
  /** Literal; the empty one is every path's. */
  readonly prefix?: string | undefined;
}
