// The answers at the public addresses of files.

import { type Answer, bytes } from './description.ts';
import { storedWithFiles } from './header-fields.ts';

const sometimesWithFiles = ['Last-Modified', 'Accept-Ranges', 'Content-Length'] as const;

/** The answers that a thumbnail has too, which is served with fewer fields. */
export const downloadOrThumbnail: Readonly<Record<number, Answer>> = {
  200: {
    says: 'The bytes of the file, or its thumbnail.',
    ...{ schema: bytes, type: '*/*' },
    headers: ['ETag', 'Cache-Control', 'X-Content-Type-Options'],
    otherHeaders: [...storedWithFiles, ...sometimesWithFiles],
  },
  304: {
    says: 'The file, or its thumbnail, has not changed; there is no body.',
    headers: ['ETag', 'Cache-Control'],
    otherHeaders: ['Last-Modified', 'Content-Security-Policy'],
  },
};
