// The operations on many files at once.

import {
  batchFileCountMax,
  deletedFileCountMax,
  readFileCountMax,
} from '../../packages/wire/src/limits.ts';
import {
  bytes,
  condition,
  count,
  flag,
  list,
  type Operations,
  object,
  prefix,
  ref,
  text,
} from './description.ts';
import { answers, fault, json, keyErrors, storeErrors, uncached } from './file-operations.ts';

const wholeFile = { path: text, etag: text, contentType: text, chunkBytes: count, size: count };
const readIndex = object({
  results: list({ oneOf: [object(wholeFile), fault] }),
  left: list(text),
});

export const pathList = { types: json, schema: object({ paths: list(text, readFileCountMax) }) };
export const readForm = {
  200: {
    says: 'A form: the field `index`, which is JSON, and the files in its order.',
    type: 'multipart/form-data',
    schema: object({ index: readIndex, file: list(bytes) }, ['file']),
    headers: uncached,
  },
} as const;

const bypass = { bypassGovernance: flag };

export const batchOperations: Operations = {
  'POST B/files': {
    id: 'uploadFiles',
    key: 'required',
    body: {
      types: ['multipart/form-data'],
      schema: {
        type: 'object',
        additionalProperties: bytes,
        minProperties: 1,
        maxProperties: batchFileCountMax,
      },
    },
    answers: {
      200: answers(
        'All files are stored.',
        object({
          items: list(
            object({ path: text, status: { enum: [200, 201] }, file: ref('WrittenFile') }),
          ),
        }),
      ),
    },
    errors: [...storeErrors, 'MissingContentType', 'BadDigest'],
  },
  'POST B/delete': {
    id: 'deleteFiles',
    key: 'required',
    body: {
      types: json,
      schema: {
        oneOf: [
          object({ paths: list(text, deletedFileCountMax), ifMatch: condition, ...bypass }, [
            'ifMatch',
            'bypassGovernance',
          ]),
          object({ prefix, cursor: text, ...bypass }, ['cursor', 'bypassGovernance']),
        ],
      },
    },
    answers: {
      200: answers(
        'The result of each path.',
        object({
          results: list({ oneOf: [object({ path: text, deleted: { const: true } }), fault] }),
          nextCursor: { type: ['string', 'null'] },
        }),
      ),
    },
    errors: [...keyErrors, 'EntityTooLarge'],
  },
  'POST B/read': {
    id: 'readFiles',
    key: 'required',
    body: pathList,
    answers: readForm,
    errors: [...keyErrors, 'EntityTooLarge'],
  },
};
