// Operations that upload a file in one request, and operations on upload sessions.

import { encodeBase64 } from '../bytes/bytes.ts';
import type { FileName, FileRecord, StoredHeaders, UserMetadata } from '../types/files.ts';
import type { UploadSession } from '../types/transfers.ts';
import type { PathRows, Rows } from './operation.ts';
import { getting, posting, removing } from './operation-request.ts';
import { bucketPath, filePath, sessionPath } from './url-paths.ts';

export interface FileMetadata extends FileName {
  readonly contentType: string | undefined;
  readonly tags: readonly string[];
  readonly headers: StoredHeaders;
  readonly metadata: UserMetadata;
  readonly sha256: string | undefined;
  readonly ifMatch: string | undefined;
  readonly ifNoneMatch: string | undefined;
}

export interface WholeFile extends FileMetadata {
  readonly contentType: string;
  readonly bytes: Uint8Array;
  /** SHA-256 of the bytes. */
  readonly digest: Uint8Array;
  readonly onSent?: ((bytes: number) => void) | undefined;
}

export interface SessionRequest extends FileMetadata {
  /** Undefined if the size is not known before the completion. */
  readonly size: number | undefined;
  readonly chunkBytes: number;
  /** The same for each attempt, so that the service returns the same session. */
  readonly token: string;
}

export interface SessionName extends FileName {
  readonly uploadId: string;
}

/**
 * Values that are known only at the end. Metadata is added to the session's; the digest and the
 * conditions are checked in addition to the session's.
 */
export interface Completion extends SessionName {
  readonly metadata?: UserMetadata | undefined;
  readonly sha256?: string | undefined;
  /** The entity tag of the sent chunks: no other file is stored. */
  readonly etag?: string | undefined;
  readonly ifMatch?: string | undefined;
  readonly ifNoneMatch?: string | undefined;
}

export interface UploadOperations {
  putFile(file: WholeFile): FileRecord;
  startUpload(request: SessionRequest): UploadSession;
  getUpload(name: SessionName): UploadSession;
  /** Idempotent: a repeated call returns the same record. */
  completeUpload(completion: Completion): FileRecord;
  cancelUpload(name: SessionName): undefined;
  listUploads(bucket: string): readonly UploadSession[];
}

export const uploadRows = {
  putFile: {
    retry: 'compare',
    request: ({ bytes: body, onSent, ...file }) => {
      const digest = { 'Content-Digest': `sha-256=:${encodeBase64(file.digest)}:` };
      const headers = { ...fileHeaders(file, asciiJson), ...digest };
      return { method: 'PUT', path: filePath(file), headers, body, onSent };
    },
  },
  startUpload: {
    retry: 'repeat',
    request: ({ bucket, chunkBytes: chunkSize, headers, metadata, ...fields }) => {
      const described = { headers: unlessEmpty(headers), metadata: unlessEmpty(metadata) };
      return posting(`${bucketPath(bucket)}/upload/start`, { ...fields, ...described, chunkSize });
    },
  },
  getUpload: {
    retry: 'repeat',
    request: (name) => getting(sessionPath(name)),
  },
  completeUpload: {
    retry: 'repeat',
    request: ({ metadata, sha256, etag, ifMatch, ifNoneMatch, ...name }) => {
      const conditions = { 'If-Match': ifMatch, 'If-None-Match': ifNoneMatch };
      return posting(`${sessionPath(name)}/complete`, { metadata, sha256, etag }, conditions);
    },
  },
  cancelUpload: {
    retry: 'repeat',
    request: (name) => removing(sessionPath(name)),
  },
  listUploads: {
    retry: 'repeat',
    request: (bucket) => getting(`${bucketPath(bucket)}/upload`),
    read: ({ items }: { readonly items: readonly UploadSession[] }) => items,
  },
} satisfies Rows<UploadOperations>;

export const uploadPaths = {
  putFile: { isNaming: true, seals: { path: 'path' }, opens: 'record' },
  startUpload: { isNaming: true, seals: { path: 'path' }, opens: 'record' },
  getUpload: { seals: { path: 'path' }, opens: 'record' },
  completeUpload: { seals: { path: 'path' }, opens: 'record' },
  cancelUpload: { seals: { path: 'path' } },
  listUploads: { opens: 'records' },
} satisfies PathRows<UploadOperations>;

/** Returns the header fields of a file that is uploaded with its bytes. */
export function fileHeaders(
  {
    contentType,
    tags,
    headers,
    metadata,
    ifMatch,
    ifNoneMatch,
  }: Omit<FileMetadata, 'bucket' | 'path' | 'sha256'>,
  jsonOf: (value: object) => string,
) {
  return {
    ...headers,
    'Content-Type': contentType,
    'X-File-Tags': tags.length > 0 ? tags.join(',') : undefined,
    'X-File-Metadata': unlessEmpty(metadata) && jsonOf(metadata),
    'If-Match': ifMatch,
    'If-None-Match': ifNoneMatch,
  };
}

function unlessEmpty<T extends object>(fields: T): T | undefined {
  return Object.keys(fields).length > 0 ? fields : undefined;
}

/** JSON for a header field: characters beyond ASCII are escaped. */
function asciiJson(value: object): string {
  const escaped = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return JSON.stringify(value).replace(/[^\x20-\x7e]/g, escaped);
}
