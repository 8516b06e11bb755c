// Links of a bucket: `/api/v1/bucket/{bucket}/links`, `…/links/{id}`.

import { isoTime } from '../domain/files/file-view.ts';
import { downloadsOf } from '../domain/files/link-downloads.ts';
import type { Link } from '../domain/files/link-layout.ts';
import {
  checkLinkDeletion,
  checkLinkRequest,
  createLink,
  deleteLink,
  listLinks,
} from '../domain/files/links.ts';
import { keyId } from '../domain/rights/api-keys.ts';
import { authorize } from '../domain/rights/rights.ts';
import { Refusal } from '../domain/shared/refusal.ts';
import { linkPageOf } from '../domain/shared/role-record.ts';
import { bucketRoute } from './authorization.ts';
import { hexField, jsonBody, sizeField, textField, timeField } from './json-body.ts';
import type { HttpResponse } from './message.ts';
import { parseCount, readQuery } from './query.ts';
import { noContent, privateJson } from './respond.ts';
import { type Answer, type Exchange, headOf, type Route, upgrade } from './router.ts';

/** Returns undefined for a link without an expiry. */
function expiryOf({ expiresAtNs }: Link): string | undefined {
  return expiresAtNs === 0n ? undefined : isoTime(expiresAtNs);
}

/** Returns undefined for limits that the link does not have. */
function boundsOf({ sealedSecret, limit, title }: Link) {
  return { hasPassword: sealedSecret && true, maxDownloads: limit?.downloadsMax, title };
}

function postLink(exchange: Exchange): Answer {
  const { stores, call, request, phase } = exchange;
  const route = bucketRoute(exchange);
  authorize(stores, call, { ...route, permission: 'read', place: 'later' });
  const body = jsonBody(request);
  const path = textField(body, 'path');
  if (path === undefined) {
    throw new Refusal(
      'InvalidArgument',
      'The body lacks "path": send {"path": "…"}, optionally with "expiresAt" and "downloadName".',
    );
  }
  const expiresAtNs = timeField(body, 'expiresAt');
  const downloadName = textField(body, 'downloadName');
  const passwordProof = hexField(body, 'passwordProof');
  const maxDownloads = sizeField(body, 'maxDownloads');
  const bounds = { passwordProof, maxDownloads, title: textField(body, 'title') };
  const order = { ...route, path, expiresAtNs, downloadName, ...bounds };
  if (phase === 'query') {
    checkLinkRequest(stores, call, order);
    return upgrade;
  }
  const { link, url } = createLink(stores, call, order);
  const linkPage = linkPageOf(stores);
  const made = { id: link.id, url, expiresAt: expiryOf(link), linkPage };
  return privateJson(201, { ...made, ...boundsOf(link) });
}

function getLinks(exchange: Exchange): HttpResponse {
  const { stores, call, request } = exchange;
  const route = bucketRoute(exchange);
  const { limit, ...query } = readQuery(request, ['path', 'cursor', 'limit']);
  const list = { ...route, ...query, limit: parseCount(limit) };
  const { items, nextCursor, areMakersShown } = listLinks(stores, call, list);
  const shown = items.map((link) => {
    const { id, path, name, createdAtNs, keyHash, limit } = link;
    const shownKey = areMakersShown && keyHash.length > 0 ? keyId(keyHash) : undefined;
    const times = { createdAt: isoTime(createdAtNs), expiresAt: expiryOf(link) };
    const downloadCount = limit && downloadsOf(limit);
    return { id, path, name, ...times, keyId: shownKey, ...boundsOf(link), downloadCount };
  });
  return privateJson(200, { items: shown, nextCursor });
}

function deleteLinkRecord(exchange: Exchange): Answer {
  const { stores, call, captures, phase } = exchange;
  const [, id = ''] = captures;
  const name = { ...bucketRoute(exchange), id };
  if (phase === 'query') {
    checkLinkDeletion(stores, call, name);
    return upgrade;
  }
  deleteLink(stores, call, name);
  return noContent;
}

export const linkRoutes: readonly Route[] = [
  {
    pattern: /^\/api\/v1\/bucket\/([^/]*)\/links$/y,
    handlers: { GET: getLinks, HEAD: headOf(getLinks), POST: postLink },
  },
  {
    pattern: /^\/api\/v1\/bucket\/([^/]*)\/links\/([^/]*)$/y,
    handlers: { DELETE: deleteLinkRecord },
  },
];
