// The answer for missing paths. It is certified once for all of them, so it contains neither the
// path nor the request.

import type { HttpResponse } from './message.ts';
import { privateJson } from './respond.ts';

let response: HttpResponse | undefined;

export function missingResponse(): HttpResponse {
  response ??= makeResponse();
  return response;
}

function makeResponse(): HttpResponse {
  const message = 'There is nothing here: files of public buckets are at /cloud/{bucket}/{path}.';
  return privateJson(404, { error: { code: 'NoSuchFile', message } });
}
