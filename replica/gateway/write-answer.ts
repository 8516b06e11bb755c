// Writes an answer to Node's HTTP server, part by part as fast as the client reads. An answer that
// breaks after its head was sent ends the connection, so that the client sees a short body.

import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { GatewayError } from './gateway-error.ts';
import type { HeaderField, HttpAnswer } from './http-messages.ts';
import { headerValue, withoutHeaders } from './http-messages.ts';

/** RFC 9110 §7.6.1: these speak of the connection, which is the gateway's own. */
const hopByHop: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Throws a GatewayError, with nothing sent, if HTTP can't carry the head. */
export async function writeAnswer(response: ServerResponse, answer: HttpAnswer): Promise<void> {
  const { body } = answer;
  const isHead = response.req.method === 'HEAD';
  writeHead(response, { ...answer, headers: framedHeaders(answer, isHead) });
  if (body instanceof Uint8Array || isHead) {
    response.end(isHead ? undefined : body);
    return;
  }
  try {
    for await (const part of body) {
      if (!response.write(part)) await drained(response);
      if (response.destroyed) return;
    }
    response.end();
  } catch {
    breakOff(response);
  }
}

/** What was written still goes out, but not the end that the head announced. */
function breakOff(response: ServerResponse): void {
  if (response.socket === null) response.destroy();
  else response.socket.destroySoon();
}

/** The length of a body at hand is counted here; for HEAD and 304 the canister may tell it. */
function framedHeaders(answer: HttpAnswer, isHead: boolean): readonly HeaderField[] {
  const headers = withoutHeaders(answer.headers, hopByHop);
  const isBodiless = isHead || answer.status === 304;
  const told = headerValue(headers, 'content-length');
  if (isBodiless && told !== undefined) return headers;
  if (!(answer.body instanceof Uint8Array)) return headers;
  const others = withoutHeaders(headers, new Set(['content-length']));
  if (answer.status === 204 || isBodiless) return others;
  return [...others, ['content-length', String(answer.body.length)]];
}

function writeHead(response: ServerResponse, answer: HttpAnswer): void {
  try {
    response.writeHead(answer.status, answer.headers.flat());
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new GatewayError('ResponseInvalid', `The canister's headers can't be sent: ${reason}`);
  }
}

/** Resolves when the client has read what was written, or is gone. */
async function drained(response: ServerResponse): Promise<void> {
  const abort = new AbortController();
  const { signal } = abort;
  try {
    await Promise.race([once(response, 'drain', { signal }), once(response, 'close', { signal })]);
  } finally {
    abort.abort();
  }
}
