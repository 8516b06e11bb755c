// PUT of a whole file: `/api/v1/bucket/{bucket}/files/{path}`.

import { entityTag, type FileMetadata, type FileRecord } from '../domain/files.ts';
import { findKey } from '../domain/keys.ts';
import { quote } from '../domain/names.ts';
import { Refusal } from '../domain/refusal.ts';
import { checkSingleUpload, type SingleUpload, uploadSingle } from '../domain/single-upload.ts';
import { encodeHex } from '../lib/hex.ts';
import {
  type Header,
  type HttpRequest,
  type HttpResponse,
  header,
  singleHeader,
} from './message.ts';
import { jsonResponse } from './respond.ts';
import { type Exchange, upgrade } from './router.ts';

export function putFile(exchange: Exchange): HttpResponse | typeof upgrade {
  const upload = readUpload(exchange);
  if (exchange.phase === 'query') {
    checkSingleUpload(exchange.stores, exchange.call, upload);
    return upgrade;
  }
  const { file, isNew } = uploadSingle(exchange.stores, exchange.call, upload);
  const response = jsonResponse(isNew ? 201 : 200, fileView(file));
  const headers: Header[] = [
    ...response.headers,
    ['Location', fileUrl(file)],
    ['ETag', entityTag(file)],
    ['Cache-Control', 'private, no-store'],
  ];
  return { ...response, headers };
}

function readUpload(exchange: Exchange): SingleUpload {
  const { request, captures } = exchange;
  const [bucket = '', path = ''] = captures;
  const apiKey = bearerKey(request);
  checkBucketHeader(exchange, { bucket, apiKey });
  const metadata = readMetadata(request);
  // With its slash, so that a second one is an empty segment.
  return { bucket, path: `/${path}`, apiKey, metadata, bytes: request.body };
}

/** RFC 6750 §2.1. */
function bearerKey(request: HttpRequest): string {
  const authorization = header(request, 'authorization') ?? '';
  const match = /^Bearer +([A-Za-z0-9._~+/-]+=*)$/i.exec(authorization);
  if (match?.[1] === undefined) {
    throw new Refusal(
      'Unauthorized',
      'This request needs an API key: send the header Authorization: Bearer <API_KEY>.',
    );
  }
  return match[1];
}

/** `X-Bucket-Id` must name the path's bucket, and must be there when the key is for several. */
function checkBucketHeader(
  exchange: Exchange,
  target: { readonly bucket: string; readonly apiKey: string },
): void {
  const named = singleHeader(exchange.request, 'x-bucket-id');
  const key = findKey(exchange.stores, target.apiKey, exchange.call.nowNs);
  if (named === undefined ? key.buckets.length > 1 : named !== target.bucket) {
    throw new Refusal(
      'BucketMismatch',
      `The header X-Bucket-Id must be ${quote(target.bucket)}, the bucket of the path; it is needed ` +
        'with a key for several buckets.',
    );
  }
}

function readMetadata(request: HttpRequest): FileMetadata {
  return {
    contentType: singleHeader(request, 'content-type') ?? '',
    tags: (header(request, 'x-file-tags') ?? '').split(','),
    cacheControl: storedHeader(request, 'cache-control'),
    contentDisposition: storedHeader(request, 'content-disposition'),
    contentEncoding: storedHeader(request, 'content-encoding'),
    contentLanguage: storedHeader(request, 'content-language'),
  };
}

const storedHeaderLengthMax = 1_024;

/** A field that is served again as it came. */
function storedHeader(request: HttpRequest, name: string): string {
  const value = header(request, name) ?? '';
  if (value.length > storedHeaderLengthMax || !/^[\t -~]*$/.test(value)) {
    throw new Refusal(
      'InvalidArgument',
      `The header ${name} is stored only with at most ${storedHeaderLengthMax} visible ASCII characters.`,
    );
  }
  return value;
}

function fileUrl(file: FileRecord): string {
  return `/cloud/${file.bucketId}/${file.path.split('/').map(encodeURIComponent).join('/')}`;
}

/** The file record of the JSON interface. */
export function fileView(file: FileRecord) {
  const etag = entityTag(file);
  return {
    id: file.id,
    bucketId: file.bucketId,
    path: file.path,
    name: file.path.slice(file.path.lastIndexOf('/') + 1),
    size: file.size,
    contentType: file.contentType,
    tags: file.tags,
    etag: etag.slice(1, -1),
    sha256: file.chunkCount <= 1 ? encodeHex(file.digest) : undefined,
    version: file.version,
    createdAt: isoTime(file.createdAtNs),
    updatedAt: isoTime(file.updatedAtNs),
    url: fileUrl(file),
  };
}

function isoTime(timeNs: bigint): string {
  return new Date(Number(timeNs / 1_000_000n)).toISOString();
}
