// POST of `/api/v1/bucket/{bucket}/retention` and `…/hold`: protects a version, present or former.

import {
  checkHoldChange,
  checkRetentionChange,
  setHold,
  setRetention,
} from '../domain/files/retention-changes.ts';
import { authorize } from '../domain/rights/rights.ts';
import { Refusal } from '../domain/shared/refusal.ts';
import { bucketRoute } from './authorization.ts';
import { storedResponse } from './file-record.ts';
import {
  flagField,
  type JsonObject,
  jsonBody,
  textField,
  timeField,
  versionField,
} from './json-body.ts';
import { type Answer, type Exchange, type Route, upgrade } from './router.ts';

function postRetention(exchange: Exchange): Answer {
  const { body, ...named } = readBody(exchange);
  const change = {
    ...named,
    mode: textField(body, 'mode'),
    retainUntilNs: timeField(body, 'retainUntil'),
    bypassesGovernance: flagField(body, 'bypassGovernance'),
  };
  const { stores, call, phase } = exchange;
  if (phase === 'query') {
    checkRetentionChange(stores, call, change);
    return upgrade;
  }
  return storedResponse(setRetention(stores, call, change));
}

function postHold(exchange: Exchange): Answer {
  const { body, ...named } = readBody(exchange);
  const hasHold = flagField(body, 'hold');
  if (hasHold === undefined) {
    throw new Refusal('InvalidArgument', 'The body lacks "hold": send true or false.');
  }
  const change = { ...named, hasHold };
  const { stores, call, phase } = exchange;
  if (phase === 'query') {
    checkHoldChange(stores, call, change);
    return upgrade;
  }
  return storedResponse(setHold(stores, call, change));
}

/** Parses the body only for a key with the permission, not for strangers. */
function readBody(exchange: Exchange) {
  const { stores, call, request } = exchange;
  const route = bucketRoute(exchange);
  authorize(stores, call, { ...route, permission: 'retain', place: 'later' });
  const body: JsonObject = jsonBody(request);
  const path = textField(body, 'path');
  if (path === undefined) {
    throw new Refusal('InvalidArgument', 'The body lacks "path": send the path of a file.');
  }
  return { ...route, path, version: versionField(body), body };
}

export const retentionRoutes: readonly Route[] = [
  { pattern: /^\/api\/v1\/bucket\/([^/]*)\/retention$/y, handlers: { POST: postRetention } },
  { pattern: /^\/api\/v1\/bucket\/([^/]*)\/hold$/y, handlers: { POST: postHold } },
];
