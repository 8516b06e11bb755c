// Sends one HTTP request, reads the whole response, and turns failures into StorageErrors. It knows
// the format of the service's errors but none of its routes.

import { errorStatuses } from '../../../wire/src/error-status.ts';
import {
  isLowCycles,
  lowCyclesError,
  networkFault,
  unknownAnswer,
} from '../connection/network-errors.ts';
import { retryAfterSeconds } from '../connection/retry.ts';
import type { Line } from '../connection/transfer-window.ts';
import type { Signal } from '../connection/transport.ts';
import {
  fetchWhole,
  type WatchedConnection,
  type WholeResponse,
} from '../connection/watched-fetch.ts';
import type { OperationRequest } from '../operations/operation-request.ts';
import { abortedError, StorageError } from '../storage-error.ts';

/** A service, and the key that requests carry. */
export interface HttpPlace extends WatchedConnection {
  /** Without a final slash. */
  readonly url: string;
  readonly apiKey: string | undefined;
}

export interface HttpConnection extends HttpPlace {
  readonly line: Line;
}

export interface HttpRequest extends Omit<OperationRequest, 'isBare'> {
  readonly signal: Signal;
  /** Sends the request without the key. */
  readonly isAnonymous?: boolean;
  /** Receives the number of the response's bytes that have arrived. */
  readonly onReceived?: ((bytes: number) => void) | undefined;
}

export type HttpAnswer = WholeResponse;

/** Returns the response if its status is below 400; throws a StorageError otherwise. */
export async function exchange(connection: HttpPlace, request: HttpRequest): Promise<HttpAnswer> {
  const answer = await answerTo(connection, request);
  if (answer.status >= 400) throw refusal(connection, answer);
  return answer;
}

export async function exchangeJson<T>(connection: HttpPlace, request: HttpRequest): Promise<T> {
  return jsonOf(await exchange(connection, request)) as T;
}

export function jsonOf(answer: HttpAnswer): unknown {
  const value = parseJson(answer.bytes);
  if (value === undefined) throw unknownAnswer(answer, detailsOf(answer));
  return value;
}

/** Returns a response of any status. */
export async function answerTo(connection: HttpPlace, request: HttpRequest): Promise<HttpAnswer> {
  const { method, path, headers, body, signal, onSent, onReceived } = request;
  const apiKey = request.isAnonymous ? undefined : connection.apiKey;
  try {
    return await fetchWhole(connection, connection.url + path, {
      method,
      headers: {
        ...definedHeaders(headers),
        ...(apiKey !== undefined && authorization(apiKey, path)),
      },
      ...(body !== undefined && { body: body as BodyInit }),
      ...(signal && { signal }),
      onSent,
      onReceived,
      onHead: requireIdentity,
    });
  } catch (error) {
    if (error instanceof StorageError) throw error;
    if (signal?.aborted) throw abortedError(signal.reason);
    throw networkError(error);
  }
}

export function definedHeaders(headers: HttpRequest['headers'] = {}): Record<string, string> {
  const fields = Object.entries(headers).filter(([, value]) => value !== undefined);
  return Object.fromEntries(fields) as Record<string, string>;
}

/** Returns the headers of an API key; they name the bucket, as keys of several buckets require. */
export function authorization(apiKey: string, path: string): Record<string, string> {
  const [, bucket] = /^\/(?:api\/v1\/(?:bucket|tus)|cloud)\/([^/?]+)/.exec(path) ?? [];
  return {
    Authorization: `Bearer ${apiKey}`,
    ...(bucket !== undefined && { 'X-Bucket-Id': bucket }),
  };
}

/** `fetch` decodes a stored Content-Encoding and so hides the stored bytes. */
function requireIdentity({ headers, body }: Response): void {
  const encoding = headers.get('content-encoding');
  if (encoding === null || encoding === 'identity' || body === null) return;
  throw new StorageError(
    'Unsupported',
    `The file has Content-Encoding ${encoding}, which fetch decodes; use the actor.`,
  );
}

export function networkError(cause: unknown): StorageError {
  return new StorageError('NetworkError', `The service was not reached: ${reasonOf(cause)}`, {
    isRetryable: true,
    cause,
  });
}

/** `fetch` reports "fetch failed" and puts the reason into `cause`. */
function reasonOf(error: unknown): string {
  const { message = String(error), cause } = error as { message?: string; cause?: unknown };
  if (typeof cause !== 'object' || cause === null) return message;
  const { code, message: inner } = cause as { code?: string; message?: string };
  return `${message} (${inner || code || 'unknown'})`;
}

interface ErrorPage {
  readonly error?: {
    readonly code?: string;
    readonly message?: string;
    readonly requestId?: string;
    readonly details?: Readonly<Record<string, unknown>>;
  };
  /** The results per file, for a batch. */
  readonly items?: unknown;
}

function refusal({ url }: HttpPlace, answer: HttpAnswer): StorageError {
  const { status, headers, bytes } = answer;
  const { error, items } = (parseJson(bytes) ?? {}) as ErrorPage;
  const { code, message = `The service answered ${status}.` } = error ?? {};
  const details = detailsOf(answer);
  if (code === undefined || !Object.hasOwn(errorStatuses, code)) {
    const cause = headers.get('x-ic-error-cause');
    const text = new TextDecoder().decode(bytes);
    const fault = networkFault({ address: url, text, cause }, details);
    if (fault !== undefined) return fault;
    if (code === undefined && bytes.length > 0) return unknownAnswer(answer, details);
  } else if (isLowCycles(message)) {
    return lowCyclesError(message, { address: url }, details);
  }
  // The first two are of version 0.1.0.
  if (/^(Nothing is at "\/api|Allowed here|"\/api|The method is not allowed)/.test(message)) {
    return new StorageError(
      'Unsupported',
      `Upgrade the service; it is too old: ${message}`,
      details,
    );
  }
  // The response to a refused HEAD has no body.
  return new StorageError(code ?? (status === 404 ? 'NoSuchFile' : 'HttpError'), message, {
    ...details,
    requestId: error?.requestId ?? details.requestId,
    details: items === undefined ? error?.details : { ...error?.details, items },
  });
}

function detailsOf({ status, headers }: HttpAnswer) {
  return {
    status,
    requestId: headers.get('x-request-id') ?? undefined,
    retryAfterSeconds: retryAfterSeconds(headers),
  };
}

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return undefined;
  }
}
