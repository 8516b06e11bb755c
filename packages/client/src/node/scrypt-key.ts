// Decrypts PKCS #8 that is encrypted by AES-256-CBC with a key from scrypt: RFC 7914 §7, RFC 8018
// §6.2. icp-cli writes identities so, with 128 MiB for scrypt, more than OpenSSL accepts.

import { createDecipheriv, scryptSync } from 'node:crypto';
import { StorageError } from '../storage-error.ts';
import { type DerItem, readSequence } from './der.ts';

/** 1.3.6.1.4.1.11591.4.11 and 2.16.840.1.101.3.4.1.42. */
const scryptOid = '2b06010401da47040b';
const aes256CbcOid = '60864801650304012a';
/** Memory limit for untrusted files: four times icp-cli's parameters. */
const memoryBytesMax = 512 * 1_024 * 1_024;

interface Encrypted {
  readonly kdf: readonly DerItem[];
  readonly cipher: readonly DerItem[];
  readonly bytes: Uint8Array;
}

export function usesScrypt(der: Uint8Array): boolean {
  try {
    return hex(readEncrypted(der).kdf[0]) === scryptOid;
  } catch {
    return false;
  }
}

/** Returns the decrypted PKCS #8. */
export function decryptScrypt(der: Uint8Array, passphrase: string): Uint8Array {
  const { kdf, cipher, bytes } = readEncrypted(der);
  if (hex(cipher[0]) !== aes256CbcOid) {
    throw new StorageError(
      'InvalidArgument',
      "The identity's cipher is not supported; use AES-256-CBC.",
    );
  }
  const [salt, cost, blockSize, parallelization] = readSequence(partOf(kdf[1]).bytes);
  const [N, r, p] = [numberOf(cost), numberOf(blockSize), numberOf(parallelization)];
  if (128 * N * r * p > memoryBytesMax) {
    throw new StorageError(
      'InvalidArgument',
      'Decrypting the identity would take too much memory.',
    );
  }
  const options = { N, r, p, maxmem: 2 * memoryBytesMax };
  const key = scryptSync(passphrase, partOf(salt).contents, 32, options);
  const decipher = createDecipheriv('aes-256-cbc', key, partOf(cipher[1]).contents);
  return Buffer.concat([decipher.update(bytes), decipher.final()]);
}

function readEncrypted(der: Uint8Array): Encrypted {
  const [algorithm, data] = readSequence(der);
  const [, parameters] = readSequence(partOf(algorithm).bytes);
  const [kdf, cipher] = readSequence(partOf(parameters).bytes);
  return {
    kdf: readSequence(partOf(kdf).bytes),
    cipher: readSequence(partOf(cipher).bytes),
    bytes: partOf(data).contents,
  };
}

function partOf(item: DerItem | undefined): DerItem {
  if (item === undefined) throw new RangeError('DER: an item is missing.');
  return item;
}

function numberOf(item: DerItem | undefined): number {
  return Number(`0x${hex(partOf(item))}`);
}

function hex(item: DerItem | undefined): string {
  return Buffer.from(partOf(item).contents).toString('hex');
}
