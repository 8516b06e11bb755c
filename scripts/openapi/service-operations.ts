// The operations on upload sessions, on links, and of the service.

import { chunkBytesMax, chunkBytesMin } from '../../packages/wire/src/limits.ts';
import { ruleCountMax } from '../../src/limits.ts';
import {
  bytes,
  condition,
  count,
  type ErrorCode,
  filePath,
  list,
  type Operations,
  object,
  prefix,
  ref,
  sentSha256,
  sha256,
  text,
  texts,
  time,
} from './description.ts';
import {
  answers,
  anyErrors,
  cursorPage,
  digests,
  download,
  downloadErrors,
  downloadHeaders,
  emptied,
  json,
  keyErrors,
  stored,
  storeErrors,
  uncached,
  writeConditions,
} from './file-operations.ts';
import { notes, nullableEndToEnd } from './records.ts';

/** Errors of a request for a session, which may have ended. */
const sessionErrors = [
  ...keyErrors,
  'NoSuchUpload',
  'UploadExpired',
  'UploadCancelled',
] as const satisfies readonly ErrorCode[];

export const serviceOperations: Operations = {
  'POST B/upload/start': {
    id: 'beginUpload',
    key: 'required',
    headers: ['If-Match', 'If-None-Match', 'X-File-Tags'],
    body: {
      types: json,
      schema: object(
        {
          path: filePath,
          size: count,
          chunkSize: { type: 'integer', minimum: chunkBytesMin, maximum: chunkBytesMax },
          ...notes,
          sha256: sentSha256,
          ifMatch: condition,
          ifNoneMatch: condition,
          token: { type: 'string', pattern: '^[!-~]{1,64}$' },
        },
        [
          'size',
          'contentType',
          'chunkSize',
          'tags',
          'headers',
          'metadata',
          'sha256',
          'ifMatch',
          'ifNoneMatch',
          'token',
        ],
      ),
    },
    answers: {
      200: answers('The session begun with this token.', ref('UploadSession'), ['Location']),
      201: answers('The new session.', ref('UploadSession'), ['Location']),
    },
    errors: storeErrors,
  },
  'PUT B/upload/{sessionId}/chunk/{index}': {
    id: 'uploadChunk',
    key: 'required',
    headers: digests,
    body: { types: ['application/octet-stream'], schema: bytes },
    answers: {
      200: answers(
        'The chunk is stored.',
        object({
          chunkIndex: count,
          size: count,
          sha256,
          uploadedSize: count,
          receivedChunks: count,
          chunkCount: count,
        }),
      ),
    },
    errors: [
      ...sessionErrors,
      'UploadCompleted',
      'InvalidChunkIndex',
      'ChunkSizeMismatch',
      'EntityTooLarge',
      'BadDigest',
      'NotEncrypted',
      'QuotaExceeded',
    ],
  },
  'POST B/upload/{sessionId}/complete': {
    id: 'completeUpload',
    key: 'required',
    headers: writeConditions,
    body: {
      types: json,
      schema: object({ sha256: sentSha256, etag: { type: 'string' }, metadata: texts }, [
        'sha256',
        'etag',
        'metadata',
      ]),
      isOptional: true,
    },
    answers: stored('upload'),
    errors: [
      ...sessionErrors,
      'UploadIncomplete',
      'ChunkSizeMismatch',
      'BadDigest',
      'NotEncrypted',
      'PreconditionFailed',
      'EntityTooLarge',
      'QuotaExceeded',
    ],
  },
  'GET B/upload/{sessionId}': {
    id: 'getUpload',
    key: 'required',
    answers: { 200: answers('The session.', ref('UploadSession')) },
    errors: sessionErrors,
  },
  'GET B/upload': {
    id: 'listUploads',
    key: 'required',
    answers: {
      200: answers('The sessions.', object({ items: list(ref('UploadSession')), total: count })),
    },
    errors: keyErrors,
  },
  'DELETE B/upload/{sessionId}': {
    id: 'cancelUpload',
    key: 'required',
    answers: { 204: emptied },
    errors: [...sessionErrors, 'UploadCompleted'],
  },
  'POST B/links': {
    id: 'createLink',
    key: 'required',
    body: {
      types: json,
      schema: object(
        {
          ...{ path: filePath, expiresAt: time, downloadName: text },
          ...{ passwordProof: text, maxDownloads: count, title: text },
        },
        ['expiresAt', 'downloadName', 'passwordProof', 'maxDownloads', 'title'],
      ),
    },
    answers: { 201: answers('The link.', ref('NewLink')) },
    errors: [...keyErrors, 'NoSuchFile', 'EntityTooLarge', 'QuotaExceeded'],
  },
  'GET B/links': {
    id: 'listLinks',
    key: 'required',
    query: { path: filePath, ...cursorPage },
    answers: {
      200: answers(
        'A page of links.',
        object({ items: list(ref('Link')), nextCursor: { type: ['string', 'null'] } }),
      ),
    },
    errors: keyErrors,
  },
  'DELETE B/links/{id}': {
    id: 'deleteLink',
    key: 'required',
    answers: { 204: emptied },
    errors: [...keyErrors, 'NoSuchFile'],
  },
  'POST B/upload-links': {
    id: 'createUploadLink',
    key: 'required',
    body: {
      types: json,
      schema: object(
        { path: filePath, prefix, expiresAt: time, maxFileBytes: count, maxFiles: count },
        ['path', 'prefix', 'expiresAt', 'maxFileBytes', 'maxFiles'],
      ),
    },
    answers: { 201: answers('The link.', ref('NewUploadLink')) },
    errors: [...keyErrors, 'InvalidPath', 'EntityTooLarge', 'QuotaExceeded'],
  },
  'GET B/upload-links': {
    id: 'listUploadLinks',
    key: 'required',
    query: cursorPage,
    answers: {
      200: answers(
        'A page of upload links.',
        object({ items: list(ref('UploadLink')), nextCursor: { type: ['string', 'null'] } }),
      ),
    },
    errors: keyErrors,
  },
  'DELETE B/upload-links/{id}': {
    id: 'deleteUploadLink',
    key: 'required',
    answers: { 204: emptied },
    errors: [...keyErrors, 'NoSuchFile'],
  },
  'GET /s/{id}/{name}': {
    id: 'downloadLink',
    key: 'none',
    query: { k: text, page: text },
    requiredQuery: ['k'],
    headers: downloadHeaders,
    answers: download(['Referrer-Policy', 'X-Robots-Tag']),
    errors: [
      ...anyErrors,
      ...downloadErrors,
      'InvalidArgument',
      'SlowDown',
      'IntegrityError',
      'ServiceUnavailable',
    ],
  },
  'POST /s/{id}/{name}': {
    id: 'unlockLink',
    key: 'none',
    body: { types: json, schema: object({ proof: text }) },
    answers: { 200: answers('The address with the secret.', object({ url: text })) },
    errors: [...anyErrors, 'InvalidArgument', 'AccessDenied', 'NoSuchFile', 'SlowDown'],
  },
  'GET B/rules': {
    id: 'getRules',
    key: 'required',
    answers: {
      200: answers('The rules of the bucket.', object({ items: list(ref('Rule'), ruleCountMax) })),
    },
    errors: keyErrors,
  },
  'GET B/journal': {
    id: 'getJournal',
    key: 'required',
    query: { after: count, before: count, limit: count },
    answers: { 200: answers('A page of the journal.', ref('JournalPage')) },
    errors: keyErrors,
  },
  'GET B/end-to-end': {
    id: 'getEndToEnd',
    key: 'required',
    answers: {
      200: answers('The end-to-end mode of the bucket.', object({ endToEnd: nullableEndToEnd })),
    },
    errors: keyErrors,
  },
  'GET /api/v1/status': {
    id: 'getStatus',
    key: 'none',
    answers: { 200: answers('The state.', ref('Status')) },
    errors: anyErrors,
  },
  'GET /metrics': {
    id: 'getMetrics',
    key: 'required',
    answers: {
      200: {
        says: 'The metrics, in the format of Prometheus or as OpenMetrics.',
        schema: text,
        type: '*/*',
        headers: [...uncached, 'X-Content-Type-Options', 'Vary'],
      },
    },
    errors: [...anyErrors, 'Unauthorized', 'InvalidApiKey', 'AccessDenied'],
  },
  'GET /.well-known/{name}': {
    id: 'getWellKnown',
    key: 'none',
    headers: ['If-Match', 'If-None-Match', 'If-Modified-Since', 'If-Unmodified-Since'],
    answers: {
      200: {
        says: 'The text.',
        schema: bytes,
        type: '*/*',
        headers: ['ETag', ...uncached, 'X-Content-Type-Options'],
        otherHeaders: ['Last-Modified', 'Content-Security-Policy', 'Content-Length'],
      },
      304: {
        says: 'The text has not changed.',
        headers: ['ETag', ...uncached],
        otherHeaders: ['Last-Modified'],
      },
    },
    errors: [...anyErrors, 'NoSuchFile', 'PreconditionFailed', 'SlowDown'],
  },
};
