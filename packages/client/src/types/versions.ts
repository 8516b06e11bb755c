// Former versions of files.

import type { CallOptions } from './call-options.ts';
import type { CopyOptions, FileName, ShownPath, UserMetadata } from './files.ts';
import type { Retention } from './retention.ts';

/** A former version. */
export interface FileVersion extends ShownPath {
  readonly path: string;
  readonly version: number;
  readonly size: number;
  readonly contentType: string;
  readonly etag: string;
  /** When the version was stored; ISO 8601, as the next two. */
  readonly updatedAt: string;
  /** When it was replaced or deleted. */
  readonly retiredAt: string;
  /** When the service erases it. */
  readonly expiresAt: string;
  readonly metadata?: UserMetadata | undefined;
  /** Absent if neither retention nor a hold protects it. */
  readonly retention?: Retention | undefined;
}

/** One version of a file, the present or a former one. */
export interface VersionName extends FileName {
  readonly version: number;
}

/** Pass a path, a prefix, or neither for the whole bucket. */
export interface VersionListOptions extends CallOptions {
  readonly bucket: string;
  readonly path?: string | undefined;
  /**
   * Taken literally.
   *
   * @example
   * ```ts
   * const notes = { bucket: 'demo', prefix: 'notes/' };
   * for await (const { path, version } of storage.versions.list(notes)) console.log(path, version);
   * ```
   */
  readonly prefix?: string | undefined;
}

export interface VersionPage {
  readonly items: readonly FileVersion[];
  /** Absent on the last page. */
  readonly nextCursor?: string | undefined;
}

export interface RestoreOptions extends CopyOptions, VersionName {}

/**
 * Pass a path or a prefix. With a path, `version` selects one version, the present or a former
 * one; without `version` all former versions are erased.
 */
export interface EraseOptions extends CallOptions {
  readonly bucket: string;
  readonly path?: string | undefined;
  /**
   * @example
   * ```ts
   * const file = { bucket: 'demo', path: 'notes/hello.txt' };
   * for await (const { version } of storage.versions.list(file)) {
   *   await storage.versions.erase({ ...file, version });
   * }
   * ```
   */
  readonly version?: number | undefined;
  /**
   * Taken literally; the empty prefix matches every path.
   *
   * @example
   * ```ts
   * await storage.versions.erase({ bucket: 'demo', prefix: 'notes/' });
   * ```
   */
  readonly prefix?: string | undefined;
  /**
   * For owners: erases also versions that are retained in governance mode.
   *
   * @example
   * ```ts
   * const erasure = { bucket: 'demo', prefix: 'notes/', bypassGovernance: true };
   * const { erased, held } = await storage.versions.erase(erasure);
   * console.log(erased, held);
   * ```
   */
  readonly bypassGovernance?: boolean | undefined;
}
