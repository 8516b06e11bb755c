// PUT of a whole file: `/api/v1/bucket/{bucket}/files/{path}`.

import { storedHeaderNames } from '../../packages/wire/src/stored-headers.ts';
import type { FileMetadata } from '../domain/files/file-records.ts';
import { parseStoredHeader } from '../domain/shared/stored-headers.ts';
import {
  checkDigests,
  checkSingleUpload,
  type SingleUpload,
  uploadSingle,
} from '../domain/uploads/single-upload.ts';
import { fileRoute } from './authorization.ts';
import { sentDigests } from './digest.ts';
import { storedResponse } from './file-record.ts';
import { jsonHeaderPairs } from './json-body.ts';
import { mediaTypeOf } from './media-types.ts';
import { type HttpRequest, header, singleHeader } from './message.ts';
import { refusePartialPut, writePreconditions } from './preconditions.ts';
import { refuseVersion } from './query.ts';
import { type Answer, type Exchange, upgrade } from './router.ts';

export function putFile(exchange: Exchange): Answer {
  const upload = readUpload(exchange);
  if (exchange.phase === 'query') {
    checkDigests(checkSingleUpload(exchange.stores, exchange.call, upload));
    return upgrade;
  }
  return storedResponse(uploadSingle(exchange.stores, exchange.call, upload));
}

function readUpload(exchange: Exchange): SingleUpload {
  const { request } = exchange;
  const route = fileRoute(exchange);
  refusePartialPut(request);
  refuseVersion(request);
  const metadata = readMetadata(request, contentTypeOf(request, route));
  const conditions = writePreconditions(request);
  return { ...route, metadata, bytes: request.body, conditions, digests: sentDigests(request) };
}

/** Senders of an upload link need not name a type: browsers know none for many files. */
function contentTypeOf(request: HttpRequest, { apiKey, path }: ReturnType<typeof fileRoute>) {
  const sent = singleHeader(request, 'content-type');
  return sent ?? (apiKey.bounds?.isLink === true ? mediaTypeOf(path) : '');
}

/** Returns the metadata of a file that a request sends in header fields. */
export function readMetadata(request: HttpRequest, contentType: string): FileMetadata {
  return {
    contentType,
    tags: (header(request, 'x-file-tags') ?? '').split(','),
    metadata: jsonHeaderPairs(request, 'x-file-metadata'),
    headers: storedHeaderNames.map((name) => storedHeader(request, name.toLowerCase())),
  };
}

function storedHeader(request: HttpRequest, name: string): string {
  const value = header(request, name);
  return value === undefined ? '' : parseStoredHeader(name, value);
}
