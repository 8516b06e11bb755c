// Compares with the official client: both derive the same key from the same reply of vetKD.

import { Principal } from '@dfinity/principal';
import { DerivedPublicKey, EncryptedVetKey, TransportSecretKey } from '@dfinity/vetkeys';
import { bls12_381 } from '@noble/curves/bls12-381';
import { beforeAll, describe, expect, test } from 'vitest';
import { createVetKeys } from '../../packages/replica/src/management/vetkd.ts';
import { decodeG1, encodeG1, g1Generator, g1Order } from '../../src/crypto/bls12-381-g1.ts';
import {
  decryptVetKey,
  deriveSymmetricKey,
  transportPublicKey,
  transportSecretBytes,
} from '../../src/crypto/vetkd.ts';
import { isVetKey } from '../../src/crypto/vetkd-verification.ts';
import { installUtf8Encoder } from '../../src/lib/text.ts';
import { installNodeKernel } from '../support/kernel-host.ts';

const { Fr } = bls12_381.fields;
const G1 = bls12_381.G1.Point;
const vetKeys = createVetKeys(new Uint8Array(32).fill(7));
const canisterId = Principal.fromText('rrkah-fqaaa-aaaaa-aaaaq-cai').toUint8Array();
const context = new TextEncoder().encode('file keys');
const input = new TextEncoder().encode('root key 1');
const path = { keyName: 'key_1', canisterId, context };
const derivedPublicKey = vetKeys.publicKey(path);

beforeAll(async () => {
  installUtf8Encoder((text) => new TextEncoder().encode(text));
  await installNodeKernel({ misalignment: 3 });
});

function randomSecret(): Uint8Array {
  return crypto.getRandomValues(new Uint8Array(transportSecretBytes));
}

/** Returns the secret in the official client's form: reduced, 32 bytes, big-endian. */
function officialSecret(secret: Uint8Array): TransportSecretKey {
  const scalar = Fr.create(BigInt(`0x${Buffer.from(secret).toString('hex')}`));
  const bytes = Buffer.from(scalar.toString(16).padStart(64, '0'), 'hex');
  return TransportSecretKey.deserialize(new Uint8Array(bytes));
}

function encryptedFor(secret: Uint8Array): Uint8Array {
  const random = crypto.getRandomValues(new Uint8Array(32));
  const request = { ...path, input, transportPublicKey: transportPublicKey(secret), random };
  const encrypted = vetKeys.encryptedKey(request);
  if (encrypted === undefined) throw new Error('the transport key was refused');
  return encrypted;
}

describe('decryptVetKey()', () => {
  test('returns the key that the official client decrypts and verifies', () => {
    const publicKey = DerivedPublicKey.deserialize(derivedPublicKey);
    for (let round = 0; round < 5; round++) {
      const secret = randomSecret();
      const official = officialSecret(secret);
      expect(transportPublicKey(secret)).toEqual(official.publicKeyBytes());
      const encrypted = encryptedFor(secret);
      const expected = EncryptedVetKey.deserialize(encrypted);
      const key = expected.decryptAndVerify(official, publicKey, input);
      const vetKey = decryptVetKey(encrypted, secret) ?? new Uint8Array(0);
      expect(vetKey).toEqual(key.signatureBytes());
      expect(deriveSymmetricKey(vetKey, 'a purpose')).toEqual(
        key.deriveSymmetricKey('a purpose', 32),
      );
    }
  });

  test('returns another key for another transport secret', () => {
    const secret = randomSecret();
    const encrypted = encryptedFor(secret);
    expect(decryptVetKey(encrypted, randomSecret())).not.toEqual(decryptVetKey(encrypted, secret));
  });

  test('returns undefined for an invalid encrypted key', () => {
    const secret = randomSecret();
    const encrypted = encryptedFor(secret);
    const withFirst = (byte: number) => Uint8Array.of(byte, ...encrypted.subarray(1));
    const infinity = G1.ZERO.toBytes(true);
    const beyondField = new Uint8Array(48).fill(0xff);
    beyondField[0] = 0x9f;
    const malformed = [
      new Uint8Array(0),
      encrypted.subarray(1),
      new Uint8Array([...encrypted, 0]),
      new Uint8Array(192),
      withFirst((encrypted[0] ?? 0) & 0x7f),
      new Uint8Array([...infinity, ...encrypted.subarray(48)]),
      new Uint8Array([...encrypted.subarray(0, 144), ...infinity]),
      new Uint8Array([...beyondField, ...encrypted.subarray(48)]),
      // x = 1 has no y: 1 + 4 is not a square.
      new Uint8Array([0x80, ...new Array(46).fill(0), 1, ...encrypted.subarray(48)]),
    ];
    for (const bytes of malformed) {
      expect(decryptVetKey(bytes, secret)).toBeUndefined();
    }
  });

  test('refuses a secret of another length, and 0', () => {
    expect(() => transportPublicKey(new Uint8Array(32).fill(1))).toThrow(/64 bytes/);
    expect(() => transportPublicKey(new Uint8Array(64))).toThrow(/not 0/);
  });
});

describe('isVetKey()', () => {
  const secret = randomSecret();
  const vetKey = () => decryptVetKey(encryptedFor(secret), secret) ?? new Uint8Array(0);

  test('accepts the requested key', () => {
    expect(isVetKey({ vetKey: vetKey(), derivedPublicKey, input })).toBe(true);
  });

  test('refuses a key of another input, context, canister or key name', () => {
    const claim = { vetKey: vetKey(), derivedPublicKey, input };
    const publicKey = (other: object) => vetKeys.publicKey({ ...path, ...other });
    expect(isVetKey({ ...claim, input: context })).toBe(false);
    for (const other of [
      { context: input },
      { canisterId: Uint8Array.of(4) },
      { keyName: 'test_key_1' },
    ]) {
      expect(isVetKey({ ...claim, derivedPublicKey: publicKey(other) })).toBe(false);
    }
  });

  test('refuses other points, the neutral point and bytes that are no point', () => {
    for (const wrong of [
      G1.BASE.toBytes(true),
      G1.ZERO.toBytes(true),
      new Uint8Array(48),
      new Uint8Array(0),
    ]) {
      expect(isVetKey({ vetKey: wrong, derivedPublicKey, input })).toBe(false);
    }
    const flipped = vetKey();
    flipped[0] = (flipped[0] ?? 0) ^ 0x20;
    expect(isVetKey({ vetKey: flipped, derivedPublicKey, input })).toBe(false);
  });
});

describe('decryptVetKey(): points of G1', () => {
  test('are read and written as by a library for the whole curve', () => {
    for (const factor of [1n, 2n, 3n, 7n, g1Order - 1n, g1Order - 2n]) {
      const expected = G1.BASE.multiply(factor).toBytes(true);
      expect(encodeG1(g1Generator.multiply(factor))).toEqual(expected);
      const decoded = decodeG1(expected);
      expect(decoded && encodeG1(decoded)).toEqual(expected);
    }
  });
});
