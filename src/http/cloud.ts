// GET and HEAD of files: `/cloud/{bucket}/{path}`, with a key if the bucket is private. A file of
// several chunks is answered chunk by chunk with 206, certified; the gateway requests each
// following chunk and joins them into one 200. A range is answered completely, by a stream if
// necessary.

import { joinedPartsMax } from '../../packages/wire/src/limits.ts';
import { isPublicBucket, type ServedBucket } from '../domain/buckets/buckets.ts';
import {
  entityTag,
  type FileRecord,
  type OpenFile,
  readFile,
  withPublicFile,
} from '../domain/files/file-records.ts';
import { withReadableFile } from '../domain/files/files.ts';
import { openStream } from '../domain/files/streams.ts';
import { Refusal } from '../domain/shared/refusal.ts';
import { cacheControlPlace } from '../domain/shared/stored-headers.ts';
import { emptyBytes } from '../lib/bytes.ts';
import { responseBodyBytesMax, streamBytesMax } from '../limits.ts';
import { fileRoute } from './authorization.ts';
import type { Exchange } from './exchange.ts';
import { ownHeaders } from './file-headers.ts';
import {
  type Header,
  type HttpResponse,
  header,
  type LinkAddress,
  type PublicAnswer,
  type PublicRow,
  type ServedHeaders,
  soleHeader,
} from './message.ts';
import { evaluateConditions, rangeApplies } from './preconditions.ts';
import { contentRange, parseRange, type RangeRequest } from './range.ts';
import { uncached } from './respond.ts';
import { thumbnailQuery, thumbnailResponse } from './thumbnail-answers.ts';

/** Returns the answer at a path of a public bucket that no file has; `undefined`: the 404. */
type Otherwise = (bucket: ServedBucket, path: string) => HttpResponse | undefined;

export function getCloudFile(exchange: Exchange, otherwise: Otherwise): HttpResponse {
  return withCloudFile(exchange, (opened) => ownAnswer(exchange, opened, fileResponse), otherwise);
}

/** Answers at the file's own address, where `thumbnail` in the query asks for its thumbnail. */
function ownAnswer(
  exchange: Exchange,
  opened: OpenedFile,
  respond: (exchange: Exchange, opened: OpenedFile) => HttpResponse,
): HttpResponse {
  const query = thumbnailQuery(exchange.request);
  if (query === undefined) return respond(exchange, opened);
  const method = exchange.request.method === 'HEAD' ? 'HEAD' : 'GET';
  const row: PublicRow | undefined =
    query === 'other' ? undefined : { row: 'thumbnail', method, query };
  const publicAnswer = answerToAll(exchange, opened, row);
  return { ...thumbnailResponse(exchange, opened, publicAnswer !== undefined), publicAnswer };
}

export function fileResponse(exchange: Exchange, opened: OpenedFile): HttpResponse {
  const { file } = opened;
  const conditional = conditionalResponse(exchange, opened);
  if (conditional !== undefined) {
    return conditional;
  }
  const range = askedRange(exchange, file);
  if (range.kind === 'unsatisfiable') {
    throw new Refusal(
      'InvalidRange',
      `The range has no byte of the file, whose size is ${file.size} bytes.`,
      {
        size: file.size,
      },
    );
  }
  return range.kind === 'part'
    ? rangeResponse(exchange, opened, range)
    : wholeResponse(exchange, opened);
}

/** Ignores If-Range without Range (RFC 9110 §13.1.5). */
function askedRange({ request }: Exchange, file: FileRecord): RangeRequest {
  const range = header(request, 'range');
  const applies =
    range !== undefined && rangeApplies(header(request, 'if-range'), validatorsOf(file));
  return parseRange(applies ? range : undefined, file.size);
}

function wholeResponse(exchange: Exchange, opened: OpenedFile): HttpResponse {
  const { file } = opened;
  const row: PublicRow = { row: 'plain', method: 'GET' };
  if (file.chunkCount > joinedPartsMax) {
    const reason = `The file has ${file.chunkCount} chunks; gateways join up to ${joinedPartsMax}`;
    throw tooLarge(file, reason);
  }
  if (file.chunkCount <= 1) {
    return deliver(exchange, opened, { status: 200, start: 0, end: file.size, row });
  }
  const { request } = exchange;
  const isJoined =
    header(request, 'range') === undefined && header(request, 'if-range') === undefined;
  // A gateway joins parts into one 200 only if the request has neither Range nor If-Range.
  return isJoined && exchange.phase === 'query'
    ? partResponse(exchange, opened, { index: 0, row })
    : deliver(exchange, opened, { status: 200, start: 0, end: file.size, row: undefined });
}

interface Range {
  readonly start: number;
  readonly end: number;
}

function rangeResponse(exchange: Exchange, opened: OpenedFile, range: Range): HttpResponse {
  const { file } = opened;
  if (file.chunkCount <= 1 && range.start === 0 && range.end === file.size) {
    return wholeResponse(exchange, opened);
  }
  const index = partAsked(exchange, file, range);
  if (index !== undefined) {
    return partResponse(exchange, opened, { index, row: { row: 'part', index } });
  }
  // Clients would take a shorter answer for the end of the file.
  if (range.end - range.start > streamBytesMax) {
    throw tooLarge(file, `A range of ${range.end - range.start} bytes is too long for one answer`);
  }
  return deliver(exchange, opened, { status: 206, ...range, row: undefined });
}

function tooLarge({ size, chunkCount }: FileRecord, reason: string): Refusal {
  return new Refusal(
    'EntityTooLarge',
    `${reason}: get it by the command \`efs get\`, or by requests with Range of at most ` +
      `${streamBytesMax} bytes each.`,
    { limit: streamBytesMax, size, chunkCount },
  );
}

/**
 * Returns the index of the part that answers the range, or `undefined` if a stream answers all of
 * it. Only the last part covers the whole range. An earlier part is only for gateways that join
 * parts, media elements, which request the rest later, and clients that prefer parts; all others
 * would take its end for the end of the file.
 */
function partAsked(
  { request }: Exchange,
  file: FileRecord,
  { start, end }: Range,
): number | undefined {
  const index = start / file.chunkSize;
  const isAtPart = Number.isInteger(index) && end === file.size;
  if (!isAtPart || soleHeader(request, 'range') !== `bytes=${start}-`) {
    return undefined;
  }
  const destination = header(request, 'sec-fetch-dest');
  const isMedia = destination === 'video' || destination === 'audio';
  // Prefer (RFC 7240) is sent by clients that read part by part, such as ours. Pages of other
  // origins write it into the query, because a header would require a preflight.
  const [, query = ''] = request.url.split('?', 2);
  const isWanted = header(request, 'prefer') === 'part' || query.split('&').includes('prefer=part');
  // Gateways pass on clients' field names in lower case, and send their own Range with a capital.
  const isOfClient = request.headers.some(([name]) => name === 'range');
  const isLast = index === file.chunkCount - 1;
  return isLast || isMedia || isWanted || !isOfClient ? index : undefined;
}

/** Answers with one part of a file of several. */
function partResponse(
  exchange: Exchange,
  opened: OpenedFile,
  { index, row }: { readonly index: number; readonly row: PublicRow },
): HttpResponse {
  const { chunkSize, size } = opened.file;
  const start = index * chunkSize;
  const end = Math.min(size, start + chunkSize);
  return deliver(exchange, opened, { status: 206, start, end, row });
}

interface Delivery extends Range {
  readonly status: 200 | 206;
  /** The certified row for exactly this request. */
  readonly row: PublicRow | undefined;
}

/**
 * Sends the bytes at once if that is free: in a query whose answer is certified or needs no
 * certificate; and if an update counts them. Else sends status and headers, and a token with which
 * gateways query the bytes, because decrypting one segment here would cost a third of the update.
 */
function deliver(exchange: Exchange, opened: OpenedFile, delivery: Delivery): HttpResponse {
  const { stores, call, phase } = exchange;
  const { file, isPublic, link } = opened;
  const { status, start, end, row } = delivery;
  const publicAnswer = answerToAll(exchange, opened, row);
  const isFree = phase === 'query' && (publicAnswer !== undefined || !isPublic);
  const isAtOnce = isFree || (phase === 'update' && opened.isCounted === true);
  const stop = isAtOnce ? Math.min(end, start + responseBodyBytesMax) : start;
  const headers = fileHeaders(opened);
  if (status === 206) headers.push(['Content-Range', contentRange(start, end, file.size)]);
  const body = stop === start ? emptyBytes : readFile(stores, opened, { start, end: stop });
  if (stop === end) {
    return { status, headers, body, publicAnswer };
  }
  headers.push(['Content-Length', String(end - start)]);
  // The file of a link may be in a private bucket
  const isOfPublicBucket = isPublic && link === undefined;
  const rest = { file, isPublic: isOfPublicBucket, start: stop, end };
  const stream = openStream(stores, call, rest);
  return { status, headers, body, stream };
}

export interface OpenedFile extends OpenFile {
  /** Whether anybody with the address may read it. */
  readonly isPublic: boolean;
  readonly served: ServedHeaders;
  /** The path of its URL, percent-decoded. */
  readonly address: string;
  /** Whether a wildcard of a site serves the file at the address. */
  readonly isWildcard?: boolean;
  /** Whether a rule of a site serves the file depending on the address, so no leaf proves it. */
  readonly isComputed?: boolean;
  /** Whether an update counts the bytes. It also sends them, as far as one response has room. */
  readonly isCounted?: boolean;
  /** Present if the address is that of a link. */
  readonly link?: LinkAddress;
}

/** Returns `undefined` if the answer depends on the caller or on other request fields. */
function answerToAll(
  { request }: Exchange,
  opened: OpenedFile,
  row: PublicRow | undefined,
): PublicAnswer | undefined {
  const { file, isPublic, served, address, link, isWildcard } = opened;
  if (row === undefined || !isPublic || request.body.length > 0) return undefined;
  if (opened.isComputed) return undefined;
  // Leaves of links always have the present version
  const isFormer = link === undefined && file.leavesVersion === 1;
  return { content: file, row, served, address, isFormer, isWildcard };
}

export function headCloudFile(exchange: Exchange, otherwise: Otherwise): HttpResponse {
  return withCloudFile(exchange, (opened) => ownAnswer(exchange, opened, headResponse), otherwise);
}

export function headResponse(exchange: Exchange, opened: OpenedFile): HttpResponse {
  const { file } = opened;
  const conditional = conditionalResponse(exchange, opened);
  const headers: Header[] = [...fileHeaders(opened), ['Content-Length', String(file.size)]];
  const publicAnswer = answerToAll(exchange, opened, { row: 'plain', method: 'HEAD' });
  return conditional ?? { status: 200, headers, body: emptyBytes, publicAnswer };
}

/**
 * Calls `use` with the file if the caller may read it. A file of a private bucket needs a key;
 * without a key the answer is 404. Gateways cache answers by URL only, so an answer to a key must
 * not be cached. For public files a key is ignored, because gateways request the further parts
 * without it.
 */
function withCloudFile(
  exchange: Exchange,
  use: (opened: OpenedFile) => HttpResponse,
  otherwise: Otherwise,
): HttpResponse {
  const { stores, call, request } = exchange;
  const [bucket = '', captured = ''] = exchange.captures;
  // Keeps the leading slash, so that a second slash begins an empty segment.
  const path = `/${captured}`;
  const address = `/cloud/${bucket}${path}`;
  if (header(request, 'authorization') === undefined || isPublicBucket(stores, bucket)) {
    const useIt = ({ file, key }: OpenFile) =>
      use({ file, key, isPublic: true, served: ownHeaders(file), address });
    return withPublicFile(stores, { bucket, path }, useIt, otherwise);
  }
  return withReadableFile(stores, { call, ...fileRoute(exchange) }, (opened) =>
    use(shownToKey(opened, address)),
  );
}

/** Returns the file for a caller with a right to it, with header fields that forbid caching. */
export function shownToKey({ file: stored, key }: OpenFile, address: string): OpenedFile {
  const headers = stored.headers.with(cacheControlPlace, uncached[1]);
  const file = { ...stored, headers };
  return { file, key, isPublic: false, served: ownHeaders(file), address };
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
    throw new Refusal(
      'PreconditionFailed',
      'The file does not match the preconditions of the request.',
    );
  }
  if (verdict === 'proceed') {
    return undefined;
  }
  const publicAnswer = answerToAll(exchange, opened, notModifiedRow(exchange, file));
  return { status: 304, headers: opened.served.validators, body: emptyBytes, publicAnswer };
}

/** Returns the row of the 304 if `If-None-Match` is exactly the file's tag or its weak form. */
function notModifiedRow({ request }: Exchange, file: FileRecord): PublicRow | undefined {
  const tag = soleHeader(request, 'if-none-match');
  const etag = entityTag(file);
  const method = request.method === 'HEAD' ? 'HEAD' : 'GET';
  const isOwn = tag === etag || tag === `W/${etag}`;
  return isOwn ? { row: 'not-modified', method, tag } : undefined;
}

function fileHeaders({ served }: OpenedFile): Header[] {
  return served.validators.concat(served.representation);
}
