// Paths of the service's URLs. `fetch` resolves dot segments, which would reach other buckets and
// other requests: no name with one becomes a URL.

import { bucketIdRefusal, isBucketId } from '../../../wire/src/bucket-id.ts';
import { StorageError } from '../storage-error.ts';
import type { FileName } from '../types/files.ts';

export function bucketPath(bucket: string): string {
  return `/api/v1/bucket/${bucketSegment(bucket)}`;
}

/** Its record. */
export function filePath({ bucket, path }: FileName): string {
  return `${bucketPath(bucket)}/files/${pathSegments(path)}`;
}

/** Its versions, of which a query names one. */
export function versionPath({ bucket, path }: FileName): string {
  return `${bucketPath(bucket)}/versions/${pathSegments(path)}`;
}

/** Its bytes. */
export function cloudPath({ bucket, path }: FileName): string {
  return `/cloud/${bucketSegment(bucket)}/${pathSegments(path)}`;
}

function bucketSegment(bucket: string): string {
  if (isBucketId(bucket)) return bucket;
  throw new StorageError('InvalidBucketId', bucketIdRefusal(JSON.stringify(bucket.slice(0, 80))));
}

export function queryOf(parameters: Record<string, string | number | undefined>): URLSearchParams {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined) query.set(name, String(value));
  }
  return query;
}

/** An address or a folder, to which a slash and a name can be added. */
export function withoutLastSlashes(text: string): string {
  let end = text.length;
  while (text[end - 1] === '/') end -= 1;
  return text.slice(0, end);
}

/** With or without one slash in front, as the service takes it. */
function pathSegments(path: string): string {
  const segments = path.replace(/^\//, '').split('/');
  const isUsable = segments.every((segment) => !['', '.', '..'].includes(segment));
  if (!isUsable || /\p{Cs}/u.test(path)) {
    throw new StorageError(
      'InvalidPath',
      `A path has no empty, "." or ".." segments; got ${JSON.stringify(path)}.`,
    );
  }
  return segments.map(encodeURIComponent).join('/');
}
