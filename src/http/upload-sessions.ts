// Upload sessions as a resource over HTTP: `/api/v1/bucket/{bucket}/upload/…`.

import { chunkBytesMax } from '../../packages/wire/src/limits.ts';
import type { ApiKey } from '../domain/rights/api-keys.ts';
import { authorize } from '../domain/rights/rights.ts';
import { quote } from '../domain/shared/names.ts';
import { Refusal } from '../domain/shared/refusal.ts';
import { checkChunk, checkChunkDigest, storeChunk } from '../domain/uploads/upload-chunks.ts';
import {
  type Completion,
  cancelUpload,
  checkCancellation,
  checkCompletion,
  finishUpload,
} from '../domain/uploads/upload-end.ts';
import { chunkCount, type UploadSession } from '../domain/uploads/upload-session.ts';
import {
  beginUpload,
  checkUploadRequest,
  getUploadOf,
  listUploads,
  requireNotGone,
  type UploadRequest,
} from '../domain/uploads/uploads.ts';
import { encodeHex } from '../lib/hex.ts';
import { bucketRoute } from './authorization.ts';
import { sentDigests } from './digest.ts';
import { storedResponse } from './file-record.ts';
import {
  conditionFields,
  jsonBody,
  sizeField,
  textField,
  textListField,
  textPairsField,
} from './json-body.ts';
import { mediaTypeOf } from './media-types.ts';
import { type HttpResponse, header } from './message.ts';
import { refusePartialPut, writePreconditions } from './preconditions.ts';
import { noContent, privateJson } from './respond.ts';
import { type Answer, type Exchange, headOf, type Route, upgrade } from './router.ts';
import { sessionUrl, sessionView } from './upload-record.ts';

function startUpload(exchange: Exchange): Answer {
  const request = startRequest(exchange);
  const { stores, call } = exchange;
  if (exchange.phase === 'query') {
    const { begun } = checkUploadRequest(stores, call, request);
    return begun === undefined ? upgrade : sessionResponse(200, begun, call.nowNs);
  }
  const session = beginUpload(stores, call, request);
  // Another request with the same token began the session after the query.
  const isRepeated = session.createdAtNs !== call.nowNs;
  return sessionResponse(isRepeated ? 200 : 201, session, call.nowNs);
}

function sessionResponse(status: number, session: UploadSession, nowNs: bigint): HttpResponse {
  return privateJson(status, sessionView(session, nowNs), [['Location', sessionUrl(session)]]);
}

function startRequest(exchange: Exchange): UploadRequest {
  const { request } = exchange;
  const route = bucketRoute(exchange);
  authorize(exchange.stores, exchange.call, { ...route, permission: 'upload', place: 'later' });
  const body = jsonBody(request);
  const path = textField(body, 'path') ?? '';
  const size = sizeField(body, 'size');
  const tags = [
    ...(textListField(body, 'tags') ?? []),
    ...(header(request, 'x-file-tags') ?? '').split(','),
  ];
  return {
    ...route,
    ...conditionFields(request, body),
    path,
    size,
    tags,
    contentType: textField(body, 'contentType') ?? mediaTypeOf(path),
    // Chunks of a file of unknown size can have any length.
    chunkSize:
      sizeField(body, 'chunkSize') ?? (size === undefined ? undefined : BigInt(chunkBytesMax)),
    sha256: textField(body, 'sha256'),
    headers: textPairsField(body, 'headers'),
    metadata: textPairsField(body, 'metadata'),
    token: textField(body, 'token'),
    isOverHttp: true,
  };
}

export interface NamedUpload {
  readonly uploadId: string;
  readonly apiKey: ApiKey;
  readonly session: UploadSession;
}

/** Returns the session in the path, for a key that may write to its bucket. */
export function namedUpload(exchange: Exchange): NamedUpload {
  const { stores, call, captures } = exchange;
  const [, uploadId = ''] = captures;
  const route = bucketRoute(exchange);
  authorize(stores, call, { ...route, permission: 'upload', place: 'later' });
  const session = getUploadOf(stores, call, { ...route, uploadId });
  return { uploadId, apiKey: route.apiKey, session };
}

function putUploadChunk(exchange: Exchange): Answer {
  const { stores, call, request } = exchange;
  const { uploadId, apiKey } = namedUpload(exchange);
  refusePartialPut(request);
  const chunkIndex = parseIndex(exchange.captures[2] ?? '');
  const chunk = {
    uploadId,
    isOverHttp: true,
    apiKey,
    chunkIndex,
    bytes: request.body,
    digests: sentDigests(request),
  };
  if (exchange.phase === 'query') {
    checkChunk(stores, call, chunk);
    checkChunkDigest(chunk);
    return upgrade;
  }
  const { session, digest } = storeChunk(stores, call, chunk);
  const { uploadedSize, receivedChunks } = session;
  return privateJson(200, {
    chunkIndex: Number(chunkIndex),
    size: request.body.length,
    sha256: encodeHex(digest),
    uploadedSize,
    receivedChunks,
    chunkCount: chunkCount(session),
  });
}

/** Reads decimal digits; more than sixteen exceed every count. */
function parseIndex(text: string): bigint {
  if (!/^\d{1,16}$/.test(text)) {
    throw new Refusal(
      'InvalidChunkIndex',
      `The last segment of the URL must be the index of the chunk, counted from 0; got ${quote(text)}.`,
    );
  }
  return BigInt(text);
}

/** Completes a session; a repetition returns the same answer. */
function completeUploadSession(exchange: Exchange): Answer {
  const { stores, call } = exchange;
  const request = completionRequest(exchange);
  if (exchange.phase === 'query') {
    const { session } = checkCompletion(stores, call, request);
    if (session.status !== 'completed') return upgrade;
  }
  return storedResponse(finishUpload(stores, call, request));
}

function completionRequest(exchange: Exchange): Completion {
  const { uploadId, apiKey } = namedUpload(exchange);
  const { request } = exchange;
  const body = jsonBody(request);
  const digests = { sha256: textField(body, 'sha256'), etag: textField(body, 'etag') };
  const metadata = textPairsField(body, 'metadata');
  const conditions = writePreconditions(request);
  return { uploadId, isOverHttp: true, apiKey, ...digests, metadata, conditions };
}

function getUploadSession(exchange: Exchange): HttpResponse {
  const { nowNs } = exchange.call;
  const { session } = namedUpload(exchange);
  requireNotGone(session, nowNs);
  return privateJson(200, sessionView(session, nowNs));
}

function deleteUploadSession(exchange: Exchange): Answer {
  const { stores, call } = exchange;
  const { uploadId } = namedUpload(exchange);
  const name = { uploadId, isOverHttp: true };
  const session = checkCancellation(stores, call, name);
  if (exchange.phase === 'query' && session.status === 'active') {
    return upgrade;
  }
  cancelUpload(stores, call, name);
  return noContent;
}

/** Lists the bucket's open sessions; a key with every permission has an owner's right. */
function getUploadSessions(exchange: Exchange): HttpResponse {
  const { stores, call } = exchange;
  const sessions = listUploads(stores, call, bucketRoute(exchange));
  const items = sessions.map((session) => sessionView(session, call.nowNs));
  return privateJson(200, { items, total: items.length });
}

export const uploadRoutes: readonly Route[] = [
  {
    pattern: /^\/api\/v1\/bucket\/([^/]*)\/upload$/y,
    handlers: { GET: getUploadSessions, HEAD: headOf(getUploadSessions) },
  },
  {
    pattern: /^\/api\/v1\/bucket\/([^/]*)\/upload\/start$/y,
    handlers: { POST: startUpload },
    uploadMethods: ['POST'],
  },
  {
    pattern: /^\/api\/v1\/bucket\/([^/]*)\/upload\/([^/]*)\/chunk\/([^/]*)$/y,
    handlers: { PUT: putUploadChunk },
    uploadMethods: ['PUT'],
  },
  {
    pattern: /^\/api\/v1\/bucket\/([^/]*)\/upload\/([^/]*)\/complete$/y,
    handlers: { POST: completeUploadSession },
  },
  {
    pattern: /^\/api\/v1\/bucket\/([^/]*)\/upload\/([^/]*)$/y,
    handlers: {
      GET: getUploadSession,
      HEAD: headOf(getUploadSession),
      DELETE: deleteUploadSession,
    },
  },
];
