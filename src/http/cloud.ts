// GET and HEAD of files: `/cloud/{bucket}/{path}`, with a key when the bucket is private. A file of
// several chunks is answered part by part with 206; the gateway asks for each next part and joins
// them into one 200.

import { getBucket } from '../domain/buckets.ts';
import { getFile } from '../domain/file-access.ts';
import { entityTag, type FileRecord, getPublicFile, readFile } from '../domain/files.ts';
import { Refusal } from '../domain/refusal.ts';
import { emptyBytes } from '../lib/bytes.ts';
import { responseBodyBytesMax } from '../limits.ts';
import { requestKey } from './authorization.ts';
import { type Header, type HttpResponse, header } from './message.ts';
import { evaluateConditions, formatHttpDate, rangeApplies } from './preconditions.ts';
import { contentRange, parseRange } from './range.ts';
import type { Exchange } from './router.ts';

const defaultCacheControl = 'public, max-age=3600';

export function getCloudFile(exchange: Exchange): HttpResponse {
  const file = cloudFile(exchange);
  const conditional = conditionalResponse(exchange, file);
  if (conditional !== undefined) {
    return conditional;
  }
  const { stores, request } = exchange;
  const validators = validatorsOf(file);
  const applies = rangeApplies(header(request, 'if-range'), validators);
  const range = parseRange(applies ? header(request, 'range') : undefined, file.size);
  if (range.kind === 'unsatisfiable') {
    throw new Refusal('InvalidRange', `The file has ${file.size} bytes: ask for some of them.`, {
      size: file.size,
    });
  }
  const isWholeFile = range.kind === 'whole' && file.chunkCount <= 1;
  if (isWholeFile) {
    const body = readFile(stores, file, { start: 0, end: file.size });
    return { status: 200, headers: fileHeaders(file), body };
  }
  const asked = range.kind === 'part' ? range : { start: 0, end: file.size };
  const { start } = asked;
  const end = answerEnd(file, asked);
  const headers: Header[] = [
    ...fileHeaders(file),
    ['Content-Range', contentRange(start, end, file.size)],
  ];
  return { status: 206, headers, body: readFile(stores, file, { start, end }) };
}

export function headCloudFile(exchange: Exchange): HttpResponse {
  const file = cloudFile(exchange);
  const conditional = conditionalResponse(exchange, file);
  const headers: Header[] = [...fileHeaders(file), ['Content-Length', String(file.size)]];
  return conditional ?? { status: 200, headers, body: emptyBytes };
}

/**
 * A file of a private bucket only for a key that may read it; without one there is no such file.
 * The gateway keeps answers by URL alone, so what a key opened must not be kept at all.
 */
function cloudFile(exchange: Exchange): FileRecord {
  const { stores, call, request } = exchange;
  const [bucket = '', captured = ''] = exchange.captures;
  // With its slash, so that a second one is an empty segment.
  const path = `/${captured}`;
  if (header(request, 'authorization') === undefined) {
    return getPublicFile(stores, bucket, path);
  }
  const isPublic = getBucket(stores, bucket).isPublic;
  const file = isPublic
    ? getPublicFile(stores, bucket, path)
    : getFile(stores, call, { bucket, path, apiKey: requestKey(exchange, bucket) });
  return { ...file, cacheControl: 'private, no-store' };
}

/**
 * Where one answer to a range ends: a 206 may cover less than was asked for (RFC 9110 §15.3.7).
 * From a chunk's start to the end of the file, as the gateway asks for the next part, it is that
 * chunk; else what fits.
 */
function answerEnd(
  file: FileRecord,
  asked: { readonly start: number; readonly end: number },
): number {
  const { start, end } = asked;
  const isPart = start % file.chunkSize === 0 && end === file.size;
  const bytes = isPart ? Math.min(file.chunkSize, responseBodyBytesMax) : responseBodyBytesMax;
  return Math.min(end, start + bytes);
}

function validatorsOf(file: FileRecord) {
  return { etag: entityTag(file), lastModifiedNs: file.updatedAtNs };
}

function conditionalResponse(exchange: Exchange, file: FileRecord): HttpResponse | undefined {
  const { request } = exchange;
  const verdict = evaluateConditions(
    {
      ifMatch: header(request, 'if-match'),
      ifNoneMatch: header(request, 'if-none-match'),
      ifModifiedSince: header(request, 'if-modified-since'),
      ifUnmodifiedSince: header(request, 'if-unmodified-since'),
      ifRange: header(request, 'if-range'),
    },
    validatorsOf(file),
  );
  if (verdict === 'failed') {
    throw new Refusal('PreconditionFailed', 'The file is not in the state that the request names.');
  }
  return verdict === 'not-modified'
    ? { status: 304, headers: validatorHeaders(file), body: emptyBytes }
    : undefined;
}

/** What a 304 repeats of a 200 (RFC 9110 §15.4.5). */
function validatorHeaders(file: FileRecord): Header[] {
  return [
    ['ETag', entityTag(file)],
    ['Last-Modified', formatHttpDate(file.updatedAtNs)],
    ['Cache-Control', file.cacheControl || defaultCacheControl],
  ];
}

function fileHeaders(file: FileRecord): Header[] {
  const headers: Header[] = [
    ['Content-Type', file.contentType],
    ...validatorHeaders(file),
    ['Accept-Ranges', 'bytes'],
    ['X-Content-Type-Options', 'nosniff'],
  ];
  for (const [name, value] of [
    ['Content-Disposition', file.contentDisposition],
    ['Content-Encoding', file.contentEncoding],
    ['Content-Language', file.contentLanguage],
  ] as const) {
    if (value !== '') headers.push([name, value]);
  }
  if (isActiveType(file.contentType)) {
    headers.push(['Content-Security-Policy', 'sandbox']);
  }
  return headers;
}

/** Types that run scripts in the origin that all buckets share. */
function isActiveType(contentType: string): boolean {
  return /^(?:text\/html|[^;]*(?:xml|xsl|svg|javascript|ecmascript))[ \t]*(?:;|$)/i.test(
    contentType,
  );
}
