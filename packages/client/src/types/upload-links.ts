// Upload links.

import type { CallOptions } from './call-options.ts';

export interface UploadLinkRequest extends CallOptions {
  readonly bucket: string;
  /**
   * The path of the one file that the link is for.
   *
   * @example
   * ```ts
   * const request = { bucket: 'demo', path: 'avatars/me.png' };
   * const { putUrl } = await storage.uploadLinks.create(request);
   * console.log(putUrl);
   * ```
   */
  readonly path?: string | undefined;
  /**
   * In place of `path`: files whose paths begin with it; '' for all paths.
   *
   * @example
   * ```ts
   * const { formUrl } = await storage.uploadLinks.create({
   *   bucket: 'demo',
   *   prefix: 'inbox/',
   *   maxFiles: 5,
   *   maxFileBytes: 10_000_000,
   *   expiresAt: new Date(Date.now() + 3_600_000),
   * });
   * console.log(formUrl);
   * ```
   */
  readonly prefix?: string | undefined;
  /** By default in a day; at most in 366 days. */
  readonly expiresAt?: Date | undefined;
  /** Maximum number of bytes of each file; by default that of every file. */
  readonly maxFileBytes?: number | undefined;
  /** Maximum number of files; by default 1, and 0 for no limit. */
  readonly maxFiles?: number | undefined;
}

/**
 * An upload link with its addresses, which only create() returns. Anyone with one of them can add
 * files. They are whole addresses, or paths if the storage does not know the service's address.
 */
export interface NewUploadLink {
  readonly id: string;
  /** For PUT. With a prefix, it has `{name}` in the place of the file's name. */
  readonly putUrl: string;
  /** For POST of a form, `multipart/form-data`. */
  readonly formUrl: string;
  /** For clients of tus, such as Uppy. */
  readonly tusUrl: string;
  /** ISO 8601. */
  readonly expiresAt: string;
}

export interface UploadLinkRecord {
  readonly id: string;
  /** The path that the link is for; without it the link has a prefix. */
  readonly path?: string | undefined;
  readonly prefix?: string | undefined;
  /** ISO 8601. */
  readonly createdAt: string;
  readonly expiresAt: string;
  readonly maxFileBytes?: number | undefined;
  /** Maximum number of files, and how many are stored; absent without a limit. */
  readonly maxFiles?: number | undefined;
  readonly fileCount?: number | undefined;
  /** Principal that created the link; only with calls of the actor. */
  readonly createdBy?: string | undefined;
  /** Id of the API key that created the link. */
  readonly keyId?: string | undefined;
}

export interface UploadLinkListOptions extends CallOptions {
  readonly bucket: string;
}
