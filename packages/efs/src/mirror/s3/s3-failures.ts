// Errors of an S3 store in the command's words.

import { abortedError, StorageError } from '../../../../client/src/storage-error.ts';
import type { S3Place } from './s3-place.ts';

interface Refusal {
  readonly name?: string;
  readonly message?: string;
  readonly $metadata?: { readonly httpStatusCode?: number };
  /** The region that AWS names. */
  readonly Region?: string;
}

type Where = Pick<S3Place, 'bucket' | 'region' | 'endpoint'>;

const credentialCodes = new Set([
  'InvalidAccessKeyId',
  'SignatureDoesNotMatch',
  'InvalidToken',
  'ExpiredToken',
  'TokenRefreshRequired',
  'InvalidSecurity',
  'Unauthorized',
]);
const regionCodes = new Set([
  'PermanentRedirect',
  'AuthorizationHeaderMalformed',
  'IllegalLocationConstraintException',
  'InvalidRegionName',
]);

/** A failure that every further step would have too. */
const ofStore = { ofStore: true } as const;

export function isOfStore(error: unknown): boolean {
  return error instanceof StorageError && error.details?.ofStore === true;
}

function statusOf(error: unknown): number | undefined {
  return (error as Refusal).$metadata?.httpStatusCode;
}

export function isMissing(error: unknown): boolean {
  const { name = '' } = error as Refusal;
  return name !== 'NoSuchBucket' && statusOf(error) === 404;
}

export function storeFailure(error: unknown, where: Where, operation: string): Error {
  if (error instanceof StorageError) return error;
  const { name = 'Error', message = '', $metadata, Region } = error as Refusal;
  if (name === 'AbortError') return abortedError(error);
  const status = $metadata?.httpStatusCode;
  const { bucket, region, endpoint = 'AWS' } = where;
  const fail = (code: string, text: string, details = {}) =>
    new StorageError(code, text, { cause: error, status, ...details });
  if (name === 'NoSuchBucket') {
    const text = `The S3 bucket ${bucket} does not exist at ${endpoint}: create it, or correct --to.`;
    return fail('NoSuchBucket', text, { details: ofStore });
  }
  if (regionCodes.has(name) || status === 301) {
    const other = Region === undefined ? '' : `, which is ${Region}`;
    const text = `The S3 bucket ${bucket} is not in region ${region}: set AWS_REGION to its region${other}.`;
    return fail('InvalidArgument', text, { status: 400, details: ofStore });
  }
  if (credentialCodes.has(name)) {
    const text =
      `${endpoint} does not accept the credentials (${name}): correct AWS_ACCESS_KEY_ID, ` +
      'AWS_SECRET_ACCESS_KEY and, for temporary ones, AWS_SESSION_TOKEN.';
    return fail('AccessDenied', text, { status: 403, details: ofStore });
  }
  if (status === 403) {
    const text =
      `The credentials may not ${operation} in the S3 bucket ${bucket}: allow it, or use others ` +
      '(docs/how-to/mirror.md lists the actions).';
    return fail('AccessDenied', text, { details: ofStore });
  }
  if (status === undefined || name === 'TimeoutError') {
    const text = `The S3 store at ${endpoint} was not reached (${message || name}): check the endpoint and the network.`;
    return fail('NetworkError', text, { isRetryable: true });
  }
  const text = `The S3 store did not ${operation} (status ${status}): ${message}`;
  return fail(name, text);
}
