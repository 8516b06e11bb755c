// The check of version numbers before a request.

import { StorageError } from '../storage-error.ts';

/** Throws InvalidArgument before any request if `version` is not a whole number. */
export function requireVersionNumber(version: number | undefined): void {
  if (version === undefined || (Number.isSafeInteger(version) && version >= 0)) return;
  throw new StorageError(
    'InvalidArgument',
    `A version number is a whole number of 0 or more; got ${version}.`,
  );
}
