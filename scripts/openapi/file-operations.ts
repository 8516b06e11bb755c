// The operations on files, lists, copies and former versions.

import {
  deletedFileCountMax,
  folderPageDefault,
  folderPageMax,
} from '../../packages/wire/src/limits.ts';
import { pageSizeDefault } from '../../src/limits.ts';
import {
  type Answer,
  bytes,
  condition,
  count,
  type ErrorCode,
  filePath,
  flag,
  list,
  type Operations,
  object,
  prefix,
  ref,
  type Schema,
  text,
  time,
} from './description.ts';
import { downloadOrThumbnail } from './download-answers.ts';
import { type RequestHeader, type ResponseHeader, storedWithFiles } from './header-fields.ts';
import { notes, retentionMode } from './records.ts';

/** Errors of any request. */
export const anyErrors = ['UriTooLong', 'HeadersTooLarge'] as const;

/** Errors of a request with a key for a bucket. */
export const keyErrors = [
  ...anyErrors,
  'InvalidArgument',
  'InvalidPath',
  'InvalidBucketId',
  'BucketMismatch',
  'Unauthorized',
  'InvalidApiKey',
  'AccessDenied',
  'NoSuchBucket',
  'SlowDown',
  'IntegrityError',
  'ServiceUnavailable',
] as const satisfies readonly ErrorCode[];

/** Errors of a request that stores a file. */
export const storeErrors = [
  ...keyErrors,
  'InvalidContentType',
  'NotEncrypted',
  'PreconditionFailed',
  'EntityTooLarge',
  'QuotaExceeded',
  'FileHeld',
] as const satisfies readonly ErrorCode[];

export const uncached = ['Cache-Control'] as const;
export const writeConditions = ['If-Match', 'If-None-Match', 'If-Unmodified-Since'] as const;
export const digests = ['Content-Digest', 'Repr-Digest'] as const;
export const json = ['application/json'] as const;

export function answers(
  says: string,
  schema: Schema,
  more: readonly ResponseHeader[] = [],
): Answer {
  return { says, schema, headers: [...uncached, ...more] };
}

/** Answers of a request that wrote a file. */
export function stored(noun: string): Readonly<Record<number, Answer>> {
  const answer = { schema: ref('WrittenFile'), headers: [...uncached, 'Location'] as const };
  const otherHeaders = ['ETag'] as const;
  return {
    200: { says: `The ${noun} replaced a file.`, ...answer, otherHeaders },
    201: { says: `The ${noun} is a new file.`, ...answer, otherHeaders },
  };
}

export const emptied: Answer = { says: 'Done; there is no body.', headers: uncached };

const readConditions = [
  'If-Match',
  'If-None-Match',
  'If-Modified-Since',
  'If-Unmodified-Since',
] as const satisfies readonly RequestHeader[];

export const downloadHeaders = [...readConditions, 'Range', 'If-Range', 'Prefer'] as const;

export const downloadErrors = [
  'NoSuchFile',
  'PreconditionFailed',
  'InvalidRange',
  'EntityTooLarge',
] as const satisfies readonly ErrorCode[];

/** Answers with the bytes of a file; `more` lists additional header fields. */
export function download(more: readonly ResponseHeader[] = []): Readonly<Record<number, Answer>> {
  const validators = ['ETag', 'Last-Modified', 'Cache-Control'] as const;
  const headers = [...validators, 'Accept-Ranges', 'X-Content-Type-Options', ...more] as const;
  const otherHeaders = [...storedWithFiles, 'Content-Length'] as const;
  const file = { schema: bytes, type: '*/*', otherHeaders };
  return {
    200: { says: 'The bytes of the file.', ...file, headers },
    206: { says: 'A range of the file.', ...file, headers: [...headers, 'Content-Range'] },
    304: {
      says: 'The file has not changed; there is no body.',
      headers: validators,
      otherHeaders: ['Content-Security-Policy'],
    },
  };
}

export const fault = object({ path: text, error: ref('Fault') });
const limit: Schema = {
  type: 'integer',
  minimum: 1,
  maximum: folderPageMax,
  default: folderPageDefault,
};
export const cursorPage = { cursor: text, limit };
const version: Schema = { type: 'integer', minimum: 0 };

const copyFields = {
  from: filePath,
  to: object({ bucket: text, path: filePath }, ['bucket']),
  version,
  ifSourceMatch: condition,
  ifMatch: condition,
  ifNoneMatch: condition,
  ...notes,
};
const { version: _, ...keptFields } = copyFields;
const moveFields = { ...keptFields, bypassGovernance: flag };
const optionalOfCopy = ['ifSourceMatch', 'ifMatch', 'ifNoneMatch'] as const;
const optionalNotes = ['contentType', 'tags', 'headers', 'metadata'] as const;

const protectedVersion = { 200: stored('version')[200] ?? emptied };

export const fileOperations: Operations = {
  'PUT B/files/{path}': {
    id: 'uploadFile',
    key: 'required',
    headers: [
      'Cache-Control',
      'Content-Disposition',
      'Content-Encoding',
      'Content-Language',
      'X-File-Tags',
      'X-File-Metadata',
      ...writeConditions,
      ...digests,
    ],
    body: { types: ['application/octet-stream', '*/*'], schema: bytes },
    answers: stored('body'),
    errors: [...storeErrors, 'MissingContentType', 'BadDigest'],
  },
  'GET /cloud/{bucket}/{path}': {
    id: 'downloadFile',
    key: 'optional',
    query: { thumbnail: text },
    headers: downloadHeaders,
    answers: {
      ...download(),
      ...downloadOrThumbnail,
      308: {
        says: 'The address is that of a folder of a site.',
        headers: ['Location', 'Cache-Control'],
      },
    },
    errors: [
      ...anyErrors,
      ...downloadErrors,
      'InvalidArgument',
      'BucketMismatch',
      'Unauthorized',
      'InvalidApiKey',
      'AccessDenied',
      'SlowDown',
      'IntegrityError',
      'ServiceUnavailable',
    ],
    errorPages: true,
  },
  'GET B/files/{path}': {
    id: 'getFile',
    key: 'required',
    query: { version },
    headers: ['If-None-Match'],
    answers: {
      200: answers('The file record.', ref('FileRecord'), ['ETag']),
      304: { says: 'The file has this entity tag.', headers: ['ETag', ...uncached] },
    },
    errors: [...keyErrors, 'NoSuchFile'],
  },
  'PATCH B/files/{path}': {
    id: 'updateFile',
    key: 'required',
    headers: writeConditions,
    body: { types: json, schema: object(notes, optionalNotes) },
    answers: {
      200: {
        says: 'The record of the next version.',
        schema: ref('WrittenFile'),
        headers: [...uncached, 'Location'],
        otherHeaders: ['ETag'],
      },
    },
    errors: [...storeErrors, 'NoSuchFile'],
  },
  'DELETE B/files/{path}': {
    id: 'deleteFile',
    key: 'required',
    query: { bypassGovernance: flag },
    headers: writeConditions,
    answers: { 204: emptied },
    errors: [...keyErrors, 'NoSuchFile', 'PreconditionFailed', 'FileHeld'],
  },
  'GET B/files': {
    id: 'listFiles',
    key: 'optional',
    query: {
      prefix,
      page: { type: 'integer', minimum: 1, default: 1 },
      pageSize: { type: 'integer', minimum: 1, default: pageSizeDefault },
      sort: { type: 'string', enum: ['name_asc', 'name_desc', 'date_asc', 'date_desc'] },
      tag: text,
      delimiter: { type: 'string', enum: ['/', ''] },
      cursor: text,
      startAfter: text,
      limit,
    },
    answers: {
      200: answers('A page of the list.', { oneOf: [ref('PagedFiles'), ref('FolderFiles')] }),
    },
    errors: keyErrors,
  },
  'GET B/usage': {
    id: 'getUsage',
    key: 'required',
    query: { prefix },
    answers: {
      200: answers('The usage.', object({ prefix: text, files: count, bytes: count })),
    },
    errors: keyErrors,
  },
  'POST B/copy': {
    id: 'copyFile',
    key: 'required',
    headers: ['If-Match', 'If-None-Match'],
    body: {
      types: json,
      schema: object(copyFields, ['version', ...optionalOfCopy, ...optionalNotes]),
    },
    answers: stored('copy'),
    errors: [...storeErrors, 'NoSuchFile'],
  },
  'POST B/move': {
    id: 'moveFiles',
    key: 'required',
    headers: ['If-Match', 'If-None-Match'],
    body: {
      types: json,
      schema: {
        oneOf: [
          object(moveFields, [...optionalOfCopy, ...optionalNotes, 'bypassGovernance']),
          object({ fromPrefix: prefix, toPrefix: prefix, cursor: text, bypassGovernance: flag }, [
            'cursor',
            'bypassGovernance',
          ]),
        ],
      },
    },
    answers: {
      200: {
        says: 'The file replaced another one; or the result of a call with prefixes.',
        schema: {
          oneOf: [
            ref('WrittenFile'),
            object({
              moved: count,
              isDone: flag,
              nextCursor: { type: ['string', 'null'] },
              failed: list(fault),
            }),
          ],
        },
        headers: uncached,
        otherHeaders: ['Location', 'ETag'],
      },
      201: stored('moved file')[201] ?? emptied,
    },
    errors: [...storeErrors, 'NoSuchFile'],
  },
  'POST B/switch': {
    id: 'switchFiles',
    key: 'required',
    body: {
      types: json,
      schema: object(
        {
          fromPrefix: prefix,
          toPrefix: prefix,
          deletes: list(text, deletedFileCountMax),
          ifResult: text,
        },
        ['deletes', 'ifResult'],
      ),
    },
    answers: { 200: answers('The switch is done.', object({ moved: count, deleted: count })) },
    errors: [...storeErrors, 'NoSuchFile'],
  },
  'GET B/versions': {
    id: 'listVersions',
    key: 'required',
    query: { path: filePath, prefix, ...cursorPage },
    answers: {
      200: answers(
        'A page of former versions.',
        object({ items: list(ref('Version')), nextCursor: { type: ['string', 'null'] } }),
      ),
    },
    errors: keyErrors,
  },
  'GET B/versions/{path}': {
    id: 'downloadVersion',
    key: 'required',
    query: { version },
    requiredQuery: ['version'],
    headers: downloadHeaders,
    answers: download(),
    errors: [...keyErrors, ...downloadErrors],
  },
  'POST B/restore': {
    id: 'restoreVersion',
    key: 'required',
    headers: ['If-Match', 'If-None-Match'],
    body: {
      types: json,
      schema: object({ path: filePath, version, ifMatch: condition, ifNoneMatch: condition }, [
        'ifMatch',
        'ifNoneMatch',
      ]),
    },
    answers: stored('version'),
    errors: [...storeErrors, 'NoSuchFile'],
  },
  'POST B/retention': {
    id: 'setRetention',
    key: 'required',
    body: {
      types: json,
      schema: object(
        { path: filePath, version, mode: retentionMode, retainUntil: time, bypassGovernance: flag },
        ['version', 'mode', 'retainUntil', 'bypassGovernance'],
      ),
    },
    answers: protectedVersion,
    errors: [...keyErrors, 'NoSuchFile', 'FileHeld'],
  },
  'POST B/hold': {
    id: 'setHold',
    key: 'required',
    body: {
      types: json,
      schema: object({ path: filePath, version, hold: flag }, ['version']),
    },
    answers: protectedVersion,
    errors: [...keyErrors, 'NoSuchFile'],
  },
  'DELETE B/versions/{path}': {
    id: 'eraseVersionsOfFile',
    key: 'required',
    query: { version, cursor: text, bypassGovernance: flag },
    answers: {
      200: answers('Former versions of the path are erased.', ref('Erased')),
      204: emptied,
    },
    errors: [...keyErrors, 'NoSuchFile', 'FileHeld'],
  },
  'DELETE B/versions': {
    id: 'eraseVersions',
    key: 'required',
    query: { prefix, cursor: text, bypassGovernance: flag },
    requiredQuery: ['prefix'],
    answers: { 200: answers('Former versions are erased.', ref('Erased')) },
    errors: keyErrors,
  },
};
