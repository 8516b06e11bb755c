// Loads the identity of a run. A passphrase comes from the environment, a file or the terminal.

import { readFileSync } from 'node:fs';
import { decryptDfxIdentity } from '../../../client/src/node/dfx-identity.ts';
import { identityFromPem, type PemIdentity } from '../../../client/src/node/identity.ts';
import { isStorageError } from '../../../client/src/storage-error.ts';
import { UsageError } from '../output/usage-error.ts';
import { findIdentity, type StoredIdentity } from './identity-stores.ts';
import { askHidden, hasTerminal, readSecretFile } from './passphrase.ts';
import type { Environment } from './profiles.ts';

export interface LoadedIdentity {
  readonly identity: PemIdentity;
  /** Undefined for the identity of a local replica. */
  readonly stored: StoredIdentity | undefined;
}

/** An identity by path or name, which has priority, or as PEM. */
interface Named {
  readonly identity: string | undefined;
  readonly identityPem: string | undefined;
  readonly passphraseFile: string | undefined;
  readonly environment: Environment;
}

/** Attempts at the terminal. */
const attempts = 3;

export async function loadIdentity(configuration: Named): Promise<LoadedIdentity> {
  const { identity: text, identityPem = '', environment } = configuration;
  if (text === undefined) return { identity: identityFromPem(identityPem), stored: undefined };
  const stored = findIdentity(text, environment);
  const bytes = readKeyFile(stored);
  const open = (passphrase: string | undefined) => openIdentity(stored, bytes, passphrase);
  const given = givenPassphrase(configuration);
  try {
    return { identity: open(given), stored };
  } catch (error) {
    if (!isStorageError(error)) throw error;
    if (error.code === 'PassphraseNeeded') return { identity: await asked(text, open), stored };
    if (error.code !== 'WrongPassphrase') throw error;
    throw new UsageError(
      `The given passphrase does not decrypt identity ${text}: check EFS_IDENTITY_PASSPHRASE ` +
        'or --identity-passphrase-file.',
    );
  }
}

function givenPassphrase({ passphraseFile, environment }: Named): string | undefined {
  if (passphraseFile !== undefined) return readSecretFile(passphraseFile);
  return environment.EFS_IDENTITY_PASSPHRASE || undefined;
}

function readKeyFile({ name, file }: StoredIdentity): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    throw new UsageError(`The identity ${name} cannot be read: ${(error as Error).message}`);
  }
}

function openIdentity(
  { encryption }: StoredIdentity,
  bytes: Buffer,
  passphrase: string | undefined,
): PemIdentity {
  if (encryption === undefined) return identityFromPem(bytes.toString(), passphrase);
  return identityFromPem(decryptDfxIdentity(bytes, encryption, passphrase));
}

async function asked(
  name: string,
  open: (passphrase: string) => PemIdentity,
): Promise<PemIdentity> {
  if (!hasTerminal()) {
    throw new UsageError(
      `The identity ${name} is encrypted, and there is no terminal to ask for its passphrase: set ` +
        'EFS_IDENTITY_PASSPHRASE, or give --identity-passphrase-file.',
    );
  }
  for (let attempt = 1; attempt <= attempts; attempt++) {
    const passphrase = await askHidden(`Passphrase of identity ${name}: `);
    try {
      return open(passphrase);
    } catch (error) {
      if (!isStorageError(error, 'WrongPassphrase')) throw error;
      process.stderr.write('Wrong passphrase.\n');
    }
  }
  throw new UsageError(
    `The identity ${name} was not decrypted: none of the passphrases was right.`,
  );
}
