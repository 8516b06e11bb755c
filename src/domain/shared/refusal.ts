// A refusal: the caller asked for something that cannot be done. It is thrown before the first
// write, so a refused call changes nothing. The interfaces turn it into a status or a Candid err.

export type RefusalCode =
  | 'Unauthorized'
  | 'InvalidApiKey'
  | 'AccessDenied'
  | 'NoSuchBucket'
  | 'NoSuchFile'
  | 'NoSuchUpload'
  | 'UploadExpired'
  | 'UploadCancelled'
  | 'InvalidPath'
  | 'InvalidBucketId'
  | 'InvalidArgument'
  | 'BucketMismatch'
  | 'MissingContentType'
  | 'InvalidContentType'
  | 'InvalidChunkIndex'
  | 'ChunkSizeMismatch'
  | 'BadDigest'
  | 'OffsetMismatch'
  | 'UnsupportedMediaType'
  | 'ChecksumMismatch'
  | 'UploadIncomplete'
  | 'UploadCompleted'
  | 'BucketExists'
  | 'BucketNotEmpty'
  | 'PreconditionFailed'
  | 'FileHeld'
  | 'NotStored'
  | 'NotEncrypted'
  | 'EntityTooLarge'
  | 'UriTooLong'
  | 'InvalidRange'
  | 'SlowDown'
  | 'HeadersTooLarge'
  | 'QuotaExceeded'
  | 'MethodNotAllowed'
  | 'ServiceUnavailable'
  | 'IntegrityError';

export type RefusalDetails = Readonly<Record<string, string | number | readonly number[]>>;

export class Refusal extends Error {
  readonly code: RefusalCode;
  readonly details: RefusalDetails | undefined;

  /**
   * `message` states the fault and the remedy, and never contains a secret. A refusal is an
   * expected answer, so it has no stack, which would cost 130,000 instructions.
   */
  constructor(code: RefusalCode, message: string, details?: RefusalDetails) {
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(message);
    Error.stackTraceLimit = stackTraceLimit;
    this.code = code;
    this.details = details;
  }
}

/** Returns the whole seconds until that time, rounded up. */
export function secondsUntil(timeNs: bigint, nowNs: bigint): number {
  return Math.ceil(Number(timeNs - nowNs) / 1e9);
}

/** Returns the work's result, or the Refusal that it throws; rethrows any other error. */
export function valueOrRefusal<T>(work: () => T): T | Refusal {
  try {
    return work();
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
}

/** Returns undefined if `read` throws a Refusal, for callers that can go on without its result. */
export function unlessRefused<T>(read: () => T): T | undefined {
  const value = valueOrRefusal(read);
  return value instanceof Refusal ? undefined : value;
}
