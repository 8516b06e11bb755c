// Numbers of versions, as callers tell them.

import { StorageError } from '../storage-error.ts';

/** What is no number of a version is said before anything is asked. */
export function requireVersionNumber(version: number | undefined): void {
  if (version === undefined || (Number.isSafeInteger(version) && version >= 0)) return;
  throw new StorageError('InvalidArgument', `A version is a whole number; got ${version}.`);
}
