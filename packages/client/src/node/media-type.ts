// The media type of a file on this machine.

import { lookup } from 'mime-types';

/** Returns the type of a path's extension, as uploads without a type get it. */
export function mediaTypeOf(path: string): string {
  return lookup(path) || 'application/octet-stream';
}
