// The operations on thumbnails.

import { pathList, readForm } from './batch-operations.ts';
import { bytes, type Operations } from './description.ts';
import { emptied, keyErrors, storeErrors, uncached } from './file-operations.ts';

const pictureTypes = [
  'image/webp',
  'image/jpeg',
  'image/png',
  'image/avif',
  'application/age',
] as const;

export const thumbnailOperations: Operations = {
  'PUT B/thumbnails/{path}': {
    id: 'putThumbnail',
    key: 'required',
    headers: ['If-Match'],
    body: { types: pictureTypes, schema: bytes },
    answers: { 204: emptied },
    errors: [...storeErrors, 'NoSuchFile'],
  },
  'GET B/thumbnails/{path}': {
    id: 'getThumbnail',
    key: 'required',
    headers: ['If-None-Match'],
    answers: {
      200: {
        says: 'The picture.',
        schema: bytes,
        type: '*/*',
        headers: ['ETag', 'X-Content-Type-Options', ...uncached],
        otherHeaders: ['Content-Length'],
      },
      304: { says: 'The picture has this entity tag.', headers: ['ETag', ...uncached] },
    },
    errors: [...keyErrors, 'NoSuchFile'],
  },
  'POST B/thumbnails': {
    id: 'readThumbnails',
    key: 'required',
    body: pathList,
    answers: readForm,
    errors: [...keyErrors, 'EntityTooLarge'],
  },
};
