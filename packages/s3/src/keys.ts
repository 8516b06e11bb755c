// Keys of S3 and paths of files. A key is the path, except for markers of folders: `photos/` is not
// a path, because a path names a file. Its marker is the file `photos/ `, named by one space: no
// other name in a folder precedes it, so that paths have the order of keys.

import { S3Error } from './s3-error.ts';

const keyBytesMax = 1_024;
const markerName = ' ';

/** Returns the path to store a key at; throws KeyTooLongError, and InvalidArgument if none fits. */
export function pathOfKey(key: string): string {
  const path = key.endsWith('/') ? key + markerName : key;
  if (Buffer.byteLength(path) > keyBytesMax) {
    throw new S3Error(
      'KeyTooLongError',
      `A key must have at most ${keyBytesMax} bytes of UTF-8, one less if it ends with a slash.`,
    );
  }
  const fault = key.endsWith(`/${markerName}`) ? 'ends in a name of one space' : faultOf(path);
  if (fault === undefined) return path;
  throw new S3Error('InvalidArgument', `The key cannot be a file path: it ${fault}.`);
}

/** Returns the path of a key, or undefined if nothing can be stored under it. */
export function findPath(key: string): string | undefined {
  try {
    return pathOfKey(key);
  } catch {
    return undefined;
  }
}

export function keyOfPath(path: string): string {
  return path.endsWith(`/${markerName}`) ? path.slice(0, -1) : path;
}

/** The service's rules for paths (docs/reference/limits.md), checked before anything is sent. */
function faultOf(path: string): string | undefined {
  if (!path.isWellFormed()) return 'is not well-formed Unicode';
  if (/\p{Cc}/u.test(path)) return 'contains a control character';
  if (/[\u202a-\u202e\u2066-\u2069]/.test(path)) {
    return 'contains a character that changes the direction of text';
  }
  const segments = path.split('/');
  if (segments.includes('')) return 'has an empty name between slashes, or before the first';
  if (segments.includes('.') || segments.includes('..')) return 'has a name "." or ".."';
  if (segments.includes('<*>') || segments.includes('<$>')) return 'has a name "<*>" or "<$>"';
  return undefined;
}
