// Thumbnails: GET, HEAD and PUT of `/api/v1/bucket/{bucket}/thumbnails/{path}`, and POST of
// `…/thumbnails`. They are no parameters of `…/files/{path}` and `…/read`, because an earlier
// release would ignore them: it would store the picture in place of the file.

import { sha256 } from '../crypto/hash.ts';
import { checkThumbnail, getThumbnail, putThumbnail } from '../domain/files/thumbnails.ts';
import { matchesTag } from '../domain/shared/preconditions.ts';
import { emptyBytes } from '../lib/bytes.ts';
import { encodeHex } from '../lib/hex.ts';
import { fileRoute } from './authorization.ts';
import { postThumbnails } from './file-reads.ts';
import { type Header, type HttpResponse, header } from './message.ts';
import { noContent, uncached } from './respond.ts';
import { type Answer, type Exchange, headOf, type Route, upgrade } from './router.ts';

/** `If-Match` is the ETag of the file, that of the answer to GET the thumbnail's own. */
function putFileThumbnail(exchange: Exchange): Answer {
  const { stores, call, request, phase } = exchange;
  const etag = header(request, 'if-match');
  const upload = { ...fileRoute(exchange), etag, bytes: request.body };
  if (phase === 'query') {
    checkThumbnail(stores, call, upload);
    return upgrade;
  }
  putThumbnail(stores, call, upload);
  return noContent;
}

function getFileThumbnail(exchange: Exchange): HttpResponse {
  const { stores, call, request } = exchange;
  const { contentType, bytes } = getThumbnail(stores, call, fileRoute(exchange));
  const etag: Header = ['ETag', `"${encodeHex(sha256(bytes))}"`];
  const ifNoneMatch = header(request, 'if-none-match');
  if (ifNoneMatch !== undefined && matchesTag(ifNoneMatch, etag[1], 'weak')) {
    return { status: 304, headers: [etag, uncached], body: emptyBytes };
  }
  const headers: Header[] = [
    ['Content-Type', contentType],
    ['X-Content-Type-Options', 'nosniff'],
    ['Content-Length', String(bytes.length)],
    etag,
    uncached,
  ];
  return { status: 200, headers, body: bytes };
}

export const thumbnailRoutes: readonly Route[] = [
  { pattern: /^\/api\/v1\/bucket\/([^/]*)\/thumbnails$/y, handlers: { POST: postThumbnails } },
  {
    pattern: /^\/api\/v1\/bucket\/([^/]*)\/thumbnails\/(.*)$/sy,
    handlers: { GET: getFileThumbnail, HEAD: headOf(getFileThumbnail), PUT: putFileThumbnail },
    uploadMethods: ['PUT'],
  },
];
