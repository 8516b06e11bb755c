// Converts errors of the client library to S3's.

import { outOfUseCodes } from '../../client/src/connection/network-errors.ts';
import { isStorageError, type StorageError } from '../../client/src/storage-error.ts';
import { type S3Code, S3Error } from './s3-error.ts';

const codes: Readonly<Record<string, S3Code>> = {
  Unauthorized: 'AccessDenied',
  InvalidApiKey: 'AccessDenied',
  AccessDenied: 'AccessDenied',
  NoIdentity: 'AccessDenied',
  NoRecipient: 'AccessDenied',
  NoSuchBucket: 'NoSuchBucket',
  NoSuchFile: 'NoSuchKey',
  NoSuchUpload: 'NoSuchUpload',
  UploadExpired: 'NoSuchUpload',
  UploadCancelled: 'NoSuchUpload',
  InvalidPath: 'InvalidArgument',
  InvalidBucketId: 'InvalidBucketName',
  InvalidArgument: 'InvalidArgument',
  InvalidContentType: 'InvalidArgument',
  MissingContentType: 'InvalidArgument',
  BadDigest: 'BadDigest',
  NotEncrypted: 'OperationAborted',
  NotStored: 'SlowDown',
  BucketExists: 'BucketAlreadyExists',
  BucketNotEmpty: 'BucketNotEmpty',
  PreconditionFailed: 'PreconditionFailed',
  EntityTooLarge: 'EntityTooLarge',
  InvalidRange: 'InvalidRange',
  QuotaExceeded: 'QuotaExceeded',
  SlowDown: 'SlowDown',
  ServiceUnavailable: 'SlowDown',
  NetworkError: 'SlowDown',
  Timeout: 'SlowDown',
  Rejected: 'SlowDown',
  Unsupported: 'NotImplemented',
};

/** Returns the S3 error; an unforeseen error becomes the cause of an InternalError. */
export function s3ErrorOf(error: unknown): S3Error {
  if (error instanceof S3Error) return error;
  const cause = { cause: error };
  if (!isStorageError(error))
    return new S3Error('InternalError', 'The S3 server has failed.', cause);
  if (outOfUseCodes.has(error.code)) return new S3Error('ServiceUnavailable', error.message, cause);
  if (error.code === 'FileHeld') return new S3Error('AccessDenied', wordsOfHeld(error), cause);
  const known = Object.hasOwn(codes, error.code) ? codes[error.code] : undefined;
  if (known === 'SlowDown' || error.isRetryable) {
    const { volume } = error.details ?? {};
    const what = volume === undefined ? 'The service' : `The volume ${volume}`;
    const words = `${what} is unavailable (${error.code}): try again.`;
    return new S3Error('SlowDown', words, cause);
  }
  return new S3Error(known ?? 'InternalError', error.message, cause);
}

/** Names the remedies of the service's message as S3 does. */
function wordsOfHeld({ message }: StorageError): string {
  return (
    `Access Denied because object protected by object lock. ${message} In S3, bypassGovernance is ` +
    'x-amz-bypass-governance-retention: true, and PutObjectLegalHold sets and removes holds.'
  );
}
