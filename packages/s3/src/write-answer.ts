// Writes an answer as HTTP.

import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Answer } from './answer.ts';
import { exposeHeaders } from './cors.ts';
import type { S3Error } from './s3-error.ts';
import type { Place } from './workers.ts';
import { writeXml } from './xml/write.ts';

/** Maximum time during which a client may read nothing. */
const drainMsMax = 60_000;

/**
 * Resolves when everything is written; after a failure, the client gets an incomplete answer. The
 * request yields its `place` to others while it waits for its client.
 */
export async function writeAnswer(
  response: ServerResponse,
  answer: Answer,
  place?: Place,
): Promise<void> {
  const { body = '' } = answer;
  const isHead = response.req.method === 'HEAD';
  if (typeof body === 'string' || isHead) {
    writeHead(response, answer);
    response.end(isHead ? undefined : body);
    return;
  }
  const isDrained = () => drained(response);
  const drain = place === undefined ? isDrained : () => place.waitOutside(isDrained());
  await writePieces(response, { ...answer, pieces: body[Symbol.asyncIterator](), drain });
}

function writeHead(response: ServerResponse, { status, headers = {}, body = '' }: Answer): void {
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) response.setHeader(name, value);
  }
  if (typeof body === 'string' && !response.hasHeader('Content-Length') && status !== 204) {
    response.setHeader('Content-Length', Buffer.byteLength(body));
  }
  exposeHeaders(response);
  response.writeHead(status);
}

interface StreamedAnswer extends Answer {
  readonly pieces: AsyncIterator<Uint8Array>;
  /** Resolves when the client has read the written bytes. */
  readonly drain: () => Promise<void>;
}

/**
 * Holds back the last bytes until the source has ended without an error, so that a body whose
 * verification fails at its end is shorter than its Content-Length.
 */
async function writePieces(
  response: ServerResponse,
  { pieces, drain, ...answer }: StreamedAnswer,
): Promise<void> {
  let kept: Uint8Array = new Uint8Array(0);
  // Sends no header before the first bytes, so that an earlier failure is answered with an error.
  const write = (bytes: Uint8Array): boolean => {
    if (bytes.length === 0) return true;
    if (!response.headersSent) writeHead(response, answer);
    return response.write(bytes);
  };
  // Keeps no chunk while it waits for another, because each answer would keep megabytes.
  const take = ({ done, value }: IteratorResult<Uint8Array>): 'over' | 'full' | 'taken' => {
    if (done) return 'over';
    const end = Math.max(0, value.length - keptBytes);
    write(kept);
    // A copy, because the chunk has megabytes.
    kept = value.slice(end);
    return write(value.subarray(0, end)) ? 'taken' : 'full';
  };
  try {
    for (;;) {
      const end = await pieces.next().then(take);
      if (end === 'over') break;
      if (end === 'full') await drain();
    }
    write(kept);
    if (!response.headersSent) writeHead(response, answer);
    response.end();
  } catch (error) {
    if (response.headersSent) response.destroy();
    // The error that ended the source is already known.
    await pieces.return?.().catch(() => {});
    throw error;
  }
}

const keptBytes = 1_024;

async function drained(response: ServerResponse): Promise<void> {
  // A client that disconnected during the wait causes no further event.
  if (response.destroyed) throw new Error('The client has closed the connection.');
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
