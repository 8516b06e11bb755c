// Describes a failure in a sentence that says what to do. The service's own words say what was
// wrong; this file adds what the user can do in the console.

import { isStorageError } from '../../packages/client/src/storage-error.ts';

const advice: Readonly<Record<string, string>> = {
  NetworkError: 'The service cannot be reached. Check the connection, then try again.',
  Timeout: 'The service has not answered in time. Try again in a moment.',
  Unauthorized: 'This needs a key. Sign in again.',
  InvalidApiKey: 'The key is unknown, has expired, or was revoked. Ask its maker for another one.',
  NoSuchBucket: 'There is no such bucket, or you may not see it. An owner can make you a member.',
  NoSuchFile: 'The file is not there any more: somebody has moved or deleted it.',
  PreconditionFailed: 'Somebody has changed the file meanwhile. Look at it again first.',
  QuotaExceeded: 'The bucket is full. Delete something, or ask an owner for more room.',
  UploadExpired: 'The upload was left for too long. Begin it anew.',
  IntegrityError: 'The bytes that came are not those that were stored. Try again.',
  HttpError: 'The answer was not the service’s own. Try again in a moment.',
  ExpiredIdentity: 'The sign-in has expired. Sign in again.',
  BucketExists: 'A bucket of this name is there already. Choose another name.',
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

/** Nothing is wrong with what was asked: the network, or the service, was not there. */
export function isPassing(error: unknown): boolean {
  return isStorageError(error) && (error.isRetryable || error.code === 'NetworkError');
}

/** Its user has stopped it, or chosen no file. */
export function isAborted(error: unknown): boolean {
  const isUnchosen = error instanceof DOMException && error.name === 'AbortError';
  return isUnchosen || isStorageError(error, 'Aborted');
}
