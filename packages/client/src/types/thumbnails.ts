// Thumbnails: small pictures of files, which clients make.

import type { CallOptions } from './call-options.ts';
import type { FileName } from './files.ts';

/** A file, and the version of it that a thumbnail shows. */
export interface PicturedFile extends FileName {
  /** The entity tag in the file's record. A file with other bytes gets PreconditionFailed. */
  readonly etag: string;
}

export interface ThumbnailsOptions extends CallOptions {
  readonly bucket: string;
  readonly paths: readonly string[];
}

export interface Thumbnail {
  /** The entity tag of the file. */
  readonly etag: string;
  /**
   * `image/webp`, `image/jpeg`, `image/png` or `image/avif`; `application/age` if it is encrypted
   * and the storage has no `endToEnd`.
   */
  readonly contentType: string;
  readonly bytes: Uint8Array;
}
