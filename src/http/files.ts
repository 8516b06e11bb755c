// GET, HEAD, PATCH and DELETE of a file's record: `/api/v1/bucket/{bucket}/files/{path}`; GET and
// HEAD with `?version=` read the record of a version.

import { changeFile, checkFileChange } from '../domain/files/file-changes.ts';
import { entityTag, fileView } from '../domain/files/file-view.ts';
import { checkDeletion, deleteFile, type FileName, getFile } from '../domain/files/files.ts';
import { getVersion } from '../domain/files/versions.ts';
import { authorize } from '../domain/rights/rights.ts';
import { matchesTag } from '../domain/shared/preconditions.ts';
import { emptyBytes } from '../lib/bytes.ts';
import { fileRoute } from './authorization.ts';
import { storedResponse } from './file-record.ts';
import { jsonBody, notesField } from './json-body.ts';
import { type Header, type HttpResponse, header } from './message.ts';
import { writePreconditions } from './preconditions.ts';
import { bypassAsked, refuseVersion, versionAsked } from './query.ts';
import { noContent, privateJson, uncached } from './respond.ts';
import { type Answer, type Exchange, upgrade } from './router.ts';

function changedFile(exchange: Exchange): FileName {
  refuseVersion(exchange.request);
  return fileRoute(exchange);
}

export function getFileRecord(exchange: Exchange): HttpResponse {
  const { stores, call, request } = exchange;
  const name = fileRoute(exchange);
  const version = versionAsked(request);
  const file =
    version === undefined
      ? getFile(stores, call, name)
      : getVersion(stores, call, { ...name, version });
  const etag: Header = ['ETag', entityTag(file)];
  const ifNoneMatch = header(request, 'if-none-match');
  if (ifNoneMatch !== undefined && matchesTag(ifNoneMatch, etag[1], 'weak')) {
    return { status: 304, headers: [etag, uncached], body: emptyBytes };
  }
  return privateJson(200, fileView(file), [etag]);
}

export function headFileRecord(exchange: Exchange): HttpResponse {
  const record = getFileRecord(exchange);
  if (record.status === 304) return record;
  const { status, headers, body } = record;
  const length: Header = ['Content-Length', String(body.length)];
  return { status, headers: [...headers, length], body: emptyBytes };
}

export function deleteFileRecord(exchange: Exchange): Answer {
  const { stores, call, request } = exchange;
  const deletion = {
    ...changedFile(exchange),
    conditions: writePreconditions(request),
    bypassesGovernance: bypassAsked(request),
  };
  if (exchange.phase === 'query') {
    checkDeletion(stores, call, deletion);
    return upgrade;
  }
  deleteFile(stores, call, deletion);
  return noContent;
}

/** Each field of the body replaces the stored one as a whole. */
export function patchFileRecord(exchange: Exchange): Answer {
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
