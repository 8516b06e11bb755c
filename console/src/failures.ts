// Describes a failure in a sentence that says what to do. The service's own words say what was
// wrong; this file adds what the user can do in the console.

import { isStorageError } from '../../packages/client/src/storage-error.ts';
import { texts } from './language.ts';

export function sentenceOf(error: unknown): string {
  if (isStorageError(error)) {
    const advice: Readonly<Record<string, string>> = texts().failures.byCode;
    const known = advice[error.code];
    if (known !== undefined) return known;
    return /[.!?]$/.test(error.message) ? error.message : `${error.message}.`;
  }
  return error instanceof Error ? error.message : String(error);
}

/** True if the network or the service failed, so that the same request can succeed later. */
export function isPassing(error: unknown): boolean {
  return isStorageError(error) && (error.isRetryable || error.code === 'NetworkError');
}

/** True if the user stopped the operation or chose no file. */
export function isAborted(error: unknown): boolean {
  const isUnchosen = error instanceof DOMException && error.name === 'AbortError';
  return isUnchosen || isStorageError(error, 'Aborted');
}
