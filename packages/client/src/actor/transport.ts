// The transport by calls of the actor, with the agent's verification of every response. Imports the
// agent; lazy-transport.ts loads it with the first use.

import { IDL } from '@icp-sdk/core/candid';
import { chunkBytesMax, pageSizeMax } from '../../../wire/src/limits.ts';
import { joinPieces } from '../bytes/byte-stream.ts';
import { canisterAddress } from '../connection/canister-address.ts';
import { callBodyMsMax } from '../connection/transfer-window.ts';
import type {
  ChunkUpload,
  Completion,
  FileMetadata,
  OpenedFile,
  PageRequest,
  PartRequest,
  SessionRequest,
  Signal,
  Transport,
  WholeFile,
} from '../connection/transport.ts';
import { errorOfView, isStorageError, StorageError } from '../storage-error.ts';
import type { FileName, FileRecord } from '../types/files.ts';
import type { FolderOptions, UsageOptions } from '../types/listings.ts';
import type { UploadSession } from '../types/transfers.ts';
import { deleteFiles, deleteMatching, putFiles } from './batches.ts';
import { actorBucketsAndKeys } from './buckets-and-keys.ts';
import { argumentStart } from './call-envelope.ts';
import { resultOf } from './candid-interface.ts';
import { bucketRecordOf, fileRecordOf, optional, sessionOf, statusOf } from './candid-records.ts';
import type { Result } from './candid-types.ts';
import { chunkBytesOf } from './chunk-size.ts';
import { type ActorConnection, call, openService, type Service } from './connection.ts';
import { changeFile, moveFiles, sendCopy } from './copies.ts';
import { actorCreatorsAndRotation } from './creators-and-rotation.ts';
import { explained } from './failures.ts';
import { callWithBlob } from './large-call.ts';
import { queryBlob } from './large-query.ts';
import { createLink, listLinks } from './links.ts';
import { eraseVersions, listVersions, restoreVersion } from './versions.ts';

export async function openActorTransport(connection: ActorConnection): Promise<Transport> {
  const service = await openService(connection);
  const { actor, apiKey } = service;
  const key = optional(apiKey);
  return {
    wholeFileBytesMax: chunkBytesMax,
    bodyMsMax: callBodyMsMax,
    line: connection.line,
    probe: (bytes) => probe(service, bytes),
    administration: { ...actorBucketsAndKeys(actor, apiKey), ...actorCreatorsAndRotation(service) },
    putFile: (file, signal) => putFile(service, file, signal),
    putFiles: (batch, signal) => putFiles(service, batch, signal),
    startUpload: (request, signal) => startUpload(service, request, signal),
    async getEndToEnd(bucket, signal) {
      return bucketRecordOf(await call(signal, () => actor.getBucket(bucket, key)));
    },
    openFile: (file, options) => openFile(service, file, options),
    getFile: (file, signal, version) => getFile(service, file, { signal, version }),
    listFiles: (request) => listFiles(service, request),
    listFolder: (request) => listFolder(service, request),
    usage: (request) => usage(service, request),
    linkBase: canisterAddress(connection),
    readsByLinks: false,
    createLink: (request) => createLink(service, request),
    listLinks: (request) => listLinks(service, request),
    async removeLink(bucket, id, signal) {
      await call(signal, () => actor.deleteLink(bucket, id, key));
    },
    getUpload: async ({ uploadId }, signal) =>
      sessionOf(await call(signal, () => actor.getUpload(uploadId))),
    async putChunk(chunk, signal) {
      await call(signal, () => explained(service, sendChunk(service, chunk)));
    },
    completeUpload: (completion, signal) => completeUpload(service, completion, signal),
    async cancelUpload({ uploadId }, signal) {
      await call(signal, () => actor.cancelUpload(uploadId));
    },
    async listUploads(bucket, signal) {
      const uploads = await call(signal, () => actor.listUploads(bucket, key));
      return uploads.map(sessionOf);
    },
    readPart: (part, signal) => readPart(service, part, signal),
    async deleteFile({ bucket, path }, signal, ifMatch) {
      if (ifMatch === undefined) await call(signal, () => actor.deleteFile(bucket, path, key));
      else await deleteMatching(service, { bucket, path, ifMatch }, signal);
    },
    deleteFiles: (deletion, signal) => deleteFiles(service, deletion, signal),
    copyFile: (request, signal) => sendCopy(service, { kind: 'copy', request }, signal),
    moveFile: (request, signal) => sendCopy(service, { kind: 'move', request }, signal),
    moveFiles: (move, signal) => moveFiles(service, move, signal),
    changeFile: (file, change) => changeFile(service, file, change),
    listVersions: (request, signal) => listVersions(service, request, signal),
    restoreVersion: (restoration, signal) => restoreVersion(service, restoration, signal),
    eraseVersions: (erasure, signal) => eraseVersions(service, erasure, signal),
    status: async (signal) => statusOf(await call(signal, () => actor.getStatus())),
  };
}

/**
 * Measures the line by a query that the canister does not have: the network refuses it after the
 * bytes have arrived.
 */
async function probe({ bulkAgent, canisterId }: Service, bytes: number): Promise<void> {
  await bulkAgent().query(canisterId, { methodName: 'measureLine', arg: new Uint8Array(bytes) });
}

function destinationOf({ apiKey }: Service, file: FileMetadata) {
  return {
    bucketId: file.bucket,
    path: file.path,
    tags: optional(file.tags),
    sha256: optional(file.sha256),
    ifMatch: optional(file.ifMatch),
    ifNoneMatch: optional(file.ifNoneMatch),
    metadata: optional(Object.entries(file.metadata)),
    apiKey: optional(apiKey),
  };
}

/** uploadFile takes no headers, so a file with headers goes as the only one of a batch. */
async function putFile(service: Service, file: WholeFile, signal: Signal): Promise<FileRecord> {
  const { bucket, contentType, bytes } = file;
  if (Object.keys(file.headers).length > 0) {
    const [record] = await putFiles(service, { bucket, files: [file] }, signal);
    if (record === undefined || isStorageError(record)) throw record ?? errorOfView(undefined);
    return record;
  }
  const { metadata, ...destination } = destinationOf(service, file);
  const request = { ...destination, contentType, bytes };
  const { actor, earlierUploads } = service;
  await call(signal, () =>
    Object.keys(file.metadata).length === 0
      ? earlierUploads.uploadFile(request)
      : actor.uploadFile({ ...request, metadata }),
  );
  return getFile(service, file, { signal });
}

/** The reply is not verified; the completion and its entity tag verify the whole. */
function sendChunk(service: Service, chunk: ChunkUpload): Promise<Result<bigint>> {
  const { uploadId, index, bytes: blob, onSent } = chunk;
  return callWithBlob(service.largeCaller, {
    method: 'uploadFileChunkIndexed',
    argumentStart: argumentStart([IDL.Text, IDL.Nat], [uploadId, BigInt(index)]),
    blob,
    onSent,
    resultType: resultOf(IDL.Nat),
  });
}

async function startUpload(
  service: Service,
  request: SessionRequest,
  signal: Signal,
): Promise<UploadSession> {
  const { actor, earlierUploads } = service;
  const { size, chunkBytes, contentType, headers, token } = request;
  const fields = {
    ...destinationOf(service, request),
    contentType: optional(contentType),
    chunkSize: optional(BigInt(chunkBytes)),
    headers: optional(Object.entries(headers)),
    token: optional(token),
  };
  const uploadId = await call(signal, () =>
    size === undefined
      ? actor.beginFileUploadWith({ ...fields, size: [] })
      : earlierUploads.beginFileUploadWith({ ...fields, size: BigInt(size) }),
  );
  return sessionOf(await call(signal, () => actor.getUpload(uploadId)));
}

/** Version 0.1.0 has no `completeFileUploadWith`, so it is called only if it is needed. */
async function completeUpload(
  service: Service,
  completion: Completion,
  signal: Signal,
): Promise<FileRecord> {
  const { actor, apiKey } = service;
  const { uploadId, metadata, sha256, ifMatch, ifNoneMatch } = completion;
  const isBare = [metadata, sha256, ifMatch, ifNoneMatch].every((told) => told === undefined);
  if (isBare) {
    await call(signal, () => actor.completeFileUpload(uploadId, optional(apiKey)));
    return getFile(service, completion, { signal });
  }
  const told = {
    uploadId,
    metadata: optional(metadata && Object.entries(metadata)),
    sha256: optional(sha256),
    ifMatch: optional(ifMatch),
    ifNoneMatch: optional(ifNoneMatch),
    apiKey: optional(apiKey),
  };
  return fileRecordOf(await call(signal, () => actor.completeFileUploadWith(told)));
}

interface VersionOptions {
  readonly version?: number | undefined;
  readonly signal: Signal;
}

async function getFile(
  { actor, apiKey }: Service,
  { bucket, path }: FileName,
  { version, signal }: VersionOptions,
) {
  const key = optional(apiKey);
  const record = await call(signal, () =>
    version === undefined
      ? actor.getFile(bucket, path, key)
      : actor.getVersion(bucket, path, BigInt(version), key),
  );
  return fileRecordOf(record);
}

async function openFile(
  service: Service,
  file: FileName,
  { version, signal }: VersionOptions,
): Promise<OpenedFile> {
  const record = await getFile(service, file, { version, signal });
  const { etag, size, contentType } = record;
  const chunkSize = await chunkBytesOf(service, record, signal);
  // It may be 0 for an empty file.
  const chunkBytes = chunkSize && Math.max(1, chunkSize);
  return { etag, size, contentType, chunkBytes, isAnonymous: false, version, first: undefined };
}

const { Text, Nat, Opt } = IDL;
const readArguments = [Text, Text, Nat, Nat, Opt(Text)];
const readVersionArguments = [Text, Text, Nat, Nat, Nat, Opt(Text)];

/** One call reads at most the longest chunk; a file of one HTTP request may be longer. */
async function readPart(service: Service, part: PartRequest, signal: Signal) {
  const pieces: Uint8Array[] = [];
  for (let { start } = part; start < part.end; start += chunkBytesMax) {
    const end = Math.min(part.end, start + chunkBytesMax);
    const before = start - part.start;
    const onReceived = (bytes: number) => part.onReceived?.(before + bytes);
    pieces.push(await readPiece(service, { ...part, start, end, onReceived }, signal));
  }
  return joinPieces(pieces);
}

async function readPiece(service: Service, part: PartRequest, signal: Signal) {
  const { canisterId, agent, bulkAgent, apiKey } = service;
  const { bucket, path, version, start, end, isChunk, onReceived } = part;
  const expectedBytes = end - start;
  const range = [BigInt(start), BigInt(expectedBytes), optional(apiKey)];
  const [method, types, values] =
    version === undefined
      ? ['readFile', readArguments, [bucket, path, ...range]]
      : ['readVersion', readVersionArguments, [bucket, path, BigInt(version), ...range]];
  const query = { canisterId, method, argument: IDL.encode(types, values), expectedBytes };
  const bytes = await call(signal, () => queryBlob(isChunk ? bulkAgent(onReceived) : agent, query));
  if (bytes.length === expectedBytes) return bytes;
  throw new StorageError('PreconditionFailed', 'The file was replaced while it was read.');
}

async function listFiles({ actor, apiKey }: Service, request: PageRequest) {
  const { bucket, prefix, sort, tag, page, signal } = request;
  const listed = await call(signal, () =>
    actor.listFiles({
      bucketId: bucket,
      prefix: optional(prefix),
      sort: optional(sort),
      tag: optional(tag),
      page: optional(BigInt(page)),
      pageSize: optional(BigInt(pageSizeMax)),
      apiKey: optional(apiKey),
    }),
  );
  const [nextPage] = listed.nextPage;
  return {
    items: listed.items.map(fileRecordOf),
    total: Number(listed.total),
    nextPage: nextPage === undefined ? undefined : Number(nextPage),
  };
}

async function listFolder({ actor, apiKey }: Service, request: FolderOptions) {
  const { bucket, prefix, delimiter, cursor, startAfter, limit, sort, tag, signal } = request;
  const listed = await call(signal, () =>
    actor.listFolder({
      bucketId: bucket,
      prefix: optional(prefix),
      delimiter: optional(delimiter),
      cursor: optional(cursor),
      startAfter: optional(startAfter),
      limit: optional(limit === undefined ? undefined : BigInt(limit)),
      sort: optional(sort),
      tag: optional(tag),
      apiKey: optional(apiKey),
    }),
  );
  const { items, folders, nextCursor } = listed;
  return { items: items.map(fileRecordOf), folders, nextCursor: nextCursor[0] };
}

async function usage({ actor, apiKey }: Service, { bucket, prefix, signal }: UsageOptions) {
  const { files, bytes } = await call(signal, () =>
    actor.getUsage(bucket, optional(prefix), optional(apiKey)),
  );
  return { files: Number(files), bytes: Number(bytes) };
}
