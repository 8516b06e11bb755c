// Private keys in PEM, in all the ways in which tools write them: PKCS #8 (RFC 5958), SEC 1
// (RFC 5915), either of them encrypted. OpenSSL reads most; the rest is read here.

import { createECDH, createPrivateKey, type KeyObject } from 'node:crypto';
import { StorageError } from '../storage-error.ts';
import { type DerItem, derTags, readDer, readSequence, shortItem } from './der.ts';
import { decryptScrypt, usesScrypt } from './scrypt-key.ts';

const labels = ['PRIVATE KEY', 'ENCRYPTED PRIVATE KEY', 'EC PRIVATE KEY'] as const;

interface PemBlock {
  readonly label: string;
  readonly text: string;
  /** What its base64 stands for; of an old encrypted one nothing that can be used. */
  readonly bytes: Uint8Array;
  readonly isEncrypted: boolean;
}

/**
 * The private key of a PEM file. Throws PassphraseNeeded, WrongPassphrase, or InvalidArgument for
 * what is no private key.
 */
export function readPrivateKey(pem: string, passphrase?: string): KeyObject {
  const block = findKey(pem);
  if (block === undefined) {
    throw new StorageError('InvalidArgument', 'The identity is no private key in PEM.');
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
      'The identity is a private key in PEM, but it cannot be read: it is damaged, or of a kind ' +
        'that is not known here.',
      { cause },
    );
  }
}

/** The caller may ask for it, and try again. */
export function passphraseNeeded(): StorageError {
  return new StorageError('PassphraseNeeded', 'The identity is encrypted: it needs a passphrase.');
}

export function wrongPassphrase(cause?: unknown): StorageError {
  return new StorageError('WrongPassphrase', 'The passphrase is not that of the identity.', {
    cause,
  });
}

/** What comes of a wrong key has no right padding, or by chance one, and is then no key. */
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
    // OpenSSL's own limit of memory is a quarter of what icp-cli's parameters take.
    return readPkcs8(decryptScrypt(block.bytes, passphrase));
  }
  return createPrivateKey({ key: block.text, passphrase });
}

function readPlain(block: PemBlock, curve: Curve | undefined): KeyObject {
  return block.label === 'PRIVATE KEY' ? readPkcs8(block.bytes) : readSec1(block, curve);
}

/** Version 2 has the public key behind the private one, which OpenSSL 3.0 does not read. */
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

/** In a block of its own before the key, as dfx once wrote it. */
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

/**
 * dfx leaves out which curve the key is on: its public key tells, the block before it, or that
 * dfx's keys are secp256k1.
 */
function readSec1(block: PemBlock, named: Curve | undefined): KeyObject {
  const [, secret, ...others] = readSequence(block.bytes);
  if (others.some(({ tag }) => tag === parametersTag)) return createPrivateKey(block.text);
  if (secret?.tag !== derTags.octets) throw new RangeError('No SEC 1');
  const publicPart = others.find(({ tag }) => tag === publicKeyTag);
  const curves: Curve[] = named === undefined ? ['secp256k1', 'prime256v1'] : [named];
  const key = curves
    .map((curve) => ({ curve, point: pointOf(curve, secret.contents) }))
    .find(({ point }) => publicPart === undefined || endsWith(publicPart.contents, point));
  if (key === undefined) throw new RangeError('The public key is not that of the private one.');
  const jwk = {
    kty: 'EC',
    crv: key.curve === 'secp256k1' ? 'secp256k1' : 'P-256',
    d: Buffer.from(secret.contents).toString('base64url'),
    x: key.point.subarray(1, 33).toString('base64url'),
    y: key.point.subarray(33).toString('base64url'),
  };
  return createPrivateKey({ key: jwk, format: 'jwk' });
}

/** Uncompressed: 4, x, y. */
function pointOf(curve: Curve, secret: Uint8Array): Buffer {
  const ecdh = createECDH(curve);
  ecdh.setPrivateKey(secret);
  return ecdh.getPublicKey();
}

/** A public key may be compressed: then x alone is there to compare. */
function endsWith(publicPart: Uint8Array, point: Buffer): boolean {
  const known = Buffer.from(publicPart);
  const isWhole = known.length > point.length;
  return known.includes(isWhole ? point : point.subarray(1, 33));
}
