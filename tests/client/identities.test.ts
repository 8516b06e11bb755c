// Identities in the formats of tools: each has the principal that the agent's own library computes
// for the same key. identity-command.test.ts signs calls with them.

import { createECDH, generateKeyPairSync, type KeyObject, verify } from 'node:crypto';
import { Ed25519KeyIdentity } from '@icp-sdk/core/identity';
import { Secp256k1KeyIdentity } from '@icp-sdk/core/identity/secp256k1';
import { describe, expect, test } from 'vitest';
import { identityFromPem } from '../../packages/client/src/node/identity.ts';
import {
  asSec1WithoutCurve,
  asVersion2,
  encryptedAsIcpCli,
  newKey,
  pemOf,
} from './identity-files.ts';

const passphrase = 'open sesame';
const encrypted = { cipher: 'aes-256-cbc', passphrase };

function secretOf(key: KeyObject): Uint8Array {
  return new Uint8Array(Buffer.from(key.export({ format: 'jwk' }).d ?? '', 'base64url'));
}

describe('identityFromPem(): a secp256k1 key', () => {
  const key = newKey('secp256k1');
  const principal = Secp256k1KeyIdentity.fromSecretKey(secretOf(key)).getPrincipal().toText();
  const sec1 = pemOf(key, 'sec1');
  const parameters = '-----BEGIN EC PARAMETERS-----\nBgUrgQQACg==\n-----END EC PARAMETERS-----\n';

  test.each([
    ['SEC 1', sec1],
    ['SEC 1 after a block with its curve', parameters + sec1],
    ['SEC 1 with the line ends of Windows', sec1.replaceAll('\n', '\r\n')],
    ['SEC 1 that does not name its curve', asSec1WithoutCurve(key)],
    ['SEC 1 with its curve only in a block before', parameters + asSec1WithoutCurve(key)],
    ['PKCS #8', pemOf(key, 'pkcs8')],
  ])('in %s has the principal that the agent computes', (_, pem) => {
    const identity = identityFromPem(pem);
    expect(identity.kind).toBe('secp256k1');
    expect(identity.getPrincipal().toText()).toBe(principal);
  });

  test.each([
    ['PKCS #8', pemOf(key, 'pkcs8', encrypted)],
    ['SEC 1 in the legacy encryption of OpenSSL', pemOf(key, 'sec1', encrypted)],
    ['PKCS #8 as icp-cli encrypts it', encryptedAsIcpCli(key, passphrase)],
  ])('encrypted in %s needs its passphrase', (_, pem) => {
    expect(identityFromPem(pem, passphrase).getPrincipal().toText()).toBe(principal);
    expect(() => identityFromPem(pem)).toThrow(
      expect.objectContaining({ code: 'PassphraseNeeded' }),
    );
    expect(() => identityFromPem(pem, 'wrong')).toThrow(
      expect.objectContaining({ code: 'WrongPassphrase' }),
    );
  });

  test('signs with a low s', async () => {
    const identity = identityFromPem(sec1);
    const halfOrder = '7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0';
    for (let round = 0; round < 16; round++) {
      const message = Buffer.from(`message ${round}`);
      const signature = await identity.sign(message);
      expect(Buffer.from(signature.subarray(32)).toString('hex') <= halfOrder).toBe(true);
      const check = { key, dsaEncoding: 'ieee-p1363' } as const;
      expect(verify('sha256', message, check, signature)).toBe(true);
    }
  });
});

test('identityFromPem() reads an Ed25519 key, also of version 2 of PKCS #8', () => {
  const key = newKey('ed25519');
  const principal = Ed25519KeyIdentity.fromSecretKey(secretOf(key)).getPrincipal().toText();
  for (const pem of [pemOf(key, 'pkcs8'), asVersion2(key)]) {
    const identity = identityFromPem(pem);
    expect([identity.kind, identity.getPrincipal().toText()]).toEqual(['Ed25519', principal]);
  }
  const identity = identityFromPem(pemOf(key, 'pkcs8', encrypted), passphrase);
  expect(identity.getPrincipal().toText()).toBe(principal);
});

test('identityFromPem() reads a P-256 key, also one that does not name its curve', () => {
  const key = newKey('prime256v1');
  const whole = identityFromPem(pemOf(key, 'pkcs8'));
  const short = identityFromPem(asSec1WithoutCurve(key));
  expect([whole.kind, short.kind]).toEqual(['P-256', 'P-256']);
  expect(short.getPrincipal().toText()).toBe(whole.getPrincipal().toText());
});

describe('identityFromPem() refuses', () => {
  const code = 'InvalidArgument';
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2_048 }).privateKey;
  const p384 = newKey('secp384r1');
  const otherPoint = createECDH('secp256k1').generateKeys();
  const cases: [string, string, string][] = [
    ['no PEM', 'hello', 'not a private key in PEM'],
    ['a public key', '-----BEGIN PUBLIC KEY-----\n-----END PUBLIC KEY-----', 'not a private key'],
    [
      'bytes that are not a key',
      '-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----',
      'damaged',
    ],
    ['an RSA key', pemOf(rsa, 'pkcs8'), 'Keys of kind rsa'],
    ['a key of another curve', pemOf(p384, 'pkcs8'), 'Keys of kind secp384r1'],
    ['a wrong public key', asSec1WithoutCurve(newKey('secp256k1'), otherPoint), 'damaged'],
  ];
  test.each(cases)('%s', (_, pem, words) => {
    expect(() => identityFromPem(pem)).toThrow(
      expect.objectContaining({ code, message: expect.stringContaining(words) }),
    );
  });
});
