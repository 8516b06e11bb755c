// The transport over HTTP through a gateway. The HTTP interface has no routes for administration.

import { singleUploadBytesMax } from '../../../wire/src/limits.ts';
import { encodeHex } from '../bytes/bytes.ts';
import { httpBodyMsMax } from '../connection/transfer-window.ts';
import type { Signal, Transport } from '../connection/transport.ts';
import type { OperationRequest } from '../operations/operation-request.ts';
import {
  type Calls,
  callsOf,
  type DescribedOperations,
  describedRows,
} from '../operations/table.ts';
import type { ChunkUpload } from '../operations/transfers.ts';
import { sessionPath } from '../operations/url-paths.ts';
import { StorageError } from '../storage-error.ts';
import { answerTo, exchange, exchangeJson, type HttpConnection, jsonOf } from './exchange.ts';
import { openHttpFile, readHttpFiles, readHttpPart } from './files.ts';
import { putFiles } from './put-files.ts';

export function createHttpTransport(connection: HttpConnection): Transport {
  return {
    wholeFileBytesMax: singleUploadBytesMax,
    bodyMsMax: httpBodyMsMax,
    administration: undefined,
    line: connection.line,
    linkBase: connection.url,
    readsByLinks: true,
    opensWithBytes: true,
    hasOneRound: false,
    probe: (bytes) => probe(connection, bytes),
    certifiedPage: (signal) => certifiedPage(connection, signal),
    ...describedCalls(connection),
    getCertifiedFile: requireActor,
    uploadChunk: requireActor,
    readFiles: (request, signal) => readHttpFiles(connection, request, signal),
    openFile: (file, signal) => openHttpFile(connection, file, signal),
    readPart: (part, signal) => readHttpPart(connection, part, signal),
    putChunk: (chunk, signal) => putChunk(connection, chunk, signal),
    putFiles: (batch, signal) => putFiles(connection, batch, signal),
  };
}

async function requireActor(): Promise<never> {
  throw new StorageError('Unsupported', 'This requires createStorage().');
}

/** The part of a row that makes a call, whatever the operation. */
interface HttpRow {
  request(argument: unknown): OperationRequest;
  read?(json: unknown, argument: unknown): unknown;
}

function describedCalls(connection: HttpConnection): Calls<DescribedOperations> {
  return callsOf<DescribedOperations, HttpRow>(
    describedRows,
    ({ request, read }) =>
      async (argument, signal) => {
        const { isBare, ...sent } = request(argument);
        const answer = await exchange(connection, { ...sent, signal });
        const json = isBare ? undefined : jsonOf(answer);
        return read ? read(json, argument) : json;
      },
  );
}

interface ServiceText {
  readonly canisterId?: string;
  readonly front?: { readonly url: string } | null;
}

/** Gateways verify this text, unlike answers below /api. */
async function certifiedPage(
  connection: HttpConnection,
  signal: Signal,
): Promise<string | undefined> {
  const path = '/.well-known/efs-service';
  const request = { method: 'GET', path, signal, isAnonymous: true };
  const { front, canisterId = '' } = await exchangeJson<ServiceText>(connection, request);
  return front ? `${front.url}/s/${canisterId}` : undefined;
}

/**
 * Measures the line by a request to an address that no file has. A query answers a request without
 * rights whose body has more than 4,096 bytes; the response does not matter.
 */
async function probe(connection: HttpConnection, bytes: number): Promise<void> {
  const body = new Uint8Array(bytes);
  const request = { method: 'POST', path: '/cloud/', body, signal: undefined, isAnonymous: true };
  await answerTo(connection, request);
}

/** The response has the digest of the received bytes, which must equal that of the sent ones. */
async function putChunk(connection: HttpConnection, chunk: ChunkUpload, signal: Signal) {
  const { index, bytes, blob, digest, onSent } = chunk;
  const path = `${sessionPath(chunk)}/chunk/${index}`;
  const headers = { 'Content-Type': 'application/octet-stream' };
  const request = { method: 'PUT', path, headers, body: blob ?? bytes, signal, onSent };
  const { sha256 } = await exchangeJson<{ sha256?: string }>(connection, request);
  if (sha256 === encodeHex(digest)) return undefined;
  throw new StorageError('BadDigest', `Chunk ${index} was corrupted in transit.`, {
    isRetryable: true,
  });
}
