// Sends one request and reads its whole response, with a time limit that restarts with each byte
// that moves: a slow line may take its time, a dead one fails.
//
// Response bytes are counted as they arrive. Request bytes are counted by a BodySender, since fetch
// does not report them. The platform buffers some of the sent bytes, so the limit includes the time
// that a slow line needs for the buffer.

import { joinPieces, piecesOf } from '../bytes/byte-stream.ts';
import { StorageError } from '../storage-error.ts';
import { linkedController } from './linked-controller.ts';
import type { Signal } from './transport.ts';

export type Fetch = typeof globalThis.fetch;

/** Sends a request with a body and reports how many of its bytes have been sent. */
export type BodySender = (
  url: string | URL,
  init: RequestInit & { readonly body: Uint8Array | Blob },
  onSent: (bytes: number) => void,
) => Promise<Response>;

export interface WatchedConnection {
  readonly fetch: Fetch;
  /** Without a sender, a request's bytes count as sent when its response begins. */
  readonly sendBody?: BodySender | undefined;
  /** The longest time during which no byte moves. */
  readonly timeoutMs: number;
}

export interface WatchedInit extends RequestInit {
  /** Receives the number of the body's bytes that have been sent. */
  readonly onSent?: ((bytes: number) => void) | undefined;
  /** Receives the number of the response's bytes that have arrived. */
  readonly onReceived?: ((bytes: number) => void) | undefined;
  /** Called before the response's body is read; the body is not read if this throws. */
  readonly onHead?: ((response: Response) => void) | undefined;
}

export interface WholeResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Uint8Array;
}

const slowLineBytesPerMs = 16;
/** The platform may still buffer this many of the bytes that a sender has counted as sent. */
const bufferedBytesMax = 262_144;
/** Shorter bodies are sent without a BodySender. */
const countedBytesMin = 32_768;

/** Throws the errors of `fetch`, and Timeout if no byte moves. */
export function fetchWhole(
  connection: WatchedConnection,
  url: string | URL,
  { onSent, onReceived, onHead, signal, ...init }: WatchedInit,
): Promise<WholeResponse> {
  return untilStalled(signal ?? undefined, connection.timeoutMs, async (stall) => {
    const sent = (bytes: number) => {
      stall.moved(Math.min(bytes, bufferedBytesMax) / slowLineBytesPerMs);
      onSent?.(bytes);
    };
    const { body } = init;
    const watched = { ...init, signal: stall.signal };
    const bodyBytes = lengthOf(body);
    let response: Response;
    if (connection.sendBody && bodyBytes >= countedBytesMin && typeof body !== 'string') {
      const bytes = body as Uint8Array<ArrayBuffer> | Blob;
      response = await connection.sendBody(url, { ...watched, body: bytes }, sent);
    } else {
      stall.moved(bodyBytes / slowLineBytesPerMs);
      response = await connection.fetch(url, watched);
    }
    stall.moved();
    onSent?.(bodyBytes);
    onHead?.(response);
    const bytes = await readWhole(response, (received) => {
      stall.moved();
      onReceived?.(received);
    });
    return { status: response.status, headers: response.headers, bytes };
  });
}

/** Checks for `size` instead of the class, since not every platform has Blob. */
function lengthOf(body: WatchedInit['body']): number {
  if (typeof body === 'string' || body instanceof Uint8Array) return body.length;
  return (body as { readonly size?: number } | null | undefined)?.size ?? 0;
}

async function readWhole(
  response: Response,
  onReceived: (bytes: number) => void,
): Promise<Uint8Array> {
  // Not every platform supports streaming responses.
  if (!response.body) return new Uint8Array(await response.arrayBuffer());
  const pieces: Uint8Array[] = [];
  let received = 0;
  for await (const piece of piecesOf(response.body)) {
    pieces.push(piece);
    received += piece.length;
    onReceived(received);
  }
  return joinPieces(pieces);
}

interface Stall {
  readonly signal: AbortSignal;
  /** Restarts the limit; the next byte may take `allowanceMs` longer. */
  moved(allowanceMs?: number): void;
}

/** Aborts the operation by the caller's signal, or when no byte has moved for `timeoutMs`. */
async function untilStalled<T>(
  signal: Signal,
  timeoutMs: number,
  operation: (stall: Stall) => Promise<T>,
): Promise<T> {
  const { controller, release } = linkedController(signal);
  let dueMs = performance.now() + timeoutMs;
  let timer = setTimeout(check, timeoutMs);
  let isStalled = false;
  function check(): void {
    const leftMs = dueMs - performance.now();
    if (leftMs > 0) {
      timer = setTimeout(check, leftMs);
      return;
    }
    isStalled = true;
    controller.abort();
  }
  try {
    return await operation({
      signal: controller.signal,
      moved: (allowanceMs = 0) => {
        dueMs = performance.now() + timeoutMs + allowanceMs;
      },
    });
  } catch (error) {
    throw isStalled && !signal?.aborted ? timeoutError(timeoutMs) : error;
  } finally {
    clearTimeout(timer);
    release();
  }
}

function timeoutError(timeoutMs: number): StorageError {
  return new StorageError(
    'Timeout',
    `No byte of the request or its response moved for ${timeoutMs} ms.`,
    { isRetryable: true },
  );
}
