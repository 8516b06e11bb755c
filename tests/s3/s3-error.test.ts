import { expect, test } from 'vitest';
import { namedError } from '../../packages/client/src/service-places.ts';
import { StorageError } from '../../packages/client/src/storage-error.ts';
import { S3Error } from '../../packages/s3/src/s3-error.ts';
import { s3ErrorOf } from '../../packages/s3/src/storage-errors.ts';

test('S3Error has the status of its code', () => {
  const error = new S3Error('SlowDown', 'The service does not answer: ask again.');
  expect(error).toMatchObject({ status: 503, code: 'SlowDown' });
});

test.each(['NetworkError', 'Timeout', 'ServiceUnavailable'])(
  's3ErrorOf() names the volume of %s, which passes',
  (code) => {
    const error = new StorageError(code, 'It cannot be reached.', { isRetryable: true });
    expect(s3ErrorOf(namedError('rrkah-fqaaa-aaaaa-aaaaq-cai', error))).toMatchObject({
      ...{ status: 503, code: 'SlowDown' },
      message: `The volume rrkah-fqaaa-aaaaa-aaaaq-cai is unavailable (${code}): try again.`,
    });
    expect(s3ErrorOf(error).message).toBe(`The service is unavailable (${code}): try again.`);
  },
);
