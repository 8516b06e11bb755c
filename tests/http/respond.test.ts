import { beforeAll, describe, expect, test } from 'vitest';
import { Refusal, type RefusalCode } from '../../src/domain/shared/refusal.ts';
import { refusalResponse } from '../../src/http/respond.ts';
import { bodyText, headersOf } from '../support/http-fixture.ts';
import { installNodeText } from '../support/memory-stores.ts';

beforeAll(installNodeText);

// The interface's table of errors, as statuses
const statuses: Readonly<Record<RefusalCode, number>> = {
  Unauthorized: 401,
  InvalidApiKey: 401,
  AccessDenied: 403,
  NoSuchBucket: 404,
  NoSuchFile: 404,
  NoSuchUpload: 404,
  UploadExpired: 410,
  UploadCancelled: 410,
  InvalidPath: 400,
  InvalidBucketId: 400,
  InvalidArgument: 400,
  BucketMismatch: 400,
  MissingContentType: 400,
  InvalidContentType: 400,
  InvalidChunkIndex: 400,
  ChunkSizeMismatch: 400,
  BadDigest: 400,
  NotEncrypted: 400,
  OffsetMismatch: 409,
  UploadIncomplete: 409,
  UploadCompleted: 409,
  BucketExists: 409,
  BucketNotEmpty: 409,
  FileHeld: 409,
  PreconditionFailed: 412,
  NotStored: 424,
  EntityTooLarge: 413,
  UriTooLong: 414,
  UnsupportedMediaType: 415,
  InvalidRange: 416,
  SlowDown: 429,
  HeadersTooLarge: 431,
  ChecksumMismatch: 460,
  QuotaExceeded: 507,
  MethodNotAllowed: 405,
  ServiceUnavailable: 503,
  IntegrityError: 500,
};

/** The header fields that a response must have only for this code. */
const fields: Partial<Record<RefusalCode, Readonly<Record<string, string>>>> = {
  Unauthorized: { 'www-authenticate': 'Bearer' },
  InvalidApiKey: { 'www-authenticate': 'Bearer error="invalid_token"' },
  InvalidRange: { 'content-range': 'bytes */7' },
  MethodNotAllowed: { allow: 'GET, OPTIONS' },
  SlowDown: { 'retry-after': '10' },
  ServiceUnavailable: { 'retry-after': '10' },
};

const details = { size: 7, allow: 'GET, OPTIONS', missing: [1, 2] };
const context = { requestId: 'r1', isHead: false };

describe('refusalResponse()', () => {
  test.each(Object.entries(statuses) as [RefusalCode, number][])(
    'answers %s with status %i and its header fields',
    (code, status) => {
      const response = refusalResponse(new Refusal(code, 'What was wrong.', details), context);
      expect(response.status).toBe(status);
      expect(JSON.parse(bodyText(response))).toEqual({
        error: { code, message: 'What was wrong.', requestId: 'r1', details },
      });
      expect(headersOf(response)).toEqual({
        'content-type': 'application/json',
        'cache-control': 'private, no-store',
        ...fields[code],
      });
    },
  );

  test('omits absent details', () => {
    const response = refusalResponse(new Refusal('AccessDenied', 'No.'), context);
    expect(bodyText(response)).not.toContain('details');
  });

  test('has no body for HEAD', () => {
    const response = refusalResponse(new Refusal('NoSuchFile', 'x'), { ...context, isHead: true });
    expect([response.status, response.body.length]).toEqual([404, 0]);
  });
});
