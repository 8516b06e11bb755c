// Operations on thumbnails; `readFiles` reads many of them.

import type { FileName } from '../types/files.ts';
import type { PathRows, Rows } from './operation.ts';
import { thumbnailPath } from './url-paths.ts';

export interface ThumbnailRequest extends FileName {
  /** The entity tag of the file that the picture shows. */
  readonly etag: string;
  readonly bytes: Uint8Array;
}

export interface ThumbnailOperations {
  putThumbnail(request: ThumbnailRequest): undefined;
}

export const thumbnailRows = {
  putThumbnail: {
    retry: 'repeat',
    request: ({ etag, bytes, ...file }) => ({
      method: 'PUT',
      path: thumbnailPath(file),
      headers: { 'Content-Type': 'application/octet-stream', 'If-Match': `"${etag}"` },
      body: bytes,
      isBare: true,
    }),
  },
} satisfies Rows<ThumbnailOperations>;

export const thumbnailPaths = {
  putThumbnail: { seals: { path: 'path' } },
} satisfies PathRows<ThumbnailOperations>;
