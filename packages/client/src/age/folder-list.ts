// The list of the file keys of a shared folder: an age file below the folder, encrypted only to an
// identity whose secret is in the link's address, so that no copy of the folder decrypts it. Its
// text is JSON:
//
//   { "version": 1, "prefix": stored prefix, "files": [[stored path, plain path or 0 if it is the
//     same, file key in base64url, entity tag], …] }, with paths relative to the folder

import { bech32 } from '@scure/base';
import { identityToRecipient } from 'age-encryption';
import { decodeBase64Url, encodeBase64Url } from '../bytes/base64-url.ts';
import { concatBytes } from '../bytes/bytes.ts';
import { sha256 } from '../bytes/sha256.ts';
import { segmentFault } from '../sealed-names/segment-fault.ts';
import { StorageError } from '../storage-error.ts';

/** A list of 5,000 files with the longest paths has 11 MB. */
export const sharedListBytesMax = 12_000_000;

const version = 1;
const secretBytes = 32;
const listIdBytes = 12;
const fileKeyBytes = 16;

export interface SharedKey {
  /** Relative to the folder, as the service stores it. */
  readonly stored: string;
  /** Relative to the folder. */
  readonly path: string;
  readonly fileKey: Uint8Array;
  readonly etag: string;
}

export interface SharedList {
  /** As the service stores it. */
  readonly prefix: string;
  readonly files: readonly SharedKey[];
}

export function newFolderSecret(): string {
  const bytes = globalThis.crypto.getRandomValues(new Uint8Array(1 + secretBytes));
  bytes[0] = version;
  return encodeBase64Url(bytes);
}

/** Returns `AGE-SECRET-KEY-1…`. Throws InvalidArgument if the secret is not valid. */
export function identityOfSecret(secret: string): string {
  const bytes = decodeBase64Url(secret);
  if (bytes?.length === 1 + secretBytes && bytes[0] === version) {
    return bech32.encodeFromBytes('AGE-SECRET-KEY-', bytes.subarray(1)).toUpperCase();
  }
  const words = 'The secret in the address of the folder is not valid; use the complete address.';
  throw new StorageError('InvalidArgument', words);
}

/**
 * Returns the id of the link's list, 16 characters of base64url. The name of the link's key ends
 * with it, so that the network's answer about the key also tells its secret from any other.
 */
export async function listIdOfSecret(secret: string): Promise<string> {
  const context = new TextEncoder().encode('encrypted-file-storage/folder-link/v1');
  const digest = await sha256(concatBytes(context, new TextEncoder().encode(secret)));
  return encodeBase64Url(digest.subarray(0, listIdBytes));
}

export function recipientOfSecret(secret: string): Promise<string> {
  return identityToRecipient(identityOfSecret(secret));
}

export function encodeSharedList({ prefix, files }: SharedList): Uint8Array {
  const rows = files.map(({ stored, path, fileKey, etag }) => [
    ...[stored, path === stored ? 0 : path],
    ...[encodeBase64Url(fileKey), etag],
  ]);
  return new TextEncoder().encode(JSON.stringify({ version, prefix, files: rows }));
}

/** Throws IntegrityError if the bytes are not a list of this prefix. */
export function decodeSharedList(bytes: Uint8Array, prefix: string): SharedList {
  const list = parsed(bytes);
  if (list?.version !== version || list.prefix !== prefix || !Array.isArray(list.files)) {
    throw damaged();
  }
  return { prefix, files: list.files.map(rowOf) };
}

interface Parsed {
  readonly version?: unknown;
  readonly prefix?: unknown;
  readonly files?: unknown;
}

function parsed(bytes: Uint8Array): Parsed | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return Object(JSON.parse(text));
  } catch {
    return undefined;
  }
}

function rowOf(row: unknown): SharedKey {
  const [stored, path, key, etag] = Array.isArray(row) ? row : [];
  const fileKey = typeof key === 'string' ? decodeBase64Url(key) : undefined;
  const isNamed = typeof stored === 'string' && (path === 0 || typeof path === 'string');
  if (!isNamed || typeof etag !== 'string' || fileKey?.length !== fileKeyBytes) throw damaged();
  if (path === 0) return { stored, path: stored, fileKey, etag };
  // Whoever makes a link writes its list, and readers make files of these names
  const names: string[] = path.split('/');
  const isValid = names.every((name) => segmentFault(name) === undefined);
  if (!isValid || names.length !== stored.split('/').length) throw damaged();
  return { stored, path, fileKey, etag };
}

function damaged(): StorageError {
  const words = "The list of the folder's file keys is damaged, or belongs to another folder.";
  return new StorageError('IntegrityError', words);
}
