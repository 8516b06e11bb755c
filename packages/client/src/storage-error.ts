// The one error class of the client: refusals of the service with their code, and failures on the
// way to it with codes of the client's own. Each error says whether a retry may succeed.

import { errorStatuses } from '../../wire/src/error-status.ts';

/** The actor's results have a code but no HTTP status. */
const statusByCode: Readonly<Record<string, number>> = errorStatuses;

const passingStatuses: ReadonlySet<number> = new Set([408, 425, 429, 500, 502, 503, 504]);

export interface StorageErrorDetails {
  /** Absent if the service did not answer. */
  readonly status?: number | undefined;
  readonly requestId?: string | undefined;
  readonly details?: Readonly<Record<string, unknown>> | undefined;
  readonly retryAfterSeconds?: number | undefined;
  readonly isRetryable?: boolean | undefined;
  readonly cause?: unknown;
}

/**
 * A failed operation. `code` is one of the service's codes, one of network-errors.ts (Frozen,
 * Stopped, NoSuchCanister and others), or one of the client's own: NetworkError, Timeout, Aborted,
 * HttpError (the response is not the service's), Rejected (by the network), Untrusted (a signature
 * or a bucket's recipients are not as expected), Unsupported (by this transport or the service's
 * version), NoIdentity and NoRecipient (for end-to-end files), IntegrityError (the bytes do not
 * match the digest, or the journal does not match its certified end), PassphraseNeeded and
 * WrongPassphrase (for an encrypted identity).
 */
export class StorageError extends Error {
  override readonly name = 'StorageError';
  readonly code: string;
  readonly status: number | undefined;
  readonly requestId: string | undefined;
  readonly details: Readonly<Record<string, unknown>> | undefined;
  readonly retryAfterSeconds: number | undefined;
  /** The same operation may succeed later. */
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

/**
 * Returns whether `error` is a StorageError, with one of these codes if any is given.
 *
 * @example
 * ```ts
 * import { isStorageError } from '@encrypted-file-storage/client';
 *
 * try {
 *   await storage.stat({ bucket: 'demo', path: 'missing.txt' });
 * } catch (error) {
 *   if (!isStorageError(error, 'NoSuchFile', 'NoSuchBucket')) throw error;
 * }
 * ```
 */
export function isStorageError(
  error: unknown,
  code?: string,
  ...otherCodes: readonly string[]
): error is StorageError {
  return (
    error instanceof StorageError &&
    (code === undefined || [code, ...otherCodes].includes(error.code))
  );
}

/** The error of one file of a batch, as the JSON interface returns it. */
export interface ErrorView {
  readonly code: string;
  readonly message: string;
}

const noView: ErrorView = {
  code: 'HttpError',
  message: 'The response lacks a part of the result.',
};

export function errorOfView({ code, message }: ErrorView = noView): StorageError {
  return new StorageError(code, message);
}

/** Returns a refusal by the actor, which has no Retry-After: its sentence names the seconds. */
export function actorRefusal(
  code: string,
  message: string,
  details: StorageErrorDetails = {},
): StorageError {
  const wait = /try again in (\d{1,9}) seconds/.exec(message);
  const retryAfterSeconds = Number(wait?.[1]) || undefined;
  return new StorageError(code, message, { ...details, retryAfterSeconds });
}

/** Returns the error of an operation that the caller's signal ended. */
export function abortedError(cause: unknown): StorageError {
  return new StorageError('Aborted', 'The transfer was stopped by its caller.', { cause });
}

/** Returns the error of a download whose file was replaced before its end. */
export function replacedError(): StorageError {
  return new StorageError('PreconditionFailed', 'The file was replaced while it was read.');
}
