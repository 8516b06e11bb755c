// Reads private keys in PEM in the formats that tools write: PKCS #8 (RFC 5958) and SEC 1 (RFC
// 5915), plain or encrypted. OpenSSL reads most of them; this file reads the rest.

import { createECDH, createPrivateKey, type KeyObject } from 'node:crypto';
import { StorageError } from '../storage-error.ts';
import { type DerItem, derTags, readDer, readSequence, shortItem } from './der.ts';
import { decryptScrypt, usesScrypt } from './scrypt-key.ts';

const labels = ['PRIVATE KEY', 'ENCRYPTED PRIVATE KEY', 'EC PRIVATE KEY'] as const;

interface PemBlock {
  readonly label: string;
  readonly text: string;
  /** The decoded base64; empty for the old encrypted format. */
  readonly bytes: Uint8Array;
  readonly isEncrypted: boolean;
}

/** Returns a PEM's private key; throws PassphraseNeeded, WrongPassphrase or InvalidArgument. */
export function readPrivateKey(pem: string, passphrase?: string): KeyObject {
  const block = findKey(pem);
  if (block === undefined) {
    throw new StorageError('InvalidArgument', 'The identity is not a private key in PEM.');
  }
  if (block.isEncrypted && passphrase === undefined) throw passphraseNeeded();
  try {
    return block.isEncrypted
      ? readEncrypted(block, passphrase ?? '')
      : readPlain(block, curveNamed(pem));
  } catch (cause) {
    if (cause instanceof StorageError) throw cause;
    if (block.isEncrypted && isWrongPassphrase(cause)) throw wrongPassphrase(cause);
    throw new StorageError(
      'InvalidArgument',
      'The identity is a private key in PEM, but it cannot be read: it is damaged or of an ' +
        'unsupported kind.',
      { cause },
    );
  }
}

/** The caller can prompt for the passphrase and try again. */
export function passphraseNeeded(): StorageError {
  return new StorageError('PassphraseNeeded', 'The identity is encrypted; give its passphrase.');
}

export function wrongPassphrase(cause?: unknown): StorageError {
  return new StorageError('WrongPassphrase', 'The passphrase of the identity is wrong.', {
    cause,
  });
}

/** A wrong key gives wrong padding, or right padding by chance and then no valid key. */
function isWrongPassphrase(error: unknown): boolean {
  const { code } = error as { readonly code?: unknown };
  return String(code).startsWith('ERR_OSSL') || error instanceof RangeError;
}

function findKey(pem: string): PemBlock | undefined {
  for (const label of labels) {
    const head = `-----BEGIN ${label}-----`;
    const end = `-----END ${label}-----`;
    const start = pem.indexOf(head);
    const stop = pem.indexOf(end, start);
    if (start === -1 || stop === -1) continue;
    const body = pem.slice(start + head.length, stop);
    const isOldEncrypted = body.includes('Proc-Type: 4,ENCRYPTED');
    return {
      label,
      text: `${pem.slice(start, stop)}${end}\n`,
      bytes: Buffer.from(isOldEncrypted ? '' : body, 'base64'),
      isEncrypted: isOldEncrypted || label === 'ENCRYPTED PRIVATE KEY',
    };
  }
  return undefined;
}

function readEncrypted(block: PemBlock, passphrase: string): KeyObject {
  if (block.label === 'ENCRYPTED PRIVATE KEY' && usesScrypt(block.bytes)) {
    // icp-cli's parameters need four times OpenSSL's memory limit.
    return readPkcs8(decryptScrypt(block.bytes, passphrase));
  }
  return createPrivateKey({ key: block.text, passphrase });
}

function readPlain(block: PemBlock, curve: Curve | undefined): KeyObject {
  return block.label === 'PRIVATE KEY' ? readPkcs8(block.bytes) : readSec1(block, curve);
}

/** Converts version 2 (with the public key), which OpenSSL 3.0 cannot read, to version 1. */
function readPkcs8(der: Uint8Array): KeyObject {
  const [, algorithm, key] = readSequence(der);
  if (algorithm === undefined || key === undefined) throw new RangeError('No PKCS #8');
  const isShort = algorithm.bytes.length + key.bytes.length < 120;
  const version1 = shortItem(derTags.integer, Uint8Array.of(0));
  const first = isShort ? shortItem(derTags.sequence, version1, algorithm.bytes, key.bytes) : der;
  return createPrivateKey({ key: Buffer.from(first), format: 'der', type: 'pkcs8' });
}

type Curve = 'secp256k1' | 'prime256v1';

/** OIDs 1.3.132.0.10 and 1.2.840.10045.3.1.7. */
const curveOids: Readonly<Record<Curve, string>> = {
  secp256k1: '2b8104000a',
  prime256v1: '2a8648ce3d030107',
};

/** Reads the curve from a separate block before the key, as dfx once wrote it. */
function curveNamed(pem: string): Curve | undefined {
  const head = '-----BEGIN EC PARAMETERS-----';
  const start = pem.indexOf(head);
  const stop = pem.indexOf('-----END EC PARAMETERS-----', start);
  if (start === -1 || stop === -1) return undefined;
  const [item] = readDer(Buffer.from(pem.slice(start + head.length, stop), 'base64'));
  return item && curveOf(item);
}

function curveOf({ tag, contents }: DerItem): Curve | undefined {
  const oid = Buffer.from(contents).toString('hex');
  const curves = Object.keys(curveOids) as Curve[];
  return tag === derTags.oid ? curves.find((curve) => curveOids[curve] === oid) : undefined;
}

const parametersTag = 0xa0;
const publicKeyTag = 0xa1;

/** dfx's keys name no curve: the public key, the block before, or the default secp256k1 decides. */
function readSec1(block: PemBlock, named: Curve | undefined): KeyObject {
  const [, secret, ...others] = readSequence(block.bytes);
  if (others.some(({ tag }) => tag === parametersTag)) return createPrivateKey(block.text);
  if (secret?.tag !== derTags.octets) throw new RangeError('No SEC 1');
  const publicPart = others.find(({ tag }) => tag === publicKeyTag);
  const curves: Curve[] = named === undefined ? ['secp256k1', 'prime256v1'] : [named];
  const key = curves
    .map((curve) => ({ curve, point: pointOf(curve, secret.contents) }))
    .find(({ point }) => publicPart === undefined || endsWith(publicPart.contents, point));
  if (key === undefined) throw new RangeError('The public key does not match the private key.');
  const jwk = {
    kty: 'EC',
    crv: key.curve === 'secp256k1' ? 'secp256k1' : 'P-256',
    d: Buffer.from(secret.contents).toString('base64url'),
    x: key.point.subarray(1, 33).toString('base64url'),
    y: key.point.subarray(33).toString('base64url'),
  };
  return createPrivateKey({ key: jwk, format: 'jwk' });
}

/** Returns the uncompressed public point: 4, x, y. */
function pointOf(curve: Curve, secret: Uint8Array): Buffer {
  const ecdh = createECDH(curve);
  ecdh.setPrivateKey(secret);
  return ecdh.getPublicKey();
}

/** A compressed public key has only x to compare. */
function endsWith(publicPart: Uint8Array, point: Buffer): boolean {
  const known = Buffer.from(publicPart);
  const isWhole = known.length > point.length;
  return known.includes(isWhole ? point : point.subarray(1, 33));
}
