// Upload links of a bucket: `/api/v1/bucket/{bucket}/upload-links`, `…/upload-links/{id}`.

import {
  checkUploadLinkDeletion,
  checkUploadLinkRequest,
  createUploadLink,
  deleteUploadLink,
  listUploadLinks,
  uploadUrls,
} from '../domain/administration/upload-links.ts';
import { isoTime } from '../domain/files/file-view.ts';
import { type ApiKey, keyId } from '../domain/rights/api-keys.ts';
import { authorize } from '../domain/rights/rights.ts';
import { bucketRoute } from './authorization.ts';
import { jsonBody, sizeField, textField, timeField } from './json-body.ts';
import type { HttpResponse } from './message.ts';
import { parseCount, readQuery } from './query.ts';
import { noContent, privateJson } from './respond.ts';
import { type Answer, type Exchange, headOf, type Route, upgrade } from './router.ts';

/** Returns the path of a file that a sender without knowledge of paths names. */
export function linkedPath({ bounds, prefix }: ApiKey, name: string): string {
  return bounds?.isPath === true ? prefix : `${prefix}${name}`;
}

function postUploadLink(exchange: Exchange): Answer {
  const { stores, call, request, phase } = exchange;
  const route = bucketRoute(exchange);
  authorize(stores, call, { ...route, permission: 'upload', place: 'later' });
  const body = jsonBody(request);
  const order = {
    ...route,
    path: textField(body, 'path'),
    prefix: textField(body, 'prefix'),
    expiresAtNs: timeField(body, 'expiresAt'),
    maxFileBytes: sizeField(body, 'maxFileBytes'),
    maxFiles: sizeField(body, 'maxFiles'),
  };
  if (phase === 'query') {
    checkUploadLinkRequest(stores, call, order);
    return upgrade;
  }
  const { key, secret } = createUploadLink(stores, call, order);
  return privateJson(201, { ...linkView(key), ...uploadUrls(key, secret) });
}

function linkView({ id, prefix, createdAtNs, expiresAtNs, bounds }: ApiKey) {
  const { isPath = false, fileBytesMax = 0, filesMax = 0, fileCount = 0 } = bounds ?? {};
  return {
    id,
    ...(isPath ? { path: prefix } : { prefix }),
    createdAt: isoTime(createdAtNs),
    expiresAt: isoTime(expiresAtNs),
    maxFileBytes: fileBytesMax || undefined,
    maxFiles: filesMax || undefined,
    fileCount: filesMax === 0 ? undefined : fileCount,
  };
}

function getUploadLinks(exchange: Exchange): HttpResponse {
  const { stores, call, request } = exchange;
  const route = bucketRoute(exchange);
  const { limit, cursor } = readQuery(request, ['cursor', 'limit']);
  const list = { ...route, cursor, limit: parseCount(limit) };
  const { items, nextCursor } = listUploadLinks(stores, call, list);
  const shown = items.map((link) => {
    const parent = link.bounds?.parent;
    return { ...linkView(link), keyId: parent?.length ? keyId(parent) : undefined };
  });
  return privateJson(200, { items: shown, nextCursor });
}

function deleteUploadLinkRecord(exchange: Exchange): Answer {
  const { stores, call, captures, phase } = exchange;
  const [, id = ''] = captures;
  const name = { ...bucketRoute(exchange), id };
  if (phase === 'query') {
    checkUploadLinkDeletion(stores, call, name);
    return upgrade;
  }
  deleteUploadLink(stores, call, name);
  return noContent;
}

export const uploadLinkRoutes: readonly Route[] = [
  {
    pattern: /^\/api\/v1\/bucket\/([^/]*)\/upload-links$/y,
    handlers: { GET: getUploadLinks, HEAD: headOf(getUploadLinks), POST: postUploadLink },
  },
  {
    pattern: /^\/api\/v1\/bucket\/([^/]*)\/upload-links\/([^/]*)$/y,
    handlers: { DELETE: deleteUploadLinkRecord },
  },
];
