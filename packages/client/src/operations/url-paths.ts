// Paths of the service's URLs. `fetch` resolves dot segments, which would reach other buckets and
// other routes, so bucket ids and paths with dot segments are refused. Upload ids are not checked.

import { bucketIdRefusal, isBucketId } from '../../../wire/src/bucket-id.ts';
import { StorageError } from '../storage-error.ts';
import type { FileName } from '../types/files.ts';

export function bucketPath(bucket: string): string {
  return `/api/v1/bucket/${bucketSegment(bucket)}`;
}

export function filePath({ bucket, path }: FileName): string {
  return `${bucketPath(bucket)}/files/${pathSegments(path)}`;
}

/** The path of a file's thumbnail. */
export function thumbnailPath({ bucket, path }: FileName): string {
  return `${bucketPath(bucket)}/thumbnails/${pathSegments(path)}`;
}

/** The path of a file's versions; the query parameter `version` selects one. */
export function versionPath({ bucket, path }: FileName): string {
  return `${bucketPath(bucket)}/versions/${pathSegments(path)}`;
}

export function sessionPath({
  bucket,
  uploadId,
}: {
  readonly bucket: string;
  readonly uploadId: string;
}): string {
  return `${bucketPath(bucket)}/upload/${encodeURIComponent(uploadId)}`;
}

/** The path of a file's bytes. */
export function cloudPath({ bucket, path }: FileName): string {
  return `/cloud/${bucketSegment(bucket)}/${pathSegments(path)}`;
}

function bucketSegment(bucket: string): string {
  if (isBucketId(bucket)) return bucket;
  throw new StorageError('InvalidBucketId', bucketIdRefusal(JSON.stringify(bucket.slice(0, 80))));
}

/** Returns whether this code runs in a page of another origin; false outside of browsers. */
export function isCrossOrigin(url: string): boolean {
  const { location } = globalThis;
  return location !== undefined && location.origin !== new URL(url).origin;
}

/** Removes final slashes, so that a slash and a name can be appended. */
export function withoutLastSlashes(text: string): string {
  let end = text.length;
  while (text[end - 1] === '/') end -= 1;
  return text.slice(0, end);
}

/** Encodes a path; the service ignores one leading slash. */
function pathSegments(path: string): string {
  const segments = path.replace(/^\//, '').split('/');
  const isUsable = segments.every((segment) => !['', '.', '..'].includes(segment));
  if (!isUsable || /\p{Cs}/u.test(path)) {
    throw new StorageError(
      'InvalidPath',
      `${JSON.stringify(path)} has a segment "", "." or "..", or a surrogate.`,
    );
  }
  return segments.map(encodeURIComponent).join('/');
}
