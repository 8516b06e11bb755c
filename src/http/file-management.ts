// GET, HEAD, PATCH and DELETE of a file's record: `/api/v1/bucket/{bucket}/files/{path}`; GET and
// HEAD with `?version=` of one of its versions.

import { authorize } from '../domain/access/access.ts';
import { checkDeletion, deleteFile, type FileName, getFile } from '../domain/files/file-access.ts';
import { changeFile, checkFileChange } from '../domain/files/file-changes.ts';
import { entityTag, fileView } from '../domain/files/file-view.ts';
import { getVersion } from '../domain/files/version-access.ts';
import { matchesTag } from '../domain/shared/preconditions.ts';
import { emptyBytes } from '../lib/bytes.ts';
import { requestKey } from './authorization.ts';
import { storedResponse } from './file-record.ts';
import { jsonBody, notesField } from './json-body.ts';
import { type Header, type HttpResponse, header } from './message.ts';
import { writePreconditions } from './preconditions.ts';
import { refuseVersion, versionAsked } from './query.ts';
import { jsonResponse } from './respond.ts';
import { type Exchange, upgrade } from './router.ts';

const uncached: Header = ['Cache-Control', 'private, no-store'];

function fileName(exchange: Exchange): FileName {
  const [bucket = '', path = ''] = exchange.captures;
  // With its slash, so that a second one is an empty segment.
  return { bucket, path: `/${path}`, apiKey: requestKey(exchange, bucket) };
}

function changedFile(exchange: Exchange): FileName {
  refuseVersion(exchange.request);
  return fileName(exchange);
}

export function getFileRecord(exchange: Exchange): HttpResponse {
  const { stores, call, request } = exchange;
  const name = fileName(exchange);
  const version = versionAsked(request);
  const file =
    version === undefined
      ? getFile(stores, call, name)
      : getVersion(stores, call, { ...name, version });
  const ifNoneMatch = header(exchange.request, 'if-none-match');
  if (ifNoneMatch !== undefined && matchesTag(ifNoneMatch, entityTag(file), 'weak')) {
    return { status: 304, headers: [['ETag', entityTag(file)], uncached], body: emptyBytes };
  }
  const response = jsonResponse(200, fileView(file));
  return { ...response, headers: [...response.headers, ['ETag', entityTag(file)], uncached] };
}

export function headFileRecord(exchange: Exchange): HttpResponse {
  const record = getFileRecord(exchange);
  if (record.status === 304) return record;
  const { status, headers, body } = record;
  const length: Header = ['Content-Length', String(body.length)];
  return { status, headers: [...headers, length], body: emptyBytes };
}

export function deleteFileRecord(exchange: Exchange): HttpResponse | typeof upgrade {
  const { stores, call, request } = exchange;
  const deletion = { ...changedFile(exchange), conditions: writePreconditions(request) };
  if (exchange.phase === 'query') {
    checkDeletion(stores, call, deletion);
    return upgrade;
  }
  deleteFile(stores, call, deletion);
  return { status: 204, headers: [uncached], body: emptyBytes };
}

/** Replaces each field that the body names, as a whole. */
export function patchFileRecord(exchange: Exchange): HttpResponse | typeof upgrade {
  const { stores, call, request } = exchange;
  const name = changedFile(exchange);
  authorize(stores, call, { ...name, permission: 'write' });
  const body = jsonBody(request);
  const change = {
    ...name,
    ...notesField(body),
    conditions: writePreconditions(request),
  };
  if (exchange.phase === 'query') {
    checkFileChange(stores, call, change);
    return upgrade;
  }
  return storedResponse(changeFile(stores, call, change));
}
