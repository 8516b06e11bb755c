// Rewrites errors of the service and the client, which speak to programs about headers and options,
// into the command's words: flags, and what to do. Other errors stay as they are.

import { isStorageError, StorageError } from '../../../client/src/storage-error.ts';
import type { FileName } from '../../../client/src/types/files.ts';
import { nameOf } from './location.ts';

type Words = (match: RegExpMatchArray) => string;

const keyHint =
  'give one by EFS_API_KEY or --api-key, or an identity that may by --identity and ' +
  '--transport actor';

/** As the client and the agent say it. */
export const notReached =
  /^(?:The service was not reached|Failed to fetch HTTP request): (?:TypeError: )?(.*)$/s;

/** By code; the first pattern that is in the message counts. */
const table: Readonly<Record<string, readonly (readonly [RegExp, Words])[]>> = {
  Unauthorized: [[/API key/, () => `This needs an API key: ${keyHint}.`]],
  InvalidApiKey: [
    [
      /unknown, revoked or expired/,
      () =>
        `The service does not know this API key, or no longer: it is unknown, revoked or expired; ${keyHint}.`,
    ],
  ],
  AccessDenied: [
    [
      /^The API key is not for bucket (\S+)\.$/,
      ([, bucket]) =>
        `This API key is not for bucket ${bucket}, but for another one: ${bucket} needs its own ` +
        `(its owner makes it by efs key create ${bucket}); ${keyHint}.`,
    ],
    [
      /^The API key has no (\w+) permission; it has: (.*)\.$/,
      ([, wanted, has]) => `This API key may not ${wanted}, it may ${has}: ${keyHint}.`,
    ],
    [
      /^There is no API key (.*) for a bucket of the caller/,
      ([, id]) =>
        `There is no API key ${id} of a bucket of yours: efs key ls BUCKET shows the ids.`,
    ],
    [
      /^The caller may not (\w+) in bucket ([^:]+):/,
      ([, wanted, bucket]) => `You may not ${wanted} in bucket ${bucket}: ${keyHint}.`,
    ],
  ],
  NoSuchBucket: [
    [
      /^There is no bucket (\S+) that the caller may know of/,
      ([, bucket]) => `There is no bucket ${bucket}, or none that you may see (efs bucket ls).`,
    ],
  ],
  NoSuchFile: [
    [
      /^There is no former version (\d+) of (.*): a list of versions/s,
      ([, version, path]) =>
        `There is no former version ${version} of ${path}: efs versions ls shows what is kept.`,
    ],
  ],
  NoIdentity: [
    [
      /No identity is configured/,
      () =>
        'The file is encrypted, and nothing here opens it: members open it by --identity and ' +
        '--transport actor, its own recipients by --age-identity.',
    ],
    [
      /No configured identity/,
      () =>
        'The file is encrypted to others: neither the identity of its bucket opens it, if you ' +
        'may have that, nor what --age-identity names.',
    ],
  ],
  InvalidContentType: [[/^The Content-Type (.*)$/s, ([, rest]) => `The --type ${rest}`]],
  InvalidArgument: [
    [
      /^The header ([a-z-]+) is stored only with (.*)$/s,
      ([, name, rest]) => `What is stored as ${name} (--${name}, --header) has ${rest}`,
    ],
  ],
  BucketMismatch: [[/X-Bucket-Id/, () => `This API key is not for that bucket: ${keyHint}.`]],
  PreconditionFailed: [
    [/If-None-Match/, () => 'There is a file of that name, which --no-replace keeps.'],
    [/If-/, () => 'The file has been changed meanwhile: try again.'],
  ],
  SlowDown: [
    [/send an API key/, () => `Too many ask without a key: wait some seconds, or ${keyHint}.`],
  ],
  Unsupported: [
    [
      /only through the actor/,
      () =>
        'Buckets and keys are managed by an identity: give --host, --canister-id and --identity.',
    ],
    [/use the actor/, () => 'This file is stored compressed: --transport actor gets it as it is.'],
    [
      /pass chunkBytes/,
      () =>
        'The chunks of this file cannot be told this way: --transport http gets it, or --no-verify.',
    ],
  ],
  HttpError: [
    [
      /^The answer (\d+) \((.*)\) is not the service's\.$/,
      ([, status, type]) =>
        `What answers at this address is not the service (status ${status}, ${type}): look at ` +
        '--url, EFS_URL.',
    ],
    [
      /^The service answered (\d+)\.$/,
      ([, status]) => `The service refused this (status ${status}).`,
    ],
  ],
  NetworkError: [
    [
      notReached,
      ([, reason]) => `The service was not reached, look at --url and --host: ${reason}`,
    ],
  ],
  Aborted: [[/./, () => 'Stopped.']],
};

export function inWords({ code, message }: StorageError): string {
  for (const [pattern, words] of table[code] ?? []) {
    const match = message.match(pattern);
    if (match !== null) return words(match);
  }
  return message;
}

/** A missing file is called by the name that the user gave it. */
export async function naming<T>(name: FileName, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isStorageError(error, 'NoSuchFile')) throw error;
    const { status, requestId } = error;
    const text = `There is no file ${nameOf(name)}, or none that you may read.`;
    throw new StorageError('NoSuchFile', text, { status, requestId, cause: error });
  }
}
