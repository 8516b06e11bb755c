// Describes a failure in a sentence that says what to do. The service's own words say what was
// wrong; this file adds what the user can do in the console.

import { isStorageError } from '../../packages/client/src/storage-error.ts';

const advice: Readonly<Record<string, string>> = {
  NetworkError: 'The service cannot be reached. Check the connection, then try again.',
  Timeout: 'The service has not answered in time. Try again in a moment.',
  Unauthorized: 'This needs a key. Sign in again.',
  InvalidApiKey:
    'The key is unknown, has expired, or was revoked. Ask an owner of the bucket for another one.',
  NoSuchBucket:
    'The bucket does not exist, or you have no right to it. An owner can make you a member.',
  NoSuchFile: 'The file no longer exists: somebody moved or deleted it.',
  PreconditionFailed: 'The file has changed meanwhile. Check it before you continue.',
  QuotaExceeded: 'The bucket is full. Delete files, or ask an owner for a larger quota.',
  UploadExpired: 'The upload was idle for too long and has expired. Start it again.',
  IntegrityError: 'The received bytes differ from the stored ones. Try again.',
  HttpError: 'The answer did not come from the service. Try again in a moment.',
  ExpiredIdentity: 'The sign-in has expired. Sign in again.',
  BucketExists: 'A bucket with this name already exists. Choose another name.',
  BucketNotEmpty: 'The bucket has files. Delete them first.',
};

export function sentenceOf(error: unknown): string {
  if (isStorageError(error)) {
    const known = advice[error.code];
    if (known !== undefined) return known;
    return /[.!?]$/.test(error.message) ? error.message : `${error.message}.`;
  }
  return error instanceof Error ? error.message : String(error);
}

/** True if the network or the service failed, so that the same request can succeed later. */
export function isPassing(error: unknown): boolean {
  return isStorageError(error) && (error.isRetryable || error.code === 'NetworkError');
}

/** True if the user stopped the operation or chose no file. */
export function isAborted(error: unknown): boolean {
  const isUnchosen = error instanceof DOMException && error.name === 'AbortError';
  return isUnchosen || isStorageError(error, 'Aborted');
}
