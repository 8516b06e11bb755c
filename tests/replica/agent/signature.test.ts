import type { KeyObject } from 'node:crypto';
import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import { encode } from 'cborg';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { verifySignature } from '../../../packages/replica/src/agent/signature.ts';
import { createCertification } from '../../../packages/replica/src/state/certification.ts';
import { encodeSelfDescribed } from '../../../packages/replica/src/state/self-described-cbor.ts';
import { canisterKey, canisterSignature, signatureTree, wrappedKey } from './canister-key.ts';
import { canisterId, createPlainEngine } from './plain-engine.ts';
import { createKey, signMessage } from './signed-request.ts';

const engine = createPlainEngine();
const certification = createCertification({ rootSecret: undefined, engine: () => engine });
const rootKey = certification.rootKey();
const message = Buffer.from('\x0Aic-request and a hash');
const other = Buffer.from('another message');

describe('verifySignature() of a canister signature', () => {
  const seed = Buffer.from('a seed');
  const publicKey = canisterKey(canisterId, seed);
  const tree = signatureTree(seed, message);
  engine.certifiedData = tree.hash;
  const certificate = certification.dataCertificate(canisterId);
  const signature = canisterSignature(tree, certificate);

  it('accepts what the canister has certified, only for this message and seed', () => {
    expect(verifySignature({ publicKey, message, signature, rootKey })).toBe(true);
    expect(verifySignature({ publicKey, message: other, signature, rootKey })).toBe(false);
    const otherKey = canisterKey(canisterId, Buffer.from('b seed'));
    expect(verifySignature({ publicKey: otherKey, message, signature, rootKey })).toBe(false);
  });

  it('refuses trees that are not certified and certificates of other roots', () => {
    const forged = canisterSignature(signatureTree(seed, other), certificate);
    expect(verifySignature({ publicKey, message: other, signature: forged, rootKey })).toBe(false);
    const stranger = createCertification({ rootSecret: undefined, engine: () => engine });
    const foreign = canisterSignature(tree, stranger.dataCertificate(canisterId));
    expect(verifySignature({ publicKey, message, signature: foreign, rootKey })).toBe(false);
  });
});

function coseKey(key: KeyObject): Uint8Array {
  const jwk = key.export({ format: 'jwk' });
  const part = (name: 'x' | 'y' | 'n' | 'e') => Buffer.from(jwk[name] ?? '', 'base64url');
  const fields: [number, number | Uint8Array][] =
    jwk.kty === 'EC'
      ? [
          [1, 2],
          [3, -7],
          [-1, 1],
          [-2, part('x')],
          [-3, part('y')],
        ]
      : jwk.kty === 'OKP'
        ? [
            [1, 1],
            [3, -8],
            [-1, 6],
            [-2, part('x')],
          ]
        : [
            [1, 3],
            [3, -257],
            [-1, part('n')],
            [-2, part('e')],
          ];
  return encode(new Map(fields));
}

/** Creates a signature as an authenticator and a browser do. */
function webAuthnSignature(key: KeyObject, type = 'webauthn.get'): Uint8Array {
  const challenge = message.toString('base64url');
  const clientData = JSON.stringify({ type, challenge, origin: 'http://localhost' });
  const authenticatorData = Buffer.alloc(37, 5);
  const hash = createHash('sha256').update(clientData).digest();
  const algorithm = key.asymmetricKeyType === 'ed25519' ? null : 'sha256';
  return encodeSelfDescribed({
    authenticator_data: authenticatorData,
    client_data_json: clientData,
    signature: sign(algorithm, Buffer.concat([authenticatorData, hash]), key),
  });
}

describe('verifySignature() of a WebAuthn signature', () => {
  it.each([
    ['ES256', generateKeyPairSync('ec', { namedCurve: 'P-256' })],
    ['EdDSA', generateKeyPairSync('ed25519')],
    ['RS256', generateKeyPairSync('rsa', { modulusLength: 2_048 })],
  ] as const)('by %s accepts only its own challenge', (_, pair) => {
    const publicKey = wrappedKey(1, coseKey(pair.publicKey));
    const signature = webAuthnSignature(pair.privateKey);
    expect(verifySignature({ publicKey, message, signature, rootKey })).toBe(true);
    expect(verifySignature({ publicKey, message: other, signature, rootKey })).toBe(false);
    const created = webAuthnSignature(pair.privateKey, 'webauthn.create');
    expect(verifySignature({ publicKey, message, signature: created, rootKey })).toBe(false);
  });
});

describe('verifySignature() of garbage', () => {
  const keys = [
    canisterKey(canisterId, message),
    wrappedKey(2, new Uint8Array()),
    wrappedKey(1, new Uint8Array(3)),
    wrappedKey(1, coseKey(generateKeyPairSync('ed25519').publicKey)),
    createKey('P-256').der,
    createKey('ed25519').der,
  ];

  it('returns false for any bytes as a signature', () => {
    fc.assert(
      fc.property(fc.constantFrom(...keys), fc.uint8Array(), (publicKey, signature) => {
        expect(verifySignature({ publicKey, message, signature, rootKey })).toBe(false);
      }),
    );
  });

  it('throws only a bad-request error for changed keys', () => {
    const signature = signMessage(createKey('ed25519'), message);
    const place = fc.record({ index: fc.nat(90), value: fc.nat(255), length: fc.nat(100) });
    fc.assert(
      fc.property(fc.constantFrom(...keys), place, (key, { index, value, length }) => {
        const publicKey = key.slice(0, length);
        publicKey[index] = value;
        try {
          expect(verifySignature({ publicKey, message, signature, rootKey })).toBe(false);
        } catch (error) {
          expect(error).toMatchObject({ name: 'AgentRequestError', status: 400 });
        }
      }),
    );
  });
});
