// Reads files over HTTP by ranges, at `/cloud/{bucket}/{path}` or through a link (RFC 9110 §14).
// With `Prefer: part` (RFC 7240), a range from the start of a chunk to the end of the file returns
// that chunk only, which is certified in advance and costs the service nothing. A page of another
// origin asks by the query instead: a browser sends `Range` without a preflight (Fetch standard,
// "CORS-safelisted request-header"), and not every gateway allows other fields.

import { joinPieces } from '../bytes/byte-stream.ts';
import type { Signal } from '../connection/transport.ts';
import type { NumberedFile } from '../operations/files.ts';
import { posting } from '../operations/operation-request.ts';
import type {
  FilesRequest,
  OpenedFile,
  OpenRequest,
  PartRequest,
  WholeFile,
} from '../operations/transfers.ts';
import { bucketPath, cloudPath, isCrossOrigin, versionPath } from '../operations/url-paths.ts';
import {
  type ErrorView,
  errorOfView,
  isStorageError,
  replacedError,
  StorageError,
} from '../storage-error.ts';
import { exchange, type HttpAnswer, type HttpConnection, type HttpRequest } from './exchange.ts';

/** Opens a file without the key first, because only responses without a key can be certified. */
export async function openHttpFile(
  connection: HttpConnection,
  file: OpenRequest,
  signal: Signal,
): Promise<OpenedFile> {
  const openWithKey = () => openAs(connection, file, { signal, isAnonymous: false });
  if (file.version !== undefined) return openWithKey();
  try {
    return await openAs(connection, file, { signal, isAnonymous: true });
  } catch (error) {
    // Without a key, files of private buckets return 404.
    if (connection.apiKey === undefined || !isStorageError(error, 'NoSuchFile')) throw error;
    return openWithKey();
  }
}

async function openAs(
  connection: HttpConnection,
  file: OpenRequest,
  { signal, isAnonymous }: { readonly signal: Signal; readonly isAnonymous: boolean },
): Promise<OpenedFile> {
  const { version } = file;
  const path = bytesPath(file);
  const request = { path: isAnonymous ? uncached(path, once()) : path, signal, isAnonymous };
  const startMs = performance.now();
  if (file.wantsFirst) {
    try {
      const asked = { ...request, headers: { Range: 'bytes=0-' } };
      const answer = await exchange(connection, {
        method: 'GET',
        ...askedForPart(connection, asked),
      });
      connection.line.down.note(answer.bytes.length, performance.now() - startMs);
      return { ...openedByGet(connection, answer), isAnonymous, version };
    } catch (error) {
      // No range of an empty file can be satisfied.
      if (!isStorageError(error, 'InvalidRange')) throw error;
    }
  }
  const { headers } = await exchange(connection, { ...request, method: 'HEAD' });
  const size = Number(headers.get('content-length') ?? Number.NaN);
  if (!Number.isSafeInteger(size)) throw malformed('no Content-Length');
  const chunkBytes = size === 0 ? 1 : undefined;
  const about = describe(connection, headers);
  return { ...about, size, chunkBytes, first: undefined, isAnonymous, version };
}

function openedByGet(connection: HttpConnection, { status, headers, bytes }: HttpAnswer) {
  const size = status === 206 ? contentRange(headers).total : bytes.length;
  return { ...describe(connection, headers), size, chunkBytes: bytes.length, first: bytes };
}

/** Returns the path for callers with a key, of the file or of one version. */
function bytesPath(file: NumberedFile): string {
  const { version } = file;
  return version === undefined ? cloudPath(file) : `${versionPath(file)}?version=${version}`;
}

function describe({ url }: HttpConnection, headers: Headers) {
  const etag = (headers.get('etag') ?? '').replace(/^(?:W\/)?"(.*)"$/, '$1');
  // A gateway that answers OPTIONS itself hides the tag from pages of other origins.
  if (etag === '' && !isCrossOrigin(url)) throw malformed('no ETag');
  return { etag, contentType: headers.get('content-type') ?? undefined };
}

/**
 * Adds a query that bypasses the gateway's cache, which may serve a public file for an hour, or as
 * long as its Cache-Control allows. Responses to keys and links are not cached.
 */
function uncached(path: string, name: string): string {
  return `${path}?v=${encodeURIComponent(name)}`;
}

function once(): string {
  return Date.now().toString(36) + Math.random().toString(36).slice(2);
}

/** Appended to the query that every path read without a key has. */
export const partPreference = '&prefer=part';

type Asked = Pick<HttpRequest, 'path' | 'headers' | 'isAnonymous'>;

/** Asks for the first chunk of the range only, by the query if a header would cost a preflight. */
function askedForPart<T extends Asked>({ url }: HttpConnection, request: T): T {
  const { path, headers, isAnonymous } = request;
  return isAnonymous && isCrossOrigin(url)
    ? { ...request, path: path + partPreference }
    : { ...request, headers: { ...headers, Prefer: 'part' } };
}

export async function readHttpPart(
  connection: HttpConnection,
  part: PartRequest,
  signal: Signal,
): Promise<Uint8Array> {
  const { start, end, etag, linkPath, onReceived } = part;
  const isAnonymous = part.isAnonymous || linkPath !== undefined;
  const pieces: Uint8Array[] = [];
  for (let position = start; position < end; ) {
    // A chunk is requested with an open end, as gateways do for the parts that they verify.
    const last = part.isChunk ? '' : end - 1;
    // The tag of each response is compared below; the condition only avoids the transfer of another
    // version.
    const ifMatch = isAnonymous && isCrossOrigin(connection.url) ? undefined : `"${etag}"`;
    const headers = { Range: `bytes=${position}-${last}`, 'If-Match': ifMatch };
    const own = part.isAnonymous ? uncached(cloudPath(part), etag || once()) : bytesPath(part);
    const path = linkPath ?? own;
    const before = position - start;
    const received = (bytes: number) => onReceived?.(before + bytes);
    const request = { method: 'GET', path, headers, signal, isAnonymous, onReceived: received };
    const asked = part.isChunk ? askedForPart(connection, request) : request;
    const answer = await exchange(connection, asked);
    const piece = pieceFrom(answer, position).subarray(0, end - position);
    if (describe(connection, answer.headers).etag !== etag) throw replacedError();
    pieces.push(piece);
    position += piece.length;
  }
  return joinPieces(pieces);
}

type ReadResult = Omit<WholeFile, 'bytes'> & { readonly error?: ErrorView };

/** The response is a form: `index` is JSON, and the files follow in its order. */
export async function readHttpFiles(
  connection: HttpConnection,
  { bucket, paths, asThumbnails }: FilesRequest,
  signal: Signal,
): Promise<readonly (WholeFile | StorageError)[]> {
  const route = asThumbnails ? 'thumbnails' : 'read';
  const request = { ...posting(`${bucketPath(bucket)}/${route}`, { paths }), signal };
  const { bytes, headers } = await exchange(connection, request);
  try {
    const form = await new Response(bytes as BodyInit, { headers }).formData();
    const { results } = JSON.parse(String(form.get('index'))) as { readonly results: ReadResult[] };
    const files = form.getAll('file');
    return await Promise.all(
      results.map(async ({ error, ...file }) => {
        if (error !== undefined) return errorOfView(error);
        return { ...file, bytes: new Uint8Array(await (files.shift() as File).arrayBuffer()) };
      }),
    );
  } catch {
    throw malformed('no form with files');
  }
}

/** Returns the bytes of the response from `position` on. */
function pieceFrom({ status, headers, bytes }: HttpAnswer, position: number): Uint8Array {
  const start = status === 206 ? contentRange(headers).start : 0;
  const piece = start > position ? bytes.subarray(0, 0) : bytes.subarray(position - start);
  if (piece.length === 0) throw malformed(`no byte ${position}`);
  return piece;
}

interface ContentRange {
  readonly start: number;
  /** Exclusive. */
  readonly end: number;
  readonly total: number;
}

function contentRange(headers: Headers): ContentRange {
  const value = headers.get('content-range') ?? '';
  const match = /^bytes (\d+)-(\d+)\/(\d+)$/.exec(value);
  if (match === null) throw malformed(`Content-Range "${value}"`);
  return { start: Number(match[1]), end: Number(match[2]) + 1, total: Number(match[3]) };
}

function malformed(what: string): StorageError {
  return new StorageError('HttpError', `The answer has ${what}.`);
}
