// Files of age identities, as age-keygen and age -p write them: identities a line each, with
// comments, or that encrypted with a passphrase, in armor or without.

import { armor, Decrypter } from 'age-encryption';
import { StorageError } from '../storage-error.ts';

const identityPattern = /^AGE-SECRET-KEY-(?:1|PQ-1)[0-9A-Z]+$/;
const ageStart = 'age-encryption.org/v1\n';
const armorStart = '-----BEGIN AGE ENCRYPTED FILE-----';
/** A file of keys; one of films would be read for nothing. */
export const identityFileBytesMax = 1_000_000;

/**
 * `AGE-SECRET-KEY-1…` and `AGE-SECRET-KEY-PQ-1…`, in the file's order. PassphraseNeeded or
 * WrongPassphrase of an encrypted one, InvalidArgument of what is none.
 */
export async function readIdentityFile(
  bytes: Uint8Array,
  passphrase?: string | undefined,
): Promise<string[]> {
  const text = new TextDecoder().decode(bytes);
  if (text.startsWith(ageStart)) return identitiesIn(await decrypted(bytes, passphrase));
  if (text.trimStart().startsWith(armorStart)) {
    return identitiesIn(await decrypted(unarmored(text), passphrase));
  }
  return identitiesIn(text);
}

function identitiesIn(text: string): string[] {
  const lines = text.split('\n').map((line) => line.trim());
  const words = lines.filter((line) => line !== '' && !line.startsWith('#'));
  // Without what it has instead: that may be a secret of another kind.
  if (words.length > 0 && words.every((word) => identityPattern.test(word))) return words;
  throw new StorageError(
    'InvalidArgument',
    'This is no file of age identities: lines of it begin with AGE-SECRET-KEY-1 or with #.',
  );
}

function unarmored(text: string): Uint8Array {
  try {
    return armor.decode(text.trim());
  } catch (cause) {
    const words = 'This is no whole age file: its armor is damaged.';
    throw new StorageError('InvalidArgument', words, { cause });
  }
}

async function decrypted(bytes: Uint8Array, passphrase: string | undefined): Promise<string> {
  if (passphrase === undefined) {
    throw new StorageError('PassphraseNeeded', 'The file of age identities is encrypted.');
  }
  const decrypter = new Decrypter();
  decrypter.addPassphrase(passphrase);
  try {
    return await decrypter.decrypt(bytes, 'text');
  } catch {
    throw new StorageError('WrongPassphrase', 'The passphrase does not open the age identities.');
  }
}
