// `--json`: one JSON value on standard output, and only lines of JSON on standard error: `{"error":
// {"code", "message"}}` for each failure, the one that ends the command last, and `{"note": …}` for
// the rest. Set once per run, because the streams belong to the process.

import { isStorageError } from '../../../client/src/storage-error.ts';
import { messageOf } from './exit-code.ts';
import { UsageError } from './usage-error.ts';

let isWanted = false;

/** Records whether the command line has the flag; then its errors are JSON too. */
export function chooseJson(words: readonly string[]): void {
  const end = words.indexOf('--');
  isWanted = (end === -1 ? words : words.slice(0, end)).includes('--json');
}

export function isJson(): boolean {
  return isWanted;
}

/** Returns a line for standard error. `code` comes from the service, the client or this command. */
export function jsonOfFailure(error: unknown, name?: string): string {
  const message = messageOf(error).replace(/^error: /, '');
  const requestId = isStorageError(error) ? error.requestId : undefined;
  return JSON.stringify({ error: { code: codeOf(error), message, name, requestId } });
}

function codeOf(error: unknown): string {
  if (error instanceof UsageError) return 'Usage';
  if (isStorageError(error)) return error.code;
  const { code } = error as { readonly code?: unknown };
  return typeof code === 'string' ? code : 'Failed';
}

export function jsonOfNote(note: string): string {
  return JSON.stringify({ note });
}
