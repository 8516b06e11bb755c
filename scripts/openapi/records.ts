// The JSON objects that several operations share. The keys of some are typed by the service's own
// objects, so a missing field does not compile.

import { errorStatuses } from '../../packages/wire/src/error-status.ts';
import { pageSizeMax } from '../../packages/wire/src/limits.ts';
import { storedHeaderNames } from '../../packages/wire/src/stored-headers.ts';
import type { Status } from '../../src/domain/administration/bucket-status.ts';
import type { fileView } from '../../src/domain/files/file-view.ts';
import { retentionModes } from '../../src/domain/shared/retention.ts';
import type { sessionView } from '../../src/http/upload-record.ts';
import {
  contentTypeLengthMax,
  fileTagCountMax,
  fileTagLengthMax,
  journalPageMax,
  metadataCountMax,
  ownRecipientCountMax,
} from '../../src/limits.ts';
import {
  count,
  flag,
  list,
  object,
  orNull,
  ref,
  type Schema,
  sha256,
  text,
  texts,
  time,
} from './description.ts';

/** The type, tags, headers and metadata of a file in requests. */
export const notes = {
  contentType: { type: 'string', maxLength: contentTypeLengthMax },
  tags: list({ type: 'string', maxLength: fileTagLengthMax }, fileTagCountMax),
  headers: {
    ...object(Object.fromEntries(storedHeaderNames.map((name) => [name, text])), [
      ...storedHeaderNames,
    ]),
    additionalProperties: false,
  },
  metadata: { ...texts, maxProperties: metadataCountMax },
} as const satisfies Readonly<Record<string, Schema>>;

const uploadLink = {
  id: text,
  path: text,
  prefix: text,
  createdAt: time,
  expiresAt: time,
  maxFileBytes: count,
  maxFiles: count,
  fileCount: count,
} as const satisfies Readonly<Record<string, Schema>>;
const uploadLinkOptional = ['path', 'prefix', 'maxFileBytes', 'maxFiles', 'fileCount'] as const;

export const retentionMode: Schema = { type: 'string', enum: [...retentionModes] };

/** The retention of a version; a hold alone has no mode and no time. */
const retention = object({ mode: retentionMode, retainUntil: time, hold: flag }, [
  'mode',
  'retainUntil',
]);

const fileFields: Readonly<Record<keyof ReturnType<typeof fileView>, Schema>> = {
  id: text,
  bucketId: text,
  path: text,
  name: text,
  size: count,
  chunkSize: count,
  contentType: text,
  tags: list(text),
  metadata: texts,
  retention,
  thumbnail: object({ size: count, contentType: text }),
  etag: text,
  sha256,
  version: count,
  createdAt: time,
  updatedAt: time,
  url: text,
};

const sessionFields: Readonly<Record<keyof ReturnType<typeof sessionView>, Schema>> = {
  sessionId: text,
  uploadId: text,
  bucketId: text,
  path: text,
  contentType: text,
  tags: list(text),
  totalSize: count,
  isSizeKnown: flag,
  uploadedSize: count,
  chunkSize: count,
  chunkCount: count,
  receivedChunks: count,
  missing: list(count),
  status: { type: 'string', enum: ['active', 'ready', 'completed', 'cancelled', 'expired'] },
  createdAt: time,
  updatedAt: time,
  expiresAt: time,
  sha256,
  fileId: text,
};

/** Fields of a file record that every key with write permission may see. */
const shownToWriters = ['id', 'bucketId', 'path', 'name', 'version', 'updatedAt', 'url'] as const;
const fileNames = Object.keys(fileFields) as (keyof typeof fileFields)[];
const hiddenFromWriters = fileNames.filter((name) => !shownToWriters.some((one) => one === name));

const photo = {
  id: '42',
  bucketId: 'demo',
  path: '2026/photo.jpg',
  name: 'photo.jpg',
  size: 5,
  chunkSize: 1_900_000,
  contentType: 'image/jpeg',
  tags: ['sea', 'summer'],
  etag: '2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824',
  sha256: '2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824',
  version: 1,
  createdAt: '2026-01-31T12:00:00.000Z',
  updatedAt: '2026-01-31T12:00:00.000Z',
  url: '/cloud/demo/2026/photo.jpg',
};

const budget = object({ burst: count, perMinute: count, left: count });

/** Fields that only callers with an identity see. */
type Unshown = 'cycles' | 'chargesCycles' | 'storageReservation';

const status: Readonly<Record<Exclude<keyof Status, Unshown>, Schema>> = {
  version: text,
  role: object(
    { kind: { type: 'string', enum: ['volume', 'front'] }, front: object({ id: text, url: text }) },
    ['front'],
  ),
  buckets: count,
  files: count,
  bytesStored: count,
  stableBytes: count,
  heapBytes: count,
  anonymousUpdates: ref('Budget'),
  linkUpdates: ref('Budget'),
  refusals: ref('Budget'),
  derivations: ref('Budget'),
  encryption: object(
    {
      rootKey: { type: 'string', enum: ['vetkd', 'stored'] },
      keyName: text,
      proxy: text,
      isKeyPresent: flag,
      isRotating: flag,
    },
    ['proxy'],
  ),
  certified: { const: 'response-verification-v2' },
};

const fault = { code: ref('ErrorCode'), message: text };

interface Described {
  readonly schema: Schema;
  /** Heading of the section in http.md that describes the fields. */
  readonly section?: string;
}

export const records = {
  FileRecord: {
    section: 'GET B/files/{path}',
    schema: {
      ...object(fileFields, ['metadata', 'retention', 'sha256', 'thumbnail']),
      examples: [photo],
    },
  },
  WrittenFile: {
    section: 'GET B/files/{path}',
    schema: {
      description:
        'The file record; a key without `read` gets only the fields that it sent and those that are required.',
      ...object(fileFields, hiddenFromWriters),
      examples: [photo],
    },
  },
  Version: {
    section: 'GET B/versions',
    schema: object(
      {
        path: text,
        version: count,
        size: count,
        contentType: text,
        etag: text,
        updatedAt: time,
        retiredAt: time,
        expiresAt: time,
        metadata: texts,
        retention,
      },
      ['metadata', 'retention'],
    ),
  },
  UploadSession: {
    section: 'GET B/upload/{sessionId}',
    schema: object(sessionFields, ['sha256', 'fileId']),
  },
  Link: {
    section: 'GET B/links',
    schema: object(
      {
        ...{ id: text, path: text, name: text, createdAt: time, expiresAt: time, keyId: text },
        ...{ hasPassword: flag, maxDownloads: count, downloadCount: count, title: text },
      },
      ['expiresAt', 'keyId', 'hasPassword', 'maxDownloads', 'downloadCount', 'title'],
    ),
  },
  UploadLink: {
    section: 'GET B/upload-links',
    schema: object({ ...uploadLink, keyId: text }, [...uploadLinkOptional, 'keyId']),
  },
  NewUploadLink: {
    section: 'POST B/upload-links',
    schema: object(
      { ...uploadLink, putUrl: text, formUrl: text, tusUrl: text },
      uploadLinkOptional,
    ),
  },
  NewLink: {
    section: 'POST B/links',
    schema: object(
      {
        ...{ id: text, url: text, expiresAt: time, linkPage: text },
        ...{ hasPassword: flag, maxDownloads: count, title: text },
      },
      ['expiresAt', 'linkPage', 'hasPassword', 'maxDownloads', 'title'],
    ),
  },
  Rule: {
    section: 'GET B/rules',
    schema: object(
      {
        id: text,
        isEnabled: flag,
        prefix: text,
        tag: text,
        deleteAfterDays: count,
        keepVersions: count,
        eraseVersionsAfterDays: count,
        endUploadsAfterHours: count,
      },
      ['tag', 'deleteAfterDays', 'keepVersions', 'eraseVersionsAfterDays', 'endUploadsAfterHours'],
    ),
  },
  JournalPage: {
    section: 'GET B/journal',
    schema: object({
      items: list(ref('JournalEntry'), journalPageMax),
      last: count,
      hasMore: flag,
      keptDays: count,
    }),
  },
  JournalEntry: {
    section: 'GET B/journal',
    schema: object(
      {
        seq: count,
        at: time,
        kind: text,
        by: object({ kind: text, id: text }, ['id']),
        subject: text,
        isRedacted: flag,
        version: count,
        digest: text,
      },
      ['subject', 'isRedacted', 'version', 'digest'],
    ),
  },
  EndToEnd: {
    section: 'GET B/end-to-end',
    schema: object(
      {
        usesVetKeys: flag,
        sealsNames: flag,
        recipients: list(text, ownRecipientCountMax),
        epoch: object({
          epoch: count,
          recipient: { type: ['string', 'null'] },
          openedAt: time,
        }),
        encryptTo: list(text, ownRecipientCountMax + 1),
      },
      ['epoch'],
    ),
  },
  Status: { section: 'GET /api/v1/status', schema: object(status) },
  Budget: { schema: budget },
  PagedFiles: {
    section: 'GET B/files',
    schema: object({
      items: list(ref('FileRecord'), pageSizeMax),
      page: count,
      pageSize: count,
      total: count,
      pages: count,
      hasMore: flag,
      nextPage: { type: ['integer', 'null'] },
      prefix: text,
      sort: text,
    }),
  },
  FolderFiles: {
    section: 'GET B/files',
    schema: object({
      items: list(ref('FileRecord')),
      folders: list(object({ path: text })),
      nextCursor: { type: ['string', 'null'] },
      prefix: text,
      delimiter: text,
    }),
  },
  Erased: {
    section: 'DELETE B/versions/{path}',
    schema: object({ erased: count, held: count, isDone: flag, nextCursor: text }, ['nextCursor']),
  },
  ErrorCode: { schema: { type: 'string', enum: Object.keys(errorStatuses) } },
  Fault: { schema: object(fault) },
  Error: {
    schema: object(
      {
        error: object(
          {
            code: ref('ErrorCode'),
            message: { type: 'string', description: 'Says what was wrong and what is accepted.' },
            requestId: { type: 'string', description: 'The header field `X-Request-Id`.' },
            details: {
              type: 'object',
              description: 'Values that belong to the error code, such as `limit` and `missing`.',
              additionalProperties: {
                oneOf: [{ type: 'string' }, { type: 'number' }, list({ type: 'number' })],
              },
            },
          },
          // The certified response for any missing path has no request id
          ['requestId', 'details'],
        ),
        items: {
          ...list(object({ path: text, status: count, error: ref('Fault') })),
          description: 'Each file of a refused batch.',
        },
      },
      ['items'],
    ),
  },
} as const satisfies Readonly<Record<string, Described>>;

export const nullableEndToEnd = orNull(ref('EndToEnd'));
