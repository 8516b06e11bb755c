// One request and its response, read whole, with a time limit that counts from the last byte that
// moved: a slow line is no reason to give up, a dead one is.
//
// Bytes of a response are counted as they arrive. Bytes of a request are counted by a BodySender,
// since fetch does not report them. The platform buffers some of what it has taken, so the limit
// allows for the time that a slow line needs for it.

import { joinPieces, piecesOf } from '../bytes/byte-stream.ts';
import { StorageError } from '../storage-error.ts';
import { linkedController } from './linked-controller.ts';
import type { Signal } from './transport.ts';

export type Fetch = typeof globalThis.fetch;

/** Sends a request with a body, and reports how many of its bytes have been sent, as they are. */
export type BodySender = (
  url: string | URL,
  init: RequestInit & { readonly body: Uint8Array | Blob },
  onSent: (bytes: number) => void,
) => Promise<Response>;

export interface WatchedConnection {
  readonly fetch: Fetch;
  /** Without one, a request's bytes count as sent when its response begins. */
  readonly sendBody?: BodySender | undefined;
  /** Without a byte that moves. */
  readonly timeoutMs: number;
}

export interface WatchedInit extends RequestInit {
  /** Receives the number of the body's bytes that have been sent. */
  readonly onSent?: ((bytes: number) => void) | undefined;
  /** Receives the number of the response's bytes that have arrived. */
  readonly onReceived?: ((bytes: number) => void) | undefined;
  /** Called before the response's body is read; it is not read when this throws. */
  readonly onHead?: ((response: Response) => void) | undefined;
}

export interface WholeResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Uint8Array;
}

const slowLineBytesPerMs = 16;
/** The platform may still buffer so many of the bytes that a sender has counted as sent. */
const bufferedBytesMax = 262_144;
/** Shorter bodies are sent at once. */
const countedBytesMin = 32_768;

/** Throws as `fetch` does, and a Timeout. */
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

/** Not every platform has Blob, so a body is asked for its size and not for its class. */
function lengthOf(body: WatchedInit['body']): number {
  if (typeof body === 'string' || body instanceof Uint8Array) return body.length;
  return (body as { readonly size?: number } | null | undefined)?.size ?? 0;
}

async function readWhole(
  response: Response,
  onReceived: (bytes: number) => void,
): Promise<Uint8Array> {
  // Not every platform has streams of responses.
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
  /** Bytes have moved; the next ones may take so much longer. */
  moved(allowanceMs?: number): void;
}

/** Ends the operation by the caller's signal, and when nothing moves for so long. */
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
    `No byte of the request or its response has moved for ${timeoutMs} ms.`,
    { isRetryable: true },
  );
}
