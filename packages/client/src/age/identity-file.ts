// Reads files of age identities, as age-keygen and age -p write them: an identity per line with
// comments, or the same encrypted with a passphrase, armored or not.

import { armor, Decrypter } from 'age-encryption';
import { StorageError } from '../storage-error.ts';

const identityPattern = /^AGE-SECRET-KEY-(?:1|PQ-1)[0-9A-Z]+$/;
const ageStart = 'age-encryption.org/v1\n';
const armorStart = '-----BEGIN AGE ENCRYPTED FILE-----';
/** Longer files are not key files and are not read. */
export const identityFileBytesMax = 1_000_000;

/**
 * Returns the identities in order. Throws PassphraseNeeded, WrongPassphrase, or InvalidArgument.
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
  // The message omits the text, which may be another kind of secret.
  if (words.length > 0 && words.every((word) => identityPattern.test(word))) return words;
  throw new StorageError(
    'InvalidArgument',
    'The file has no age identities: its lines must begin with AGE-SECRET-KEY-1 or with #.',
  );
}

function unarmored(text: string): Uint8Array {
  try {
    return armor.decode(text.trim());
  } catch (cause) {
    const words = 'The age file is damaged: its armor is not valid.';
    throw new StorageError('InvalidArgument', words, { cause });
  }
}

async function decrypted(bytes: Uint8Array, passphrase: string | undefined): Promise<string> {
  if (passphrase === undefined) {
    throw new StorageError(
      'PassphraseNeeded',
      'The file of age identities is encrypted; give its passphrase.',
    );
  }
  const decrypter = new Decrypter();
  decrypter.addPassphrase(passphrase);
  try {
    return await decrypter.decrypt(bytes, 'text');
  } catch {
    throw new StorageError('WrongPassphrase', 'The passphrase does not open the age identities.');
  }
}
