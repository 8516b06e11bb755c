// Verifies signatures that canisters make by certified data. IC spec, "Canister signatures".

import { createHash } from 'node:crypto';
import type { HashTree } from '../state/hash-tree.ts';
import { fromArrays, lookupValue } from '../state/hash-tree.ts';
import { verifyStateRoot } from '../state/root-key.ts';
import { decodeSelfDescribed } from '../state/self-described-cbor.ts';

function sha256(bytes: Uint8Array): Buffer {
  return createHash('sha256').update(bytes).digest();
}

function decodeMap(bytes: unknown): ReadonlyMap<unknown, unknown> {
  const value = bytes instanceof Uint8Array ? decodeSelfDescribed(bytes) : undefined;
  if (value instanceof Map) return value;
  throw new Error('Malformed canister signature');
}

/**
 * Returns the hash tree of a certificate; undefined if the root key has not signed it, or if it has
 * a delegation.
 */
function verifiedTree(certificate: unknown, rootKey: Uint8Array): HashTree | undefined {
  const fields = decodeMap(certificate);
  const tree = fromArrays(fields.get('tree'));
  const signature = fields.get('signature');
  if (!(signature instanceof Uint8Array) || fields.has('delegation')) return undefined;
  const isSigned = verifyStateRoot({ publicKey: rootKey, rootHash: tree.hash, signature });
  return isSigned ? tree : undefined;
}

/** @param options.rawKey length of the canister's id in one byte, the id, and a seed. */
export function verifyCanisterSignature(options: {
  readonly rawKey: Uint8Array;
  readonly message: Uint8Array;
  readonly signature: Uint8Array;
  readonly rootKey: Uint8Array;
}): boolean {
  const { rawKey, message, rootKey } = options;
  const idEnd = 1 + (rawKey[0] ?? 0);
  const canisterId = rawKey.subarray(1, idEnd);
  const seed = rawKey.subarray(idEnd);
  try {
    const fields = decodeMap(options.signature);
    const signatures = fromArrays(fields.get('tree'));
    const state = verifiedTree(fields.get('certificate'), rootKey);
    if (state === undefined) return false;
    const path = [Buffer.from('canister'), canisterId, Buffer.from('certified_data')];
    const certifiedData = lookupValue(state, path);
    if (certifiedData === undefined || Buffer.compare(certifiedData, signatures.hash) !== 0) {
      return false;
    }
    const value = lookupValue(signatures, [Buffer.from('sig'), sha256(seed), sha256(message)]);
    return value?.length === 0;
  } catch {
    return false;
  }
}
