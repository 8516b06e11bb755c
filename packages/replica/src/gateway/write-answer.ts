// Writes an answer to Node's HTTP server, as fast as the client reads. If an answer fails after its
// head was sent, or has a length other than the declared one, the connection is closed, so that
// the client detects an incomplete body.

import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { GatewayError } from './gateway-error.ts';
import type { HeaderField, HttpAnswer } from './http-messages.ts';
import { headerValue, withoutHeaders } from './http-messages.ts';

/** RFC 9110 §7.6.1: these fields belong to the connection, which is the gateway's. */
const hopByHop: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Throws a GatewayError, before sending anything, if HTTP cannot represent the head. */
export async function writeAnswer(response: ServerResponse, answer: HttpAnswer): Promise<void> {
  const { body } = answer;
  const isHead = response.req.method === 'HEAD';
  const headers = framedHeaders(answer, isHead);
  writeHead(response, { ...answer, headers });
  if (body instanceof Uint8Array || isHead) {
    response.end(isHead ? undefined : body);
    return;
  }
  try {
    await writeParts(response, body, declaredLength(headers));
  } catch {
    breakOff(response);
  }
}

/** Throws if the parts together differ from the declared length; writes nothing beyond it. */
async function writeParts(
  response: ServerResponse,
  parts: AsyncIterable<Uint8Array>,
  declared: number | undefined,
): Promise<void> {
  let length = 0;
  for await (const part of parts) {
    length += part.length;
    if (declared !== undefined && length > declared)
      throw new Error('the body is longer than its Content-Length');
    if (!response.write(part)) await drained(response);
    if (response.destroyed) return;
  }
  if (declared !== undefined && length < declared)
    throw new Error('the body is shorter than its Content-Length');
  response.end();
}

/** Returns undefined without a numeric Content-Length. */
function declaredLength(headers: readonly HeaderField[]): number | undefined {
  const declared = headerValue(headers, 'content-length') ?? '';
  return /^\d{1,15}$/.test(declared) ? Number(declared) : undefined;
}

/**
 * Sends the bytes written so far, but not the end that the head announced. Node passes what was
 * written in one turn to the socket only in the next one.
 */
function breakOff(response: ServerResponse): void {
  response.flushHeaders();
  setImmediate(() => {
    if (response.socket === null) response.destroy();
    else response.socket.destroySoon();
  });
}

/**
 * Counts the length of a complete body; for HEAD and 304 the canister may declare it. ic-gateway
 * sends a 304 without one with a length of 0.
 */
function framedHeaders(answer: HttpAnswer, isHead: boolean): readonly HeaderField[] {
  const headers = withoutHeaders(answer.headers, hopByHop);
  const isBodiless = isHead || answer.status === 304;
  const declared = headerValue(headers, 'content-length');
  if (isBodiless && declared !== undefined) return headers;
  if (!(answer.body instanceof Uint8Array) && declaredLength(headers) !== undefined) return headers;
  const others = withoutHeaders(headers, new Set(['content-length']));
  if (answer.status === 304) return [...others, ['content-length', '0']];
  if (answer.status === 204 || isHead) return others;
  if (!(answer.body instanceof Uint8Array)) return others;
  return [...others, ['content-length', String(answer.body.length)]];
}

function writeHead(response: ServerResponse, answer: HttpAnswer): void {
  // RFC 9110 §15.5.9: the rest of a late body is not awaited. On a kept connection, the next
  // request would follow that rest.
  if (answer.status === 408) response.shouldKeepAlive = false;
  try {
    response.writeHead(answer.status, answer.headers.flat());
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new GatewayError('ResponseInvalid', `The canister's headers can't be sent: ${reason}`);
  }
}

/** Resolves when the client has read the written bytes or has disconnected. */
async function drained(response: ServerResponse): Promise<void> {
  const abort = new AbortController();
  const { signal } = abort;
  try {
    await Promise.race([once(response, 'drain', { signal }), once(response, 'close', { signal })]);
  } finally {
    abort.abort();
  }
}
