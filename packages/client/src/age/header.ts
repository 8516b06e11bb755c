// Headers of age files: the file's key, wrapped for whoever may read it. All of the format by the
// library of age's author; here is what that gives to callers who keep a header and its key.

import { Decrypter, Encrypter } from 'age-encryption';
import { StorageError } from '../storage-error.ts';
import { damaged, payloadNonceBytes } from './payload.ts';

/** Twenty recipients with post-quantum keys take 45 kB. */
export const headerBytesMax = 262_144;
const fileKeyBytes = 16;
const tagBytes = 16;

/** Whom a file is encrypted to; a passphrase cannot stand beside recipients. */
export type Sealing =
  | { readonly recipients: readonly string[] }
  | { readonly passphrase: string; readonly workFactor?: number | undefined };

/** What may open files: each is tried in its turn. */
export interface Opening {
  /** `AGE-SECRET-KEY-1…` or `AGE-SECRET-KEY-PQ-1…`. */
  readonly identities: readonly string[];
  readonly passphrases: readonly string[];
}

export interface FileHeader {
  /** The header and the payload's nonce: what a file begins with. */
  readonly prefix: Uint8Array;
  /** 16 bytes. Opens this file, and no other. */
  readonly fileKey: Uint8Array;
}

/** With a new key and a new nonce. */
export async function makeHeader(sealing: Sealing): Promise<FileHeader> {
  const encrypter = new Encrypter();
  let fileKey: Uint8Array | undefined;
  if ('passphrase' in sealing) {
    if (sealing.workFactor !== undefined) encrypter.setScryptWorkFactor(sealing.workFactor);
    encrypter.setPassphrase(sealing.passphrase);
  } else {
    for (const recipient of sealing.recipients) addRecipient(encrypter, recipient);
    // Is told the key as every recipient is, and has nothing written.
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
  // Its own nonce has sealed an empty piece, which nobody gets.
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
    const words = `A recipient is a word such as age1… or age1pq1…; got ${shown}.`;
    throw new StorageError('InvalidArgument', words, { cause });
  }
}

/** Where the header ends that the bytes begin with; undefined when more of them are needed. */
export function headerEnd(bytes: Uint8Array): number | undefined {
  const start = 'age-encryption.org/v1\n';
  const text = new TextDecoder('latin1').decode(bytes.subarray(0, headerBytesMax));
  if (!start.startsWith(text.slice(0, start.length))) {
    throw damaged('It does not begin as one: age-encryption.org/v1.');
  }
  // Every other line begins with an arrow, or has no dash at all.
  const macLine = text.indexOf('\n---');
  const end = macLine < 0 ? -1 : text.indexOf('\n', macLine + 1);
  if (end >= 0) return end + 1;
  if (text.length === headerBytesMax) throw damaged('Its header has no end.');
  return undefined;
}

/**
 * The key of the file whose header this is. NoIdentity when nothing opens it, IntegrityError when
 * the header was changed.
 */
export async function openHeader(header: Uint8Array, opening: Opening): Promise<Uint8Array> {
  const decrypter = new Decrypter();
  for (const identity of opening.identities) addIdentity(decrypter, identity);
  for (const passphrase of opening.passphrases) decrypter.addPassphrase(passphrase);
  let hasNone = false;
  // Asked when none of the others has opened it.
  decrypter.addIdentity({
    unwrapFileKey() {
      hasNone = true;
      return null;
    },
  });
  return decryptHeader(decrypter, header).catch((error) => {
    if (!hasNone) throw error;
    const known = opening.identities.length + opening.passphrases.length;
    const words = known === 0 ? 'There is no identity here' : 'It is for other identities';
    throw new StorageError('NoIdentity', `The file is encrypted. ${words}: nothing opens it.`);
  });
}

/** For a key that came another way: IntegrityError when it is not that of this header. */
export async function requireFileKey(header: Uint8Array, fileKey: Uint8Array): Promise<void> {
  const decrypter = new Decrypter();
  // The library checks the header's MAC by it.
  decrypter.addIdentity({ unwrapFileKey: () => fileKey });
  await decryptHeader(decrypter, header);
}

function addIdentity(decrypter: Decrypter, identity: string): void {
  try {
    decrypter.addIdentity(identity);
  } catch {
    // Without the library's words and the text: it is a secret.
    const words = 'An identity is a word that begins with AGE-SECRET-KEY-1 or AGE-SECRET-KEY-PQ-1.';
    throw new StorageError('InvalidArgument', words);
  }
}

async function decryptHeader(decrypter: Decrypter, header: Uint8Array): Promise<Uint8Array> {
  try {
    const fileKey = await decrypter.decryptHeader(header);
    if (fileKey.length === fileKeyBytes) return fileKey;
  } catch {
    // Said below, for whatever reason.
  }
  throw damaged('Its header was changed.');
}
