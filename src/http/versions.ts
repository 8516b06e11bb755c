// Versions of files: GET and DELETE of `/api/v1/bucket/{bucket}/versions`, GET, HEAD and DELETE of
// `…/versions/{path}`, POST of `…/restore`.

import { entityTag } from '../domain/files/file-records.ts';
import { isoTime, retentionView } from '../domain/files/file-view.ts';
import { authorizeErasure, checkErasure, eraseVersions } from '../domain/files/version-erasure.ts';
import type { FormerVersion } from '../domain/files/version-records.ts';
import {
  checkRestoration,
  listVersions,
  restoreVersion,
  withVersion,
} from '../domain/files/versions.ts';
import { authorize } from '../domain/rights/rights.ts';
import { Refusal } from '../domain/shared/refusal.ts';
import { bucketRoute, fileRoute } from './authorization.ts';
import { fileResponse, headResponse, type OpenedFile, shownToKey } from './cloud.ts';
import { storedResponse } from './file-record.ts';
import { conditionFields, jsonBody, textField, versionField } from './json-body.ts';
import type { HttpResponse } from './message.ts';
import { bypassAsked, parseCount, parseVersion, readQuery, versionAsked } from './query.ts';
import { noContent, privateJson } from './respond.ts';
import { type Answer, type Exchange, headOf, type Route, upgrade } from './router.ts';

function versionView({ file, retiredAtNs, expiresAtNs }: FormerVersion) {
  return {
    path: file.path,
    version: file.version,
    size: file.size,
    contentType: file.contentType,
    etag: entityTag(file).slice(1, -1),
    updatedAt: isoTime(file.updatedAtNs),
    retiredAt: isoTime(retiredAtNs),
    expiresAt: isoTime(expiresAtNs),
    metadata: file.metadata.length === 0 ? undefined : Object.fromEntries(file.metadata),
    retention: file.retention && retentionView(file.retention),
  };
}

function getVersions(exchange: Exchange): HttpResponse {
  const { stores, call, request } = exchange;
  const route = bucketRoute(exchange);
  const { limit, ...query } = readQuery(request, ['path', 'prefix', 'cursor', 'limit']);
  const page = listVersions(stores, call, { ...route, ...query, limit: parseCount(limit) });
  return privateJson(200, { items: page.items.map(versionView), nextCursor: page.nextCursor });
}

/** Serves the bytes of a version like a file of a private bucket. */
function getVersionBytes(exchange: Exchange): HttpResponse {
  return withVersionBytes(exchange, (opened) => fileResponse(exchange, opened));
}

function headVersionBytes(exchange: Exchange): HttpResponse {
  return withVersionBytes(exchange, (opened) => headResponse(exchange, opened));
}

function withVersionBytes(
  exchange: Exchange,
  use: (opened: OpenedFile) => HttpResponse,
): HttpResponse {
  const { stores, call, request } = exchange;
  const route = fileRoute(exchange);
  const version = versionAsked(request);
  if (version === undefined) {
    throw new Refusal(
      'InvalidArgument',
      'The query lacks the version: send ?version= with its number.',
    );
  }
  const named = { call, ...route, version };
  return withVersion(stores, named, (opened) => use(shownToKey(opened, request.url)));
}

/** Erases one version or all versions of a path, or of all paths with a prefix. */
function deleteVersions(exchange: Exchange): Answer {
  const { stores, call, request, captures, phase } = exchange;
  const [, captured] = captures;
  const route = bucketRoute(exchange);
  const query = readQuery(request, ['prefix', 'version', 'cursor']);
  const version = parseVersion(query.version);
  const path = captured === undefined ? undefined : `/${captured}`;
  const { prefix, cursor } = query;
  const bypassesGovernance = bypassAsked(request);
  const erasure = { ...route, path, prefix, version, cursor, bypassesGovernance };
  if (exchange.isInspected) {
    authorizeErasure(stores, call, erasure);
    return upgrade;
  }
  if (phase === 'query') {
    checkErasure(stores, call, erasure);
    return upgrade;
  }
  const result = eraseVersions(stores, call, erasure);
  return version === undefined ? privateJson(200, result) : noContent;
}

function postRestore(exchange: Exchange): Answer {
  const { stores, call, request, phase } = exchange;
  const route = bucketRoute(exchange);
  authorize(stores, call, { ...route, permission: 'write', place: 'later' });
  const body = jsonBody(request);
  const path = textField(body, 'path');
  const version = versionField(body);
  if (path === undefined || version === undefined) {
    throw new Refusal('InvalidArgument', 'The body lacks "path" or "version": send both.');
  }
  const conditions = conditionFields(request, body);
  const restoration = { ...route, path, version, conditions };
  if (phase === 'query') {
    checkRestoration(stores, call, restoration);
    return upgrade;
  }
  return storedResponse(restoreVersion(stores, call, restoration));
}

export const versionRoutes: readonly Route[] = [
  {
    pattern: /^\/api\/v1\/bucket\/([^/]*)\/versions$/y,
    handlers: { GET: getVersions, HEAD: headOf(getVersions), DELETE: deleteVersions },
  },
  {
    pattern: /^\/api\/v1\/bucket\/([^/]*)\/versions\/(.*)$/sy,
    handlers: { GET: getVersionBytes, HEAD: headVersionBytes, DELETE: deleteVersions },
  },
  { pattern: /^\/api\/v1\/bucket\/([^/]*)\/restore$/y, handlers: { POST: postRestore } },
];
