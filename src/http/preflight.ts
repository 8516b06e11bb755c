// Answers to OPTIONS: the requests that browsers may send and the fields that scripts of other
// origins may read (Fetch standard, "CORS protocol"), the same for every path.

import { storedHeaderNames } from '../../packages/wire/src/stored-headers.ts';
import { emptyBytes } from '../lib/bytes.ts';
import type { Header, HttpResponse } from './message.ts';

export const exposedHeaders: Header = [
  'Access-Control-Expose-Headers',
  'ETag, Location, Content-Range, Content-Length, Accept-Ranges, Last-Modified, ' +
    'Content-Disposition, Retry-After, X-Request-Id',
];

/** All headers of requests for files. */
const allowedHeaders =
  `Authorization, Content-Type, X-Bucket-Id, X-File-Tags, ${storedHeaderNames.join(', ')}, ` +
  'Content-Digest, Repr-Digest, If-Match, If-None-Match, If-Modified-Since, ' +
  'If-Unmodified-Since, If-Range, Range, Prefer';

const methods = 'GET, HEAD, PUT, POST, DELETE, OPTIONS';

function preflight(exposed: Header, allowed: string, allowedMethods = methods): HttpResponse {
  return {
    status: 204,
    headers: [
      ['Access-Control-Allow-Origin', '*'],
      ['Access-Control-Allow-Methods', allowedMethods],
      ['Access-Control-Allow-Headers', allowed],
      exposed,
      ['Access-Control-Max-Age', '86400'],
    ],
    body: emptyBytes,
  };
}

/** A gateway uses this answer only because it is 2xx, empty and has a CORS header. */
export const preflightResponse: HttpResponse = preflight(exposedHeaders, allowedHeaders);

/** The answer below `/api/`, where nothing is certified in advance. */
export const apiPreflightResponse: HttpResponse = preflight(
  exposedHeaders,
  `${allowedHeaders}, X-File-Metadata`,
  `${methods}, PATCH`,
);

/** The answer at a file with the leaves of version 0.1.0, which certify this form. */
export const formerPreflightResponse: HttpResponse = preflight(
  ['Access-Control-Expose-Headers', 'ETag, Location, Content-Range, X-Request-Id'],
  'Authorization, Content-Type, X-Bucket-Id, X-File-Tags, If-Match, If-None-Match, Range, ' +
    'Content-Digest',
);
