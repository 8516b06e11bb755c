// Answers to OPTIONS: the requests that browsers may send and the fields that scripts of other
// origins may read (Fetch standard, "CORS protocol"), the same for every path.

import { storedHeaderNames } from '../../packages/wire/src/stored-headers.ts';
import { emptyBytes } from '../lib/bytes.ts';
import { fileBytesMax } from '../limits.ts';
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
const apiPreflightResponse: HttpResponse = preflight(
  exposedHeaders,
  `${allowedHeaders}, X-File-Metadata`,
  `${methods}, PATCH`,
);

export const tusVersion = '1.0.0';
const tusStart = '/api/v1/tus/';

/** Every answer names the version; one to another version must name the supported ones. */
const tusAnswerFields: readonly Header[] = [
  [
    exposedHeaders[0],
    'Location, Content-Location, Upload-Offset, Upload-Length, Upload-Metadata, Upload-Expires, ' +
      'Tus-Resumable, Tus-Version, Tus-Extension, Tus-Max-Size, Tus-Checksum-Algorithm, ' +
      'Retry-After, X-Request-Id',
  ],
  ['Tus-Resumable', tusVersion],
  ['Tus-Version', tusVersion],
];

const tusAllowedHeaders =
  `${allowedHeaders}, Tus-Resumable, Upload-Length, Upload-Offset, Upload-Metadata, ` +
  'Upload-Checksum, Upload-Concat, X-HTTP-Method-Override, X-Requested-With, X-Request-ID';

/** Says what the server supports (tus 1.0.0, "OPTIONS"), and answers a browser's preflight. */
const tusPreflightResponse: HttpResponse = withFields(
  preflight(exposedHeaders, tusAllowedHeaders, `${methods}, PATCH`),
  [
    ...tusAnswerFields,
    ['Tus-Extension', 'creation,creation-with-upload,termination,checksum,expiration'],
    ['Tus-Max-Size', String(fileBytesMax)],
    ['Tus-Checksum-Algorithm', 'sha1,sha256'],
  ],
);

/** Replaces fields of the same name. */
function withFields(response: HttpResponse, fields: readonly Header[]): HttpResponse {
  const names = new Set(fields.map(([name]) => name));
  const kept = response.headers.filter(([name]) => !names.has(name));
  return { ...response, headers: [...kept, ...fields] };
}

function isTus(url: string): boolean {
  return url.startsWith(tusStart);
}

/** `url`: below `/api/`. */
export function apiPreflight(url: string): HttpResponse {
  return isTus(url) ? tusPreflightResponse : apiPreflightResponse;
}

/** Returns the fields of every answer below `/api/` except to OPTIONS. */
export function answerFields(url: string): readonly Header[] {
  return isTus(url) ? tusAnswerFields : [exposedHeaders];
}

/** The answer at a file with the leaves of version 0.1.0, which certify this form. */
export const formerPreflightResponse: HttpResponse = preflight(
  ['Access-Control-Expose-Headers', 'ETag, Location, Content-Range, X-Request-Id'],
  'Authorization, Content-Type, X-Bucket-Id, X-File-Tags, If-Match, If-None-Match, Range, ' +
    'Content-Digest',
);
