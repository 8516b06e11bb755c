// Names on the command line: `bucket/path`; a final slash or a bare bucket means a folder.

import type { FileName } from '../../../client/src/types/files.ts';
import { UsageError } from './usage-error.ts';

/** Does not quote the address, which may contain a key. */
const addressGiven =
  'An address is no name of a bucket or a file: write bucket/path. For the whole address of a link, use ' +
  'efs get ADDRESS, and for a folder efs get -r ADDRESS DIR and efs ls ADDRESS.';

export interface Location {
  readonly bucket: string;
  /** The path after the bucket's slash; empty for the bucket itself. */
  readonly path: string;
}

export function parseLocation(text: string): Location {
  if (/^https?:/i.test(text)) throw new UsageError(addressGiven);
  const [bucket = '', ...rest] = text.split('/');
  if (bucket === '') throw new UsageError(`"${text}" has no bucket: write bucket/path.`);
  // The service ignores a leading slash, so its paths would not begin with this one.
  if (rest.slice(0, -1).includes('')) {
    throw new UsageError(`"${text}" has two slashes together: write bucket/path with single ones.`);
  }
  return { bucket, path: rest.join('/') };
}

export function parseFileName(text: string): FileName {
  const { bucket, path } = parseLocation(text);
  if (path === '' || path.endsWith('/')) {
    throw new UsageError(`"${text}" has no path: write bucket/path.`);
  }
  return { bucket, path };
}

export function isFolder({ path }: Location): boolean {
  return path === '' || path.endsWith('/');
}

/** Returns the location as the prefix of its contents. */
export function folderPrefix({ path }: Location): string {
  return path === '' || path.endsWith('/') ? path : `${path}/`;
}

export function nameOf({ bucket, path }: FileName): string {
  return `${bucket}/${path}`;
}
