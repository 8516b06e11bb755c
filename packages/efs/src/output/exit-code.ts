// Exit codes of the command, and the one-line text of a failure.

import { outOfUseCodes } from '../../../client/src/connection/network-errors.ts';
import { isStorageError } from '../../../client/src/storage-error.ts';
import { inWords } from './failure-words.ts';
import { printable } from './printable.ts';
import { UsageError } from './usage-error.ts';

export const exitCodes = {
  success: 0,
  failure: 1,
  usage: 2,
  notFound: 3,
  accessDenied: 4,
  conflict: 5,
  limit: 6,
  unreachable: 7,
  integrity: 8,
  interrupted: 130,
} as const;

export const exitCodeHelp = `Exit codes:
  0    done
  1    failed for another reason
  2    wrong usage, or an argument that the service refuses
  3    no such bucket, file or upload
  4    no valid key or identity, or no permission
  5    conflict: a precondition, a name that exists, an ended upload
  6    a limit: size, quota, too many requests
  7    the service is unreachable or unavailable
  8    the bytes do not match their digest
  130  stopped by Ctrl-C`;

const codeByStatus: Readonly<Record<number, number>> = {
  400: exitCodes.usage,
  401: exitCodes.accessDenied,
  403: exitCodes.accessDenied,
  404: exitCodes.notFound,
  409: exitCodes.conflict,
  410: exitCodes.conflict,
  412: exitCodes.conflict,
  413: exitCodes.limit,
  416: exitCodes.usage,
  429: exitCodes.limit,
  502: exitCodes.unreachable,
  503: exitCodes.unreachable,
  504: exitCodes.unreachable,
  507: exitCodes.limit,
};

const codeByError: Readonly<Record<string, number>> = {
  IntegrityError: exitCodes.integrity,
  BadDigest: exitCodes.integrity,
  NetworkError: exitCodes.unreachable,
  ...Object.fromEntries([...outOfUseCodes].map((code) => [code, exitCodes.unreachable])),
  ExpiredIdentity: exitCodes.accessDenied,
  Timeout: exitCodes.unreachable,
  NoIdentity: exitCodes.accessDenied,
  NoRecipient: exitCodes.accessDenied,
  Untrusted: exitCodes.integrity,
  Unsupported: exitCodes.usage,
  PassphraseNeeded: exitCodes.usage,
  WrongPassphrase: exitCodes.accessDenied,
  Aborted: exitCodes.interrupted,
};

export function exitCodeOf(error: unknown): number {
  if (error instanceof UsageError) return exitCodes.usage;
  if (!isStorageError(error)) return exitCodes.failure;
  return codeByError[error.code] ?? codeByStatus[error.status ?? 0] ?? exitCodes.failure;
}

export function sayFailure(error: unknown): string {
  if (error instanceof UsageError) return error.message;
  if (!isStorageError(error)) return printable(messageOf(error));
  const { code, requestId } = error;
  const request = requestId === undefined ? '' : `, request ${requestId}`;
  // Keeps one line, whatever text a service or a gateway sends.
  return printable(`${inWords(error)} [${code}${request}]`);
}

/** Returns the message without the code, for output that has a field for the code. */
export function messageOf(error: unknown): string {
  if (isStorageError(error)) return inWords(error);
  return error instanceof Error ? error.message : String(error);
}
