// An answer as HTTP.

import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Answer } from './answer.ts';
import type { S3Error } from './s3-error.ts';
import { writeXml } from './xml/write.ts';

/** So long a client may take nothing of what is written. */
const drainMsMax = 60_000;

/** Resolves when all of it is written; where it fails, the client gets no whole answer. */
export async function writeAnswer(
  response: ServerResponse,
  { status, headers = {}, body = '' }: Answer,
): Promise<void> {
  const isHead = response.req.method === 'HEAD';
  // Nothing is said before the first bytes are there: until then it may fail in words.
  const pieces = typeof body === 'string' || isHead ? undefined : oneBehind(body);
  // One variable: what is written is held no longer.
  let next = await pieces?.next();
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) response.setHeader(name, value);
  }
  if (typeof body === 'string' && !response.hasHeader('Content-Length') && status !== 204) {
    response.setHeader('Content-Length', Buffer.byteLength(body));
  }
  response.writeHead(status);
  if (pieces === undefined) {
    response.end(isHead ? undefined : body);
    return;
  }
  try {
    while (next && !next.done) {
      const isTaken = response.write(next.value);
      next = undefined;
      if (!isTaken) await drained(response);
      next = await pieces.next();
    }
    response.end();
  } catch (error) {
    response.destroy();
    throw error;
  } finally {
    await pieces.return(undefined);
  }
}

/**
 * The last bytes are kept back until the source has ended well: what fails its verification in the
 * end is then short of the length that was told.
 */
async function* oneBehind(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let kept: Uint8Array = new Uint8Array(0);
  for await (const piece of body) {
    if (kept.length > 0) yield kept;
    const end = Math.max(0, piece.length - keptBytes);
    // A copy: the piece has megabytes.
    kept = piece.slice(end);
    if (end > 0) yield piece.subarray(0, end);
  }
  if (kept.length > 0) yield kept;
}

const keptBytes = 1_024;

async function drained(response: ServerResponse): Promise<void> {
  const gone = new AbortController();
  const timer = setTimeout(() => response.destroy(), drainMsMax);
  const stop = () => gone.abort();
  response.once('close', stop);
  try {
    await once(response, 'drain', { signal: gone.signal });
  } finally {
    clearTimeout(timer);
    response.off('close', stop);
  }
}

export function errorAnswer(error: S3Error, resource: string, requestId: string): Answer {
  const content = {
    Code: error.code,
    Message: error.message,
    Resource: resource,
    RequestId: requestId,
  };
  const isAway = error.status === 503;
  return {
    status: error.status,
    headers: { 'Content-Type': 'application/xml', 'Retry-After': isAway ? '2' : undefined },
    body: writeXml('Error', content),
  };
}
