// Reads the user's own age identities from a file in age-keygen's format. For an encrypted file,
// the passphrase comes from the environment or the terminal.

import { readFileSync, statSync } from 'node:fs';
import { identityFileBytesMax, readIdentityFile } from '../../../client/src/age/identity-file.ts';
import { isStorageError } from '../../../client/src/storage-error.ts';
import { UsageError } from '../output/usage-error.ts';
import { askHidden, hasTerminal } from './passphrase.ts';
import type { Environment } from './profiles.ts';

/** Attempts at the terminal. */
const attempts = 3;

export async function loadAgeIdentities(file: string, environment: Environment): Promise<string[]> {
  const bytes = readFile(file);
  const given = environment.EFS_AGE_PASSPHRASE || undefined;
  try {
    return await readIdentityFile(bytes, given);
  } catch (error) {
    if (isStorageError(error, 'PassphraseNeeded')) return asked(file, bytes);
    if (isStorageError(error, 'InvalidArgument')) throw new UsageError(`${file}: ${error.message}`);
    if (!isStorageError(error, 'WrongPassphrase')) throw error;
    throw new UsageError(`The passphrase of EFS_AGE_PASSPHRASE does not open ${file}.`);
  }
}

function readFile(file: string): Uint8Array {
  try {
    if (statSync(file).size <= identityFileBytesMax) return readFileSync(file);
  } catch (error) {
    throw new UsageError(`The age identities cannot be read: ${(error as Error).message}`);
  }
  throw new UsageError(`${file} is too large to be a file of age identities.`);
}

async function asked(file: string, bytes: Uint8Array): Promise<string[]> {
  if (!hasTerminal()) {
    throw new UsageError(
      `The age identities in ${file} are encrypted, and there is no terminal to ask for their ` +
        'passphrase: set EFS_AGE_PASSPHRASE.',
    );
  }
  for (let attempt = 1; attempt <= attempts; attempt++) {
    const passphrase = await askHidden(`Passphrase of the age identities in ${file}: `);
    try {
      return await readIdentityFile(bytes, passphrase);
    } catch (error) {
      if (!isStorageError(error, 'WrongPassphrase')) throw error;
      process.stderr.write('Wrong passphrase.\n');
    }
  }
  throw new UsageError(`${file} was not decrypted: none of the passphrases was right.`);
}
