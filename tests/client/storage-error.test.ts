import { expect, test } from 'vitest';
import { isStorageError, StorageError } from '../../packages/client/src/storage-error.ts';

test.each<[boolean, readonly (string | undefined)[]]>([
  [true, []],
  [true, [undefined]],
  [true, ['NoSuchFile']],
  [true, ['SlowDown', 'NoSuchFile']],
  [false, ['SlowDown']],
  [false, ['SlowDown', 'Aborted']],
])('isStorageError returns %s for NoSuchFile with the codes %j', (expected, codes) => {
  const check = isStorageError as (
    error: unknown,
    ...codes: readonly (string | undefined)[]
  ) => boolean;
  expect(check(new StorageError('NoSuchFile', ''), ...codes)).toBe(expected);
  expect(check(new Error('NoSuchFile'), ...codes)).toBe(false);
});
