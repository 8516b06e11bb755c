// Verifies signatures by the authenticators of browsers. IC spec, "Web Authentication"; RFC 9052 §7
// and RFC 9053 §2 (COSE keys); WebAuthn level 2 §6.5.5, §7.2.

import type { JsonWebKey, KeyObject } from 'node:crypto';
import { createHash, createPublicKey, verify } from 'node:crypto';
import { decode } from 'cborg';
import { decodeSelfDescribed } from '../state/self-described-cbor.ts';

/** COSE algorithm identifiers. */
const es256 = -7;
const eddsa = -8;
const rs256 = -257;

interface CoseKey {
  readonly algorithm: typeof es256 | typeof eddsa | typeof rs256;
  readonly key: KeyObject;
}

function base64Url(value: unknown): string {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64url');
  throw new Error('Malformed COSE key');
}

function parseCoseKey(bytes: Uint8Array): CoseKey {
  const fields: unknown = decode(bytes, { useMaps: true });
  if (!(fields instanceof Map)) throw new Error('Malformed COSE key');
  const algorithm: unknown = fields.get(3);
  const keyOf = (jwk: JsonWebKey): KeyObject => createPublicKey({ key: jwk, format: 'jwk' });
  const x = fields.get(-2);
  if (algorithm === es256) {
    const key = keyOf({ kty: 'EC', crv: 'P-256', x: base64Url(x), y: base64Url(fields.get(-3)) });
    return { algorithm, key };
  }
  if (algorithm === eddsa) {
    return { algorithm, key: keyOf({ kty: 'OKP', crv: 'Ed25519', x: base64Url(x) }) };
  }
  if (algorithm === rs256) {
    const key = keyOf({ kty: 'RSA', n: base64Url(fields.get(-1)), e: base64Url(x) });
    return { algorithm, key };
  }
  throw new Error('Unknown COSE algorithm');
}

/** Returns whether the browser was asked to sign exactly this message. */
function isChallenge(clientData: Buffer, message: Uint8Array): boolean {
  const parsed: unknown = JSON.parse(clientData.toString());
  if (typeof parsed !== 'object' || parsed === null) return false;
  const { type, challenge } = parsed as { type?: unknown; challenge?: unknown };
  return type === 'webauthn.get' && challenge === Buffer.from(message).toString('base64url');
}

/** @param options.rawKey a COSE key. Returns false for malformed keys and signatures. */
export function verifyWebAuthnSignature(options: {
  readonly rawKey: Uint8Array;
  readonly message: Uint8Array;
  readonly signature: Uint8Array;
}): boolean {
  try {
    const { algorithm, key } = parseCoseKey(options.rawKey);
    const fields = decodeSelfDescribed(options.signature);
    if (!(fields instanceof Map)) return false;
    const authenticatorData: unknown = fields.get('authenticator_data');
    const signature: unknown = fields.get('signature');
    const clientData: unknown = fields.get('client_data_json');
    if (!(authenticatorData instanceof Uint8Array && signature instanceof Uint8Array)) return false;
    if (typeof clientData !== 'string' && !(clientData instanceof Uint8Array)) return false;
    const clientBytes = Buffer.from(clientData);
    if (!isChallenge(clientBytes, options.message)) return false;
    const clientHash = createHash('sha256').update(clientBytes).digest();
    const signed = Buffer.concat([authenticatorData, clientHash]);
    // An ES256 signature is DER here, unlike that of a plain P-256 key.
    return verify(algorithm === eddsa ? null : 'sha256', signed, key, signature);
  } catch {
    return false;
  }
}
