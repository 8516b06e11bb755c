// Converts arguments of thumbnails between Candid and the domain's types.

import type { ThumbnailUpload } from '../../domain/files/thumbnails.ts';
import type { Optional } from './optional.ts';

export interface ThumbnailArgument {
  readonly bucketId: string;
  readonly path: string;
  readonly etag: string;
  readonly bytes: Uint8Array;
  readonly apiKey: Optional<string>;
}

export function thumbnailOf(argument: ThumbnailArgument): ThumbnailUpload {
  const { bucketId: bucket, path, etag, bytes, apiKey } = argument;
  return { bucket, path, etag, bytes, apiKey: apiKey[0] };
}
