// Rewrites errors of the service and the client, which speak to programs about headers and options,
// into the command's words: flags, and what to do. Other errors stay as they are.

import { isStorageError, StorageError } from '../../../client/src/storage-error.ts';
import type { FileName } from '../../../client/src/types/files.ts';
import { nameOf } from './location.ts';

type Words = (match: RegExpMatchArray) => string;

const keyHint =
  'give an API key by EFS_API_KEY or --api-key, or an identity with the right by --identity and ' +
  '--transport actor';

/** The message of the client or of the agent for a service that was not reached. */
export const notReached =
  /^(?:The service was not reached|Failed to fetch HTTP request): (?:TypeError: )?(.*)$/s;

/** By error code; the first matching pattern counts. Some match messages of older services. */
const table: Readonly<Record<string, readonly (readonly [RegExp, Words])[]>> = {
  Unauthorized: [[/API key/, () => `A key is missing: ${keyHint}.`]],
  InvalidApiKey: [
    [
      /unknown, revoked or expired/,
      () => `The API key is not valid: it is unknown, revoked or expired; ${keyHint}.`,
    ],
  ],
  AccessDenied: [
    [
      /^The API key is not for bucket (\S+)\.$/,
      ([, bucket]) =>
        `This API key is not for bucket ${bucket}. An owner creates a key for it by ` +
        `efs key create ${bucket}; ${keyHint}.`,
    ],
    [
      /^The API key has no (\w+) permission; it has: (.*)\.$/,
      ([, wanted, has]) =>
        `This API key lacks the permission ${wanted}; it has ${has}: ${keyHint}.`,
    ],
    [
      /^(?:There is no )?API key (.*) (?:for a bucket of the caller|does not exist in the caller)/,
      ([, id]) => `API key ${id} does not exist in your buckets: efs key ls BUCKET shows the ids.`,
    ],
    [
      /^The caller (?:may not|has no) (\w+)(?: right)? in bucket ([^:]+):/,
      ([, wanted, bucket]) => `You may not ${wanted} in bucket ${bucket}: ${keyHint}.`,
    ],
  ],
  NoSuchBucket: [
    [
      /^(?:There is no b|B)ucket (\S+) (?:that the caller|does not exist)/,
      ([, bucket]) =>
        `Bucket ${bucket} does not exist, or you have no right to it (efs bucket ls).`,
    ],
  ],
  NoSuchFile: [
    [
      /^(?:There is no former v|V)ersion (\d+) of (.*?)(?: does not exist)?: (?:a list|list)/s,
      ([, version, path]) =>
        `Version ${version} of ${path} does not exist: efs versions ls lists the versions.`,
    ],
  ],
  NoIdentity: [
    [
      /No identity is configured/,
      () =>
        'The file is encrypted, and no identity is given: members decrypt it with --identity and ' +
        '--transport actor, other recipients with --age-identity.',
    ],
    [
      /No configured identity/,
      () =>
        'The file is encrypted to others: neither the identity of its bucket nor those of ' +
        '--age-identity decrypt it.',
    ],
  ],
  InvalidContentType: [[/^The Content-Type (.*)$/s, ([, rest]) => `The --type ${rest}`]],
  InvalidArgument: [
    [
      /^The (?:stored )?header ([a-z-]+) (?:is stored only with|must have) (.*)$/s,
      ([, name, rest]) => `The stored header ${name} (--${name}, --header) must have ${rest}`,
    ],
  ],
  BucketMismatch: [[/X-Bucket-Id/, () => `This API key is not for that bucket: ${keyHint}.`]],
  PreconditionFailed: [
    [/If-None-Match/, () => 'A file with that name exists, and --no-replace keeps it.'],
    [/If-/, () => 'The file was changed meanwhile: try again.'],
  ],
  SlowDown: [
    [
      /send an API key/,
      () => `The limit of requests without a key is reached: wait a few seconds, or ${keyHint}.`,
    ],
  ],
  Unsupported: [
    [
      /only through the actor/,
      () =>
        'Managing buckets and keys needs an identity: give --host, --canister-id and --identity.',
    ],
    [
      /use the actor/,
      () => 'This file is stored compressed: --transport actor downloads it unchanged.',
    ],
    [
      /pass chunkBytes/,
      () => 'The chunk length of this file is unknown: use --transport http, or --no-verify.',
    ],
  ],
  Untrusted: [
    [
      /^Over HTTP alone, one node can invent the recipients of bucket (\S+)\. Nothing was sent\./,
      ([, bucket]) =>
        `Nothing at this address can be verified, so the recipients of bucket ${bucket} may be invented. ` +
        `Nothing was sent. Use an address with https, or give the recipients by --pin-recipients ` +
        `${bucket}=DIGEST, or ${bucket}=none for a bucket that is not end-to-end.`,
    ],
    [
      /^(.*) Ask the bucket's owner about the change before you accept it\.$/s,
      ([, words]) =>
        `${words} Ask the bucket's owner about the change (efs identity show prints the digest); to ` +
        'accept it, repeat the command with --accept-recipients.',
    ],
  ],
  HttpError: [
    [
      /^The answer (\d+) \((.*)\) is not the service's\.$/,
      ([, status, type]) =>
        `Another server answers at this address (status ${status}, ${type}): check ` +
        '--url and EFS_URL.',
    ],
    [
      /^The service answered (\d+)\.$/,
      ([, status]) => `The service refused the request (status ${status}).`,
    ],
  ],
  NetworkError: [
    [
      /\(getaddrinfo \w+ ([^\s()]+)\)/,
      ([, name]) =>
        `The name ${name} cannot be resolved; check --url, --host and the network connection of this ` +
        'machine.',
    ],
    [notReached, ([, reason]) => `The service was not reached; check --url and --host: ${reason}`],
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

/** Reports a missing file by the name that the user gave. */
export async function naming<T>(name: FileName, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isStorageError(error, 'NoSuchFile')) throw error;
    const { status, requestId } = error;
    const text = `File ${nameOf(name)} does not exist, or you may not read it.`;
    throw new StorageError('NoSuchFile', text, { status, requestId, cause: error });
  }
}
