// Headers of age files, in which the file's key is wrapped for each recipient. The library of age's
// author implements the format; this file adds access to the header and its key.

import { Decrypter, Encrypter } from 'age-encryption';
import { isStorageError, StorageError } from '../storage-error.ts';
import { damaged, payloadNonceBytes } from './payload.ts';

/** Enough for 100 recipients with post-quantum keys: twenty take 45 kB. */
export const headerBytesMax = 262_144;
const fileKeyBytes = 16;
const tagBytes = 16;

/** The recipients of a file; a passphrase excludes other recipients. */
export type Sealing =
  | { readonly recipients: readonly string[] }
  | { readonly passphrase: string; readonly workFactor?: number | undefined };

/** Keys that may open files, tried in order. */
export interface Opening {
  /** `AGE-SECRET-KEY-1…` or `AGE-SECRET-KEY-PQ-1…`. */
  readonly identities: readonly string[];
  readonly passphrases: readonly string[];
}

export interface FileHeader {
  /** The header and the payload's nonce, the beginning of the file. */
  readonly prefix: Uint8Array;
  /** 16 bytes, which open only this file. */
  readonly fileKey: Uint8Array;
}

/** Returns the header without the nonce. */
export function headerOf({ prefix }: FileHeader): Uint8Array {
  return prefix.subarray(0, prefix.length - payloadNonceBytes);
}

/** Makes a header with a new key and a new nonce. */
export async function makeHeader(sealing: Sealing): Promise<FileHeader> {
  const encrypter = new Encrypter();
  let fileKey: Uint8Array | undefined;
  if ('passphrase' in sealing) {
    if (sealing.workFactor !== undefined) encrypter.setScryptWorkFactor(sealing.workFactor);
    encrypter.setPassphrase(sealing.passphrase);
  } else {
    for (const recipient of sealing.recipients) addRecipient(encrypter, recipient);
    // Every recipient receives the file's key; this one records it and adds nothing to the header.
    encrypter.addRecipient({
      wrapFileKey(key) {
        fileKey = key.slice();
        return [];
      },
    });
  }
  const empty = await encrypter.encrypt(new Uint8Array(0));
  const prefix = empty.slice(0, empty.length - tagBytes);
  const header = prefix.subarray(0, prefix.length - payloadNonceBytes);
  // The library's nonce has encrypted an empty segment, so a new one replaces it.
  globalThis.crypto.getRandomValues(prefix.subarray(header.length));
  if (fileKey === undefined && 'passphrase' in sealing) {
    fileKey = await openHeader(header, { identities: [], passphrases: [sealing.passphrase] });
  }
  return { prefix, fileKey: fileKey as Uint8Array };
}

function addRecipient(encrypter: Encrypter, recipient: string): void {
  try {
    encrypter.addRecipient(recipient);
  } catch (cause) {
    const shown = JSON.stringify(recipient.slice(0, 100));
    const words = `The recipient ${shown} is not valid; use one such as age1… or age1pq1….`;
    throw new StorageError('InvalidArgument', words, { cause });
  }
}

/** Returns the length of the header; undefined if more bytes are needed. */
export function headerEnd(bytes: Uint8Array): number | undefined {
  const start = 'age-encryption.org/v1\n';
  const text = new TextDecoder('latin1').decode(bytes.subarray(0, headerBytesMax));
  if (!start.startsWith(text.slice(0, start.length))) {
    throw damaged('It does not begin with age-encryption.org/v1.');
  }
  // Other header lines begin with an arrow or contain no dash.
  const macLine = text.indexOf('\n---');
  const end = macLine < 0 ? -1 : text.indexOf('\n', macLine + 1);
  if (end >= 0) return end + 1;
  if (text.length === headerBytesMax) throw damaged('Its header is too long.');
  return undefined;
}

/** Returns the key of the file with this header. */
export type HeaderOpener = (header: Uint8Array) => Promise<Uint8Array>;

/** Returns the file's key. Throws NoIdentity if nothing opens it, IntegrityError if damaged. */
export async function openHeader(header: Uint8Array, opening: Opening): Promise<Uint8Array> {
  return headerOpener(opening)(header);
}

/** Like openHeader(), for many headers: computes the recipient of each identity once. */
export function headerOpener({ identities, passphrases }: Opening): HeaderOpener {
  const decrypter = new Decrypter();
  for (const identity of identities) addIdentity(decrypter, identity);
  for (const passphrase of passphrases) decrypter.addPassphrase(passphrase);
  const isNone = identities.length + passphrases.length === 0;
  const words = isNone ? 'No identity is configured' : 'No configured identity opens it';
  // Tried after all other identities have failed.
  decrypter.addIdentity({
    unwrapFileKey() {
      throw new StorageError('NoIdentity', `The file is encrypted. ${words}.`);
    },
  });
  return (header) => decryptHeader(decrypter, header);
}

/** Returns an opener for whoever has only the key of one file, such as of a link. */
export function openerByKey(fileKey: Uint8Array): HeaderOpener {
  return async (header) => {
    await requireFileKey(header, fileKey);
    return fileKey;
  };
}

/** Returns the keys of one bucket's files for a FileOpener, all by the same opener. */
export function keysBy(opener: HeaderOpener) {
  return { fileKeyOf: (_: unknown, header: Uint8Array) => opener(header) };
}

/** Throws IntegrityError unless the key, such as a link's, opens this header. */
export async function requireFileKey(header: Uint8Array, fileKey: Uint8Array): Promise<void> {
  const decrypter = new Decrypter();
  // The library then checks the header's MAC.
  decrypter.addIdentity({ unwrapFileKey: () => fileKey });
  await decryptHeader(decrypter, header);
}

function addIdentity(decrypter: Decrypter, identity: string): void {
  try {
    decrypter.addIdentity(identity);
  } catch {
    // The message omits the library's error and the text, which is a secret.
    const words = 'An identity must begin with AGE-SECRET-KEY-1 or AGE-SECRET-KEY-PQ-1.';
    throw new StorageError('InvalidArgument', words);
  }
}

async function decryptHeader(decrypter: Decrypter, header: Uint8Array): Promise<Uint8Array> {
  try {
    const fileKey = await decrypter.decryptHeader(header);
    if (fileKey.length === fileKeyBytes) return fileKey;
  } catch (error) {
    if (isStorageError(error)) throw error;
    // All other reasons give the same error, below.
  }
  throw damaged('Its header was changed.');
}
