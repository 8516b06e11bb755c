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
import { representationHeaders, validatorHeaders } from './file-headers.ts';
import {
  type Header,
  type HttpResponse,
  header,
  type PublicAnswer,
  type PublicRow,
  soleHeader,
} from './message.ts';
import { evaluateConditions, rangeApplies } from './preconditions.ts';
import { contentRange, parseRange } from './range.ts';
import type { Exchange } from './router.ts';

export function getCloudFile(exchange: Exchange): HttpResponse {
  const opened = cloudFile(exchange);
  const { file } = opened;
  const conditional = conditionalResponse(exchange, opened);
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
  const isPlain =
    header(request, 'range') === undefined && header(request, 'if-range') === undefined;
  if (range.kind === 'whole' && (file.chunkCount <= 1 || !isPlain)) {
    requireOneAnswer(file);
    const body = readFile(stores, file, { start: 0, end: file.size });
    const row: PublicRow | undefined =
      file.chunkCount <= 1 ? { row: 'plain', method: 'GET' } : undefined;
    return {
      status: 200,
      headers: fileHeaders(file),
      body,
      publicAnswer: answerToAll(exchange, opened, row),
    };
  }
  const asked = range.kind === 'part' ? range : { start: 0, end: file.size };
  const { start } = asked;
  const end = answerEnd(file, asked);
  const headers: Header[] = [
    ...fileHeaders(file),
    ['Content-Range', contentRange(start, end, file.size)],
  ];
  const row: PublicRow | undefined =
    range.kind === 'part' ? partRow(exchange, file, start) : { row: 'plain', method: 'GET' };
  const publicAnswer = answerToAll(exchange, opened, row);
  return { status: 206, headers, body: readFile(stores, file, { start, end }), publicAnswer };
}

/**
 * A gateway joins the parts of a file only for a request without these fields, and a part that
 * nobody asked for would be taken for another (RFC 9110 §15.5.17).
 */
function requireOneAnswer(file: FileRecord): void {
  if (file.size > responseBodyBytesMax) {
    throw new Refusal(
      'InvalidRange',
      `A file of more than ${responseBodyBytesMax} bytes comes whole to requests without Range and ` +
        'If-Range: leave both out, or ask for one range of the present version.',
      { size: file.size },
    );
  }
}

/** As a gateway asks for the part that starts there. */
function partRow(exchange: Exchange, file: FileRecord, start: number): PublicRow | undefined {
  const isPart =
    start % file.chunkSize === 0 && soleHeader(exchange.request, 'range') === `bytes=${start}-`;
  return isPart ? { row: 'part', index: start / file.chunkSize } : undefined;
}

interface OpenedFile {
  readonly file: FileRecord;
  readonly isPublic: boolean;
}

/** `undefined` when who asks, or what else is sent, counts too. */
function answerToAll(
  { request }: Exchange,
  { file, isPublic }: OpenedFile,
  row: PublicRow | undefined,
): PublicAnswer | undefined {
  const isForAll = isPublic && request.body.length === 0;
  return row !== undefined && isForAll ? { file, row } : undefined;
}

export function headCloudFile(exchange: Exchange): HttpResponse {
  const opened = cloudFile(exchange);
  const { file } = opened;
  const conditional = conditionalResponse(exchange, opened);
  const headers: Header[] = [...fileHeaders(file), ['Content-Length', String(file.size)]];
  const publicAnswer = answerToAll(exchange, opened, { row: 'plain', method: 'HEAD' });
  return conditional ?? { status: 200, headers, body: emptyBytes, publicAnswer };
}

/**
 * A file of a private bucket only for a key that may read it; without one there is no such file.
 * The gateway keeps answers by URL alone, so what a key opened must not be kept at all. For public
 * ones a key counts for nothing: gateways ask for the further parts as anybody would.
 */
function cloudFile(exchange: Exchange): OpenedFile {
  const { stores, call, request } = exchange;
  const [bucket = '', captured = ''] = exchange.captures;
  // With its slash, so that a second one is an empty segment.
  const path = `/${captured}`;
  const isPublic = getBucket(stores, bucket).isPublic;
  if (isPublic || header(request, 'authorization') === undefined) {
    return { file: getPublicFile(stores, bucket, path), isPublic };
  }
  const file = getFile(stores, call, { bucket, path, apiKey: requestKey(exchange, bucket) });
  return { file: { ...file, cacheControl: 'private, no-store' }, isPublic };
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

function conditionalResponse(exchange: Exchange, opened: OpenedFile): HttpResponse | undefined {
  const { request } = exchange;
  const { file } = opened;
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
  if (verdict === 'proceed') {
    return undefined;
  }
  const publicAnswer = answerToAll(exchange, opened, notModifiedRow(exchange, file));
  return { status: 304, headers: validatorHeaders(file), body: emptyBytes, publicAnswer };
}

/** To a browser that asks for the file again. */
function notModifiedRow({ request }: Exchange, file: FileRecord): PublicRow | undefined {
  const tag = soleHeader(request, 'if-none-match');
  const etag = entityTag(file);
  const method = request.method === 'HEAD' ? 'HEAD' : 'GET';
  const isOwn = tag === etag || tag === `W/${etag}`;
  return isOwn ? { row: 'not-modified', method, tag } : undefined;
}

function fileHeaders(file: FileRecord): Header[] {
  return [...validatorHeaders(file), ...representationHeaders(file)];
}
