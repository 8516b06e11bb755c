// Errors in the form of S3: a code and a message.

/** Codes of S3 and their HTTP statuses. */
const statuses = {
  AccessDenied: 403,
  AccessForbidden: 403,
  AuthorizationHeaderMalformed: 400,
  AuthorizationQueryParametersError: 400,
  BadDigest: 400,
  BucketAlreadyExists: 409,
  BucketAlreadyOwnedByYou: 409,
  BucketNotEmpty: 409,
  EntityTooLarge: 400,
  EntityTooSmall: 400,
  IncompleteBody: 400,
  InternalError: 500,
  InvalidAccessKeyId: 403,
  InvalidArgument: 400,
  InvalidBucketName: 400,
  InvalidBucketState: 409,
  InvalidChunkSizeError: 403,
  InvalidDigest: 400,
  InvalidPart: 400,
  InvalidPartNumber: 416,
  InvalidPartOrder: 400,
  InvalidRange: 416,
  InvalidRequest: 400,
  InvalidRetentionPeriod: 400,
  InvalidStorageClass: 400,
  InvalidTag: 400,
  InvalidToken: 400,
  InvalidURI: 400,
  KeyTooLongError: 400,
  MalformedTrailerError: 400,
  MalformedXML: 400,
  MetadataTooLarge: 400,
  MethodNotAllowed: 405,
  MissingContentLength: 411,
  NoSuchBucket: 404,
  NoSuchBucketPolicy: 404,
  NoSuchCORSConfiguration: 404,
  NoSuchConfiguration: 404,
  NoSuchKey: 404,
  NoSuchLifecycleConfiguration: 404,
  NoSuchObjectLockConfiguration: 404,
  NoSuchPublicAccessBlockConfiguration: 404,
  NoSuchTagSet: 404,
  NoSuchUpload: 404,
  NoSuchVersion: 404,
  NoSuchWebsiteConfiguration: 404,
  // S3 answers 501, which s3cmd and AWS's SDKs retry for up to a minute.
  NotImplemented: 400,
  ObjectLockConfigurationNotFoundError: 404,
  OperationAborted: 409,
  OwnershipControlsNotFoundError: 404,
  PreconditionFailed: 412,
  QuotaExceeded: 403,
  ReplicationConfigurationNotFoundError: 404,
  RequestTimeTooSkewed: 403,
  RequestTimeout: 400,
  ServerSideEncryptionConfigurationNotFoundError: 404,
  ServiceUnavailable: 503,
  SignatureDoesNotMatch: 403,
  SlowDown: 503,
  XAmzContentSHA256Mismatch: 400,
} as const;

export type S3Code = keyof typeof statuses;

/** A refusal in S3's form. Callers see the message, so it must not contain a secret. */
export class S3Error extends Error {
  override readonly name = 'S3Error';
  readonly code: S3Code;
  /** The HTTP status of the answer. */
  readonly status: number;

  constructor(code: S3Code, message: string, options: { readonly cause?: unknown } = {}) {
    super(message, options);
    this.code = code;
    this.status = statuses[code];
  }
}
