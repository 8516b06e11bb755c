// Recognizes the kinds of public keys by their DER (SubjectPublicKeyInfo). RFC 5480 §2; IC spec,
// "Signatures", has the two object identifiers of the Internet Computer.

import { badRequest } from './agent-message.ts';

export type KeyKind = 'Ed25519' | 'ECDSA P-256' | 'ECDSA secp256k1' | 'WebAuthn' | 'canister';

export interface PublicKey {
  readonly kind: KeyKind;
  readonly der: Uint8Array;
  /** The raw key: the content of the bit string. */
  readonly raw: Uint8Array;
}

/** Algorithm identifiers, including their tag. */
const algorithms: ReadonlyMap<string, KeyKind> = new Map([
  ['300506032b6570', 'Ed25519'],
  ['301306072a8648ce3d020106082a8648ce3d030107', 'ECDSA P-256'],
  ['301006072a8648ce3d020106052b8104000a', 'ECDSA secp256k1'],
  ['300c060a2b0601040183b8430101', 'WebAuthn'],
  ['300c060a2b0601040183b8430102', 'canister'],
]);

/** Lengths of raw keys, if they are fixed: points must be uncompressed. */
const rawBytes: Partial<Record<KeyKind, number>> = {
  Ed25519: 32,
  'ECDSA P-256': 65,
  'ECDSA secp256k1': 65,
};

interface Element {
  readonly whole: Uint8Array;
  readonly content: Uint8Array;
  readonly rest: Uint8Array;
}

/** Returns the first element if it has the tag and is complete. X.690 §8.1, definite lengths. */
function readElement(bytes: Uint8Array, tag: number): Element | undefined {
  const [actualTag, first] = bytes;
  if (actualTag !== tag || first === undefined || first === 0x80 || first > 0x84) return undefined;
  const start = 2 + (first > 0x80 ? first - 0x80 : 0);
  const length =
    first < 0x80 ? first : bytes.subarray(2, start).reduce((sum, byte) => sum * 256 + byte, 0);
  const end = start + length;
  if (end > bytes.length) return undefined;
  return {
    whole: bytes.subarray(0, end),
    content: bytes.subarray(start, end),
    rest: bytes.subarray(end),
  };
}

/** Throws a bad request for malformed keys and unknown kinds. */
export function parsePublicKey(der: Uint8Array): PublicKey {
  const info = readElement(der, 0x30);
  const algorithm = info?.rest.length === 0 ? readElement(info.content, 0x30) : undefined;
  const bits = algorithm === undefined ? undefined : readElement(algorithm.rest, 0x03);
  const kind = algorithms.get(Buffer.from(algorithm?.whole ?? []).toString('hex'));
  // A key has whole bytes, so the bit string has zero unused bits.
  if (bits === undefined || bits.rest.length > 0 || bits.content[0] !== 0 || kind === undefined) {
    throw badRequest(
      'Invalid public key: expected DER of an Ed25519, P-256, secp256k1, WebAuthn or canister key',
    );
  }
  const raw = bits.content.subarray(1);
  const expected = rawBytes[kind];
  if (expected !== undefined && raw.length !== expected) {
    throw badRequest(`Invalid public key: ${kind} keys have ${expected} bytes, not ${raw.length}`);
  }
  return { kind, der, raw };
}

/**
 * Returns the id of the canister that signs for the key; `undefined` for other kinds. The key is
 * the length of that id in one byte, the id, and a seed.
 */
export function signingCanister(der: Uint8Array): Uint8Array | undefined {
  const { kind, raw } = parsePublicKey(der);
  return kind === 'canister' ? raw.subarray(1, 1 + (raw[0] ?? 0)) : undefined;
}
