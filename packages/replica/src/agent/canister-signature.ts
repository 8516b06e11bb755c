// Verifies signatures that canisters make by certified data. IC spec, "Canister signatures".

import { createHash } from 'node:crypto';
import type { HashTree } from '../state/hash-tree.ts';
import { fromArrays, lookupValue } from '../state/hash-tree.ts';
import { decodeSelfDescribed } from '../state/self-described-cbor.ts';
import { verifyStateRoot } from '../state/subnet-key.ts';
import { type CanisterRange, includesId } from '../subnet-ranges.ts';

function sha256(bytes: Uint8Array): Buffer {
  return createHash('sha256').update(bytes).digest();
}

function decodeMap(bytes: unknown): ReadonlyMap<unknown, unknown> {
  const value = bytes instanceof Uint8Array ? decodeSelfDescribed(bytes) : undefined;
  if (value instanceof Map) return value;
  throw new Error('Malformed canister signature');
}

type Fields = ReadonlyMap<unknown, unknown>;

/** Returns the hash tree of a certificate; undefined if the key has not signed it. */
function signedTree(fields: Fields, publicKey: Uint8Array): HashTree | undefined {
  const tree = fromArrays(fields.get('tree'));
  const signature = fields.get('signature');
  if (!(signature instanceof Uint8Array)) return undefined;
  const isSigned = verifyStateRoot({ publicKey, rootHash: tree.hash, signature });
  return isSigned ? tree : undefined;
}

/**
 * Returns the key of the subnet that may certify the canister: the root key, or the one that a
 * delegation by the root key names. IC spec, "Delegation": a delegation has none itself.
 */
function certifyingKey(
  fields: Fields,
  canisterId: Uint8Array,
  rootKey: Uint8Array,
): Uint8Array | undefined {
  if (!fields.has('delegation')) return rootKey;
  const delegation = fields.get('delegation');
  if (!(delegation instanceof Map)) return undefined;
  const id = delegation.get('subnet_id');
  const certificate = decodeMap(delegation.get('certificate'));
  if (!(id instanceof Uint8Array) || certificate.has('delegation')) return undefined;
  const tree = signedTree(certificate, rootKey);
  if (tree === undefined) return undefined;
  const subnet = (name: string) =>
    lookupValue(tree, [Buffer.from('subnet'), id, Buffer.from(name)]);
  const ranges = subnet('canister_ranges');
  const isOwn = ranges && includesId(decodeSelfDescribed(ranges) as CanisterRange[], canisterId);
  return isOwn ? subnet('public_key') : undefined;
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
    const certificate = decodeMap(fields.get('certificate'));
    const publicKey = certifyingKey(certificate, canisterId, rootKey);
    const state = publicKey && signedTree(certificate, publicKey);
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
