import { expect, test } from 'vitest';
import { S3Error } from '../../packages/s3/src/s3-error.ts';

test('S3Error has the status of its code', () => {
  const error = new S3Error('SlowDown', 'The service does not answer: ask again.');
  expect(error).toMatchObject({ status: 503, code: 'SlowDown' });
});
