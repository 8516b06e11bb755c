// The answer to everybody who asks for what is not there. It is certified once for all paths, so it
// names neither the path nor the request.

import type { HttpResponse } from './message.ts';
import { jsonResponse } from './respond.ts';

let response: HttpResponse | undefined;

export function missingResponse(): HttpResponse {
  response ??= makeResponse();
  return response;
}

function makeResponse(): HttpResponse {
  const message = 'There is nothing here: files of public buckets are at /cloud/{bucket}/{path}.';
  const { status, headers, body } = jsonResponse(404, { error: { code: 'NoSuchFile', message } });
  return { status, headers: [...headers, ['Cache-Control', 'private, no-store']], body };
}
