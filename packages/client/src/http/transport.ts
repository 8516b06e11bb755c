// The transport over HTTP, through a gateway. It cannot manage buckets and keys: the HTTP interface
// has no routes for that.

import { folderPageDefault, pageSizeMax, singleUploadBytesMax } from '../../../wire/src/limits.ts';
import { encodeBase64, encodeHex } from '../bytes/bytes.ts';
import { httpBodyMsMax } from '../connection/transfer-window.ts';
import type {
  ChunkUpload,
  PageRequest,
  SessionName,
  SessionRequest,
  Signal,
  Transport,
  WholeFile,
} from '../connection/transport.ts';
import { StorageError } from '../storage-error.ts';
import type { FileName, FileRecord } from '../types/files.ts';
import type {
  FilePage,
  FolderOptions,
  FolderPage,
  Usage,
  UsageOptions,
} from '../types/listings.ts';
import type { ServiceStatus } from '../types/service.ts';
import type { UploadSession } from '../types/transfers.ts';
import { deleteFiles, putFiles } from './batches.ts';
import { changeFile, moveFiles, sendCopy } from './copies.ts';
import { answerTo, exchange, exchangeJson, type HttpConnection, postJson } from './exchange.ts';
import { openHttpFile, readHttpPart } from './files.ts';
import { createLink, listLinks, removeLink } from './links.ts';
import { bucketPath, filePath, queryOf } from './paths.ts';
import { eraseVersions, listVersions, restoreVersion } from './versions.ts';

export function createHttpTransport(connection: HttpConnection): Transport {
  const sessionPath = ({ bucket, uploadId }: SessionName) =>
    `${bucketPath(bucket)}/upload/${encodeURIComponent(uploadId)}`;
  return {
    wholeFileBytesMax: singleUploadBytesMax,
    bodyMsMax: httpBodyMsMax,
    administration: undefined,
    line: connection.line,
    probe: (bytes) => probe(connection, bytes),
    putFile: (file, signal) => putFile(connection, file, signal),
    putFiles: (batch, signal) => putFiles(connection, batch, signal),
    startUpload: (request, signal) => startUpload(connection, request, signal),
    putChunk: (chunk, signal) => putChunk(connection, chunk, signal),
    getEndToEnd: (bucket, signal) =>
      exchangeJson(connection, {
        method: 'GET',
        path: `${bucketPath(bucket)}/end-to-end`,
        signal,
      }),
    openFile: (file, options) => openHttpFile(connection, file, options),
    readPart: (part, signal) => readHttpPart(connection, part, signal),
    listFiles: (request) => listFiles(connection, request),
    listFolder: (request) => listFolder(connection, request),
    usage: (request) => usage(connection, request),
    linkBase: connection.url,
    readsByLinks: true,
    createLink: (request) => createLink(connection, request),
    listLinks: (request) => listLinks(connection, request),
    removeLink: (bucket, id, signal) => removeLink(connection, { bucket, id }, signal),
    getUpload: (name, signal) =>
      exchangeJson<UploadSession>(connection, { method: 'GET', path: sessionPath(name), signal }),
    completeUpload: (completion, signal) => {
      const { metadata, sha256, ifMatch, ifNoneMatch } = completion;
      const headers = definedHeaders({ 'If-Match': ifMatch, 'If-None-Match': ifNoneMatch });
      const path = `${sessionPath(completion)}/complete`;
      const order = { metadata, sha256 };
      return postJson<FileRecord>(connection, { path, order, headers }, signal);
    },
    async cancelUpload(name, signal) {
      await exchange(connection, { method: 'DELETE', path: sessionPath(name), signal });
    },
    async listUploads(bucket, signal) {
      const path = `${bucketPath(bucket)}/upload`;
      const request = { method: 'GET', path, signal };
      return (await exchangeJson<{ items: UploadSession[] }>(connection, request)).items;
    },
    getFile: (file, signal, version) => getFile(connection, file, { signal, version }),
    async deleteFile(file, signal, ifMatch) {
      const headers = ifMatch === undefined ? {} : { 'If-Match': ifMatch };
      await exchange(connection, { method: 'DELETE', path: filePath(file), headers, signal });
    },
    deleteFiles: (deletion, signal) => deleteFiles(connection, deletion, signal),
    copyFile: (request, signal) => sendCopy(connection, { kind: 'copy', request }, signal),
    moveFile: (request, signal) => sendCopy(connection, { kind: 'move', request }, signal),
    moveFiles: (move, signal) => moveFiles(connection, move, signal),
    changeFile: (file, change) => changeFile(connection, file, change),
    listVersions: (request, signal) => listVersions(connection, request, signal),
    restoreVersion: (restoration, signal) => restoreVersion(connection, restoration, signal),
    eraseVersions: (erasure, signal) => eraseVersions(connection, erasure, signal),
    status: (signal) =>
      exchangeJson<ServiceStatus>(connection, { method: 'GET', path: '/api/v1/status', signal }),
  };
}

/**
 * Measures the line with a request that no file has the address of. A request without rights and
 * with a body of more than 4,096 bytes is answered by a query; the response does not matter.
 */
async function probe(connection: HttpConnection, bytes: number): Promise<void> {
  const body = new Uint8Array(bytes);
  const request = { method: 'POST', path: '/cloud/', body, signal: undefined, isAnonymous: true };
  await answerTo(connection, request);
}

async function getFile(
  connection: HttpConnection,
  file: FileName,
  { signal, version }: { readonly signal: Signal; readonly version: number | undefined },
): Promise<FileRecord> {
  const query = version === undefined ? '' : `?version=${version}`;
  const path = `${filePath(file)}${query}`;
  const record = await exchangeJson<FileRecord>(connection, { method: 'GET', path, signal });
  if (version === undefined || record.version === version) return record;
  throw new StorageError('Unsupported', "The service's version cannot read former versions.");
}

function definedHeaders(headers: Record<string, string | undefined>): Record<string, string> {
  const defined = Object.entries(headers).filter(([, value]) => value !== undefined);
  return Object.fromEntries(defined) as Record<string, string>;
}

function putFile(connection: HttpConnection, file: WholeFile, signal: Signal): Promise<FileRecord> {
  const headers = definedHeaders({
    ...file.headers,
    'Content-Type': file.contentType,
    'Content-Digest': `sha-256=:${encodeBase64(file.digest)}:`,
    'X-File-Tags': file.tags.length > 0 ? file.tags.join(',') : undefined,
    'X-File-Metadata': unlessEmpty(file.metadata) && asciiJson(file.metadata),
    'If-Match': file.ifMatch,
    'If-None-Match': file.ifNoneMatch,
  });
  const { bytes: body, onSent } = file;
  const request = { method: 'PUT', path: filePath(file), headers, body, signal, onSent };
  return exchangeJson<FileRecord>(connection, request);
}

function startUpload(
  connection: HttpConnection,
  request: SessionRequest,
  signal: Signal,
): Promise<UploadSession> {
  const { bucket, chunkBytes: chunkSize, headers, metadata, ...fields } = request;
  const described = { headers: unlessEmpty(headers), metadata: unlessEmpty(metadata) };
  const path = `${bucketPath(bucket)}/upload/start`;
  return postJson(connection, { path, order: { ...fields, ...described, chunkSize } }, signal);
}

function unlessEmpty<T extends object>(fields: T): T | undefined {
  return Object.keys(fields).length > 0 ? fields : undefined;
}

/** JSON for a header field: characters beyond ASCII are escaped. */
function asciiJson(value: object): string {
  const escaped = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return JSON.stringify(value).replace(/[^\x20-\x7e]/g, escaped);
}

/** The response has the digest of the received bytes, which must equal that of the sent ones. */
async function putChunk(
  connection: HttpConnection,
  chunk: ChunkUpload,
  signal: Signal,
): Promise<void> {
  const { bucket, uploadId, index, bytes, blob, digest, onSent } = chunk;
  const path = `${bucketPath(bucket)}/upload/${encodeURIComponent(uploadId)}/chunk/${index}`;
  const headers = { 'Content-Type': 'application/octet-stream' };
  const request = { method: 'PUT', path, headers, body: blob ?? bytes, signal, onSent };
  const { sha256 } = await exchangeJson<{ sha256?: string }>(connection, request);
  if (sha256 === encodeHex(digest)) return;
  throw new StorageError('BadDigest', `Chunk ${index} was corrupted in transit.`, {
    isRetryable: true,
  });
}

async function listFiles(connection: HttpConnection, request: PageRequest): Promise<FilePage> {
  const { bucket, prefix, sort, tag, page, signal } = request;
  const query = queryOf({ page, pageSize: pageSizeMax, prefix, sort, tag });
  const path = `${bucketPath(bucket)}/files?${query}`;
  const listed = await exchangeJson<ListedPage>(connection, { method: 'GET', path, signal });
  return { items: listed.items, total: listed.total, nextPage: listed.nextPage ?? undefined };
}

interface ListedPage {
  readonly items: readonly FileRecord[];
  readonly total: number;
  readonly nextPage: number | null;
}

async function listFolder(connection: HttpConnection, request: FolderOptions): Promise<FolderPage> {
  const { bucket, prefix, delimiter, cursor, startAfter, sort, tag } = request;
  const { limit = folderPageDefault } = request;
  const query = queryOf({ limit, prefix, delimiter, cursor, startAfter, sort, tag });
  const path = `${bucketPath(bucket)}/files?${query}`;
  const { signal } = request;
  const listed = await exchangeJson<ListedFolder>(connection, { method: 'GET', path, signal });
  const { items, folders, nextCursor } = listed;
  if (nextCursor === undefined) {
    throw new StorageError('Unsupported', "The service's version cannot list folders.");
  }
  return { items, folders, nextCursor: nextCursor ?? undefined };
}

interface ListedFolder {
  readonly items: readonly FileRecord[];
  readonly folders: readonly { readonly path: string }[];
  /** Absent in the response of version 0.1.0, which ignores the request's parameters. */
  readonly nextCursor?: string | null;
}

async function usage(
  connection: HttpConnection,
  { bucket, prefix, signal }: UsageOptions,
): Promise<Usage> {
  const path = `${bucketPath(bucket)}/usage?${queryOf({ prefix })}`;
  const { files, bytes } = await exchangeJson<Usage>(connection, { method: 'GET', path, signal });
  return { files, bytes };
}
