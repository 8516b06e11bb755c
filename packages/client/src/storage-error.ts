// Every failure of the client: the service's refusals with their code, and what happens on the way
// to it under codes of the client's own. Knows which ones may pass when tried again.

import { errorStatuses } from '../../wire/src/error-status.ts';

/** Actor answers leave the status out. */
const statusByCode: Readonly<Record<string, number>> = errorStatuses;

const passingStatuses: ReadonlySet<number> = new Set([408, 425, 429, 500, 502, 503, 504]);

export interface StorageErrorDetails {
  /** Absent when the service has not answered. */
  readonly status?: number | undefined;
  readonly requestId?: string | undefined;
  readonly details?: Readonly<Record<string, unknown>> | undefined;
  readonly retryAfterSeconds?: number | undefined;
  readonly isRetryable?: boolean | undefined;
  readonly cause?: unknown;
}

/**
 * `code` is one of the service's, one of network-errors.ts (Frozen, Stopped, NoSuchCanister and
 * others), or the client's own: NetworkError, Timeout, Aborted, HttpError (an answer that is not
 * the service's), Rejected (by the network), Untrusted (an answer whose signature is wrong),
 * Unsupported (not over this way of transport), IntegrityError (the bytes are not those of the
 * digest), PassphraseNeeded and WrongPassphrase (of an encrypted identity).
 */
export class StorageError extends Error {
  override readonly name = 'StorageError';
  readonly code: string;
  readonly status: number | undefined;
  readonly requestId: string | undefined;
  readonly details: Readonly<Record<string, unknown>> | undefined;
  readonly retryAfterSeconds: number | undefined;
  /** It may pass when the same is tried again. */
  readonly isRetryable: boolean;

  constructor(code: string, message: string, details: StorageErrorDetails = {}) {
    super(message, details.cause === undefined ? {} : { cause: details.cause });
    this.code = code;
    this.status = details.status ?? statusByCode[code];
    this.requestId = details.requestId;
    this.details = details.details;
    this.retryAfterSeconds = details.retryAfterSeconds;
    const mayPass = code !== 'IntegrityError' && passingStatuses.has(this.status ?? 0);
    this.isRetryable = details.isRetryable ?? mayPass;
  }
}

export function isStorageError(error: unknown, code?: string): error is StorageError {
  return error instanceof StorageError && (code === undefined || error.code === code);
}

/** An error of one of several files, as the JSON interface shows it. */
export interface ErrorView {
  readonly code: string;
  readonly message: string;
}

const noView: ErrorView = { code: 'HttpError', message: 'The answer tells less than was asked.' };

export function errorOfView({ code, message }: ErrorView = noView): StorageError {
  return new StorageError(code, message);
}

/** What a caller's signal has ended. */
export function abortedError(cause: unknown): StorageError {
  return new StorageError('Aborted', 'The transfer was stopped by its caller.', { cause });
}
