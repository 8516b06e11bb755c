// POST of `/api/v1/bucket/{bucket}/switch`: moves files to their places and deletes others at once.

import { deletedFileCountMax, deletionBytesMax } from '../../packages/wire/src/limits.ts';
import { checkSwitch, checkSwitchRights, switchFiles } from '../domain/files/file-switch.ts';
import { authorize } from '../domain/rights/rights.ts';
import { withoutSlash } from '../domain/shared/names.ts';
import { Refusal } from '../domain/shared/refusal.ts';
import { bucketRoute } from './authorization.ts';
import { jsonBody, textField, textListField } from './json-body.ts';
import { privateJson } from './respond.ts';
import { type Answer, type Exchange, type Route, upgrade } from './router.ts';

const bounds = { bytesMax: deletionBytesMax, itemsMax: deletedFileCountMax + 32 };

/** Parses the body only for a key that may read the bucket, not for strangers. */
function postSwitch(exchange: Exchange): Answer {
  const { stores, call, request: message } = exchange;
  const route = bucketRoute(exchange);
  authorize(stores, call, { ...route, permission: 'read', place: 'later' });
  const body = jsonBody(message, bounds);
  const fromPrefix = textField(body, 'fromPrefix');
  const toPrefix = textField(body, 'toPrefix');
  if (fromPrefix === undefined || toPrefix === undefined) {
    throw new Refusal(
      'InvalidArgument',
      'Send fromPrefix and toPrefix, and as "deletes" the paths to delete.',
    );
  }
  const request = {
    ...route,
    fromPrefix: withoutSlash(fromPrefix),
    toPrefix: withoutSlash(toPrefix),
    ifResult: textField(body, 'ifResult'),
    readDeletes: () => textListField(body, 'deletes', deletedFileCountMax) ?? [],
  };
  if (exchange.isInspected) {
    checkSwitchRights(stores, call, request);
    return upgrade;
  }
  if (exchange.phase === 'query') {
    checkSwitch(stores, call, request);
    return upgrade;
  }
  return privateJson(200, switchFiles(stores, call, request));
}

export const switchRoutes: readonly Route[] = [
  { pattern: /^\/api\/v1\/bucket\/([^/]*)\/switch$/y, handlers: { POST: postSwitch } },
];
