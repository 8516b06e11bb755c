// Resumable uploads by the tus protocol 1.0.0 (https://tus.io/protocols/resumable-upload), with the
// extensions creation, creation-with-upload, termination, checksum and expiration:
// `/api/v1/tus/{bucket}`, `/api/v1/tus/{bucket}/{upload}`. Each upload is a session as in
// upload-sessions.ts. The request with the last bytes also stores the file.

import { fileUrl } from '../domain/files/file-view.ts';
import type { ApiKey } from '../domain/rights/api-keys.ts';
import { authorize } from '../domain/rights/rights.ts';
import {
  type Appended,
  type AppendRequest,
  appendBytes,
  checkAppend,
  requireAppendable,
} from '../domain/uploads/appended-bytes.ts';
import { cancelUpload, checkCancellation } from '../domain/uploads/upload-end.ts';
import type { UploadSession } from '../domain/uploads/upload-session.ts';
import { begunUpload, checkUploadRequest, requireNotGone } from '../domain/uploads/uploads.ts';
import { emptyBytes } from '../lib/bytes.ts';
import { bucketRoute } from './authorization.ts';
import { uploadSecret } from './bearer-key.ts';
import { conditionFields } from './json-body.ts';
import { mediaTypeOf } from './media-types.ts';
import type { Header, HttpRequest, HttpResponse } from './message.ts';
import { noContent, uncached } from './respond.ts';
import { type Answer, type Exchange, type Route, upgrade } from './router.ts';
import {
  bytesField,
  progressFields,
  readTusMetadata,
  refuseConcatenation,
  requireBytesType,
  requireChecksum,
  requireTusVersion,
  type TusMetadata,
} from './tus-fields.ts';
import { linkedPath } from './upload-links.ts';
import { namedUpload } from './upload-sessions.ts';

function emptyResponse(status: number, headers: readonly Header[]): HttpResponse {
  return { status, headers: [...headers, uncached], body: emptyBytes };
}

/** Returns the address of the stored file, once the last byte has arrived. */
function storedFields({ session, stored }: Appended): Header[] {
  if (stored === undefined) return [];
  return [['Content-Location', fileUrl(session)]];
}

function createTusUpload(exchange: Exchange): Answer {
  const { stores, call, request } = exchange;
  const route = bucketRoute(exchange);
  authorize(stores, call, { ...route, permission: 'upload', place: 'later' });
  requireTusVersion(request);
  refuseConcatenation(request);
  const { tags, sent, ...named } = readTusMetadata(request);
  const path = pathOf(named, route.apiKey);
  const { contentType = mediaTypeOf(path) } = named;
  const size = bytesField(request, 'upload-length');
  const checked = checkUploadRequest(stores, call, {
    ...route,
    ...conditionFields(request, {}),
    ...{ path, contentType, tags, size },
    chunkSize: undefined,
    sha256: undefined,
    uploadMetadata: sent,
    isOverHttp: true,
  });
  const bytes = firstBytes(request);
  requireAppendable(stores, call, { session: checked.beginning, offset: 0n, bytes });
  requireChecksum(request);
  if (exchange.phase === 'query') return upgrade;
  const begun = begunUpload(stores, checked);
  const { uploadId } = begun;
  const isFilled = bytes.length > 0 || size === 0n;
  const append = { uploadId, isOverHttp: true, apiKey: route.apiKey, offset: 0n, bytes };
  const appended = isFilled ? appendBytes(stores, call, append) : { session: begun };
  const secret = uploadSecret(request);
  const query = secret === '' ? '' : `?upload=${secret}`;
  const location: Header = ['Location', `/api/v1/tus/${begun.bucketId}/${uploadId}${query}`];
  const fields = [location, ...progressFields(appended.session), ...storedFields(appended)];
  return emptyResponse(201, fields);
}

/** Returns the path; senders of an upload link need not know where it points. */
function pathOf({ path, name }: Pick<TusMetadata, 'path' | 'name'>, key: ApiKey): string {
  if (path !== '') return path;
  return key.bounds?.isLink === true ? linkedPath(key, name) : name;
}

/** Returns the first bytes of the file, which a client may send with the creation. */
function firstBytes(request: HttpRequest): Uint8Array {
  if (request.body.length === 0) return emptyBytes;
  requireBytesType(request);
  return request.body;
}

function headTusUpload(exchange: Exchange): HttpResponse {
  const { session } = namedUpload(exchange);
  requireTusVersion(exchange.request);
  requireNotGone(session, exchange.call.nowNs);
  const { totalSize, uploadMetadata } = session;
  const metadata: Header[] = uploadMetadata === '' ? [] : [['Upload-Metadata', uploadMetadata]];
  const length: Header = ['Upload-Length', String(totalSize)];
  return emptyResponse(200, [length, ...progressFields(session), ...metadata]);
}

function patchTusUpload(exchange: Exchange): Answer {
  const { stores, call, request } = exchange;
  const { session: known, ...append } = appendRequest(exchange);
  if (exchange.phase === 'query') {
    // This node may not know of the last request yet
    if (append.offset > BigInt(known.uploadedSize)) return upgrade;
    const session = checkAppend(stores, call, append);
    requireChecksum(request);
    const isNothing = append.bytes.length === 0 && session.uploadedSize < session.totalSize;
    return isNothing ? emptyResponse(204, progressFields(session)) : upgrade;
  }
  requireChecksum(request);
  const appended = appendBytes(stores, call, append);
  return emptyResponse(204, [...progressFields(appended.session), ...storedFields(appended)]);
}

function appendRequest(exchange: Exchange): AppendRequest & { session: UploadSession } {
  const { request } = exchange;
  const { uploadId, apiKey, session } = namedUpload(exchange);
  requireTusVersion(request);
  requireBytesType(request);
  const offset = bytesField(request, 'upload-offset');
  return { session, uploadId, isOverHttp: true, apiKey, offset, bytes: request.body };
}

function deleteTusUpload(exchange: Exchange): Answer {
  const { stores, call, phase } = exchange;
  const { uploadId } = namedUpload(exchange);
  requireTusVersion(exchange.request);
  const name = { uploadId, isOverHttp: true };
  const session = checkCancellation(stores, call, name);
  requireNotGone(session, call.nowNs);
  if (phase === 'query') return upgrade;
  cancelUpload(stores, call, name);
  return noContent;
}

export const tusRoutes: readonly Route[] = [
  {
    pattern: /^\/api\/v1\/tus\/([^/]*)$/y,
    handlers: { POST: createTusUpload },
    uploadMethods: ['POST'],
  },
  {
    pattern: /^\/api\/v1\/tus\/([^/]*)\/([^/]*)$/y,
    handlers: {
      HEAD: headTusUpload,
      PATCH: patchTusUpload,
      DELETE: deleteTusUpload,
    },
    uploadMethods: ['PATCH'],
    allowsOverride: true,
  },
];
