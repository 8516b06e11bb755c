// POST of `/api/v1/bucket/{bucket}/copy` and `…/move`, for a file or all files with a prefix.

import { type CopyRequest, checkCopy, copyFile, moveFile } from '../domain/files/copies.ts';
import {
  checkPrefixMove,
  checkPrefixMoveRights,
  moveFiles,
  type PrefixMove,
} from '../domain/files/prefix-moves.ts';
import { authorize } from '../domain/rights/rights.ts';
import { withoutSlash } from '../domain/shared/names.ts';
import { Refusal } from '../domain/shared/refusal.ts';
import { type BucketRoute, bucketRoute } from './authorization.ts';
import { storedResponse } from './file-record.ts';
import {
  conditionFields,
  flagField,
  type JsonObject,
  jsonBody,
  notesField,
  objectField,
  textField,
  versionField,
} from './json-body.ts';
import { privateJson } from './respond.ts';
import { type Answer, type Exchange, type Route, upgrade } from './router.ts';

function postCopy(exchange: Exchange): Answer {
  const { body, ...named } = readBody(exchange);
  return answerOne(exchange, 'copy', copyRequest(exchange, named, body));
}

function postMove(exchange: Exchange): Answer {
  const { body, ...named } = readBody(exchange);
  const fromPrefix = textField(body, 'fromPrefix');
  const toPrefix = textField(body, 'toPrefix');
  if (fromPrefix === undefined && toPrefix === undefined) {
    return answerOne(exchange, 'move', copyRequest(exchange, named, body));
  }
  if (fromPrefix === undefined || toPrefix === undefined || Object.hasOwn(body, 'from')) {
    throw new Refusal(
      'InvalidArgument',
      'Send from and to for one file, or fromPrefix and toPrefix for all files below a prefix.',
    );
  }
  // A leading slash is optional in prefixes, as in paths
  const prefixes = { fromPrefix: withoutSlash(fromPrefix), toPrefix: withoutSlash(toPrefix) };
  return answerPrefix(exchange, {
    ...named,
    ...prefixes,
    cursor: textField(body, 'cursor'),
    bypassesGovernance: flagField(body, 'bypassGovernance'),
  });
}

/** Parses the body only for a key that may read the bucket, not for strangers. */
function readBody(exchange: Exchange) {
  const route = bucketRoute(exchange);
  authorize(exchange.stores, exchange.call, { ...route, permission: 'read', place: 'later' });
  return { ...route, body: jsonBody(exchange.request) };
}

function copyRequest({ request }: Exchange, named: BucketRoute, body: JsonObject): CopyRequest {
  const from = textField(body, 'from');
  const to = objectField(body, 'to');
  const path = to && textField(to, 'path');
  if (from === undefined || to === undefined || path === undefined) {
    throw new Refusal(
      'InvalidArgument',
      'Send {"from": "path", "to": {"path": "new path"}}, with "bucket" in "to" for another bucket.',
    );
  }
  return {
    ...named,
    ...notesField(body),
    from,
    to: { bucket: textField(to, 'bucket'), path },
    version: versionField(body),
    ifSourceMatch: textField(body, 'ifSourceMatch'),
    conditions: conditionFields(request, body),
    bypassesGovernance: flagField(body, 'bypassGovernance'),
  };
}

function answerOne(exchange: Exchange, kind: 'copy' | 'move', request: CopyRequest): Answer {
  const { stores, call, phase } = exchange;
  if (phase === 'query') {
    checkCopy(stores, call, kind, request);
    return upgrade;
  }
  const change = kind === 'copy' ? copyFile : moveFile;
  return storedResponse(change(stores, call, request));
}

function answerPrefix(exchange: Exchange, request: PrefixMove): Answer {
  const { stores, call, phase } = exchange;
  if (exchange.isInspected) {
    checkPrefixMoveRights(stores, call, request);
    return upgrade;
  }
  if (phase === 'query') {
    checkPrefixMove(stores, call, request);
    return upgrade;
  }
  const { moved, isDone, nextCursor = null, failed } = moveFiles(stores, call, request);
  const shown = failed.map(({ path, error: { code, message } }) => {
    return { path, error: { code, message } };
  });
  return privateJson(200, { moved, isDone, nextCursor, failed: shown });
}

export const copyRoutes: readonly Route[] = [
  { pattern: /^\/api\/v1\/bucket\/([^/]*)\/copy$/y, handlers: { POST: postCopy } },
  { pattern: /^\/api\/v1\/bucket\/([^/]*)\/move$/y, handlers: { POST: postMove } },
];
