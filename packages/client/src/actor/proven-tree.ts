// Hash trees that a canister certifies.

import {
  Cbor,
  Certificate,
  type HashTree,
  lookupResultToBuffer,
  reconstruct,
} from '@icp-sdk/core/agent';
import { Principal } from '@icp-sdk/core/principal';
import { encodeHex } from '../bytes/bytes.ts';
import type { Service } from './connection.ts';

interface TreeProof {
  readonly certificate: Uint8Array | number[];
  /** CBOR. */
  readonly tree: Uint8Array | number[];
}

/**
 * Returns the tree, whose root is the canister's data in a certificate of the network that is at
 * most five minutes old. Throws the error of `untrusted` otherwise.
 */
export async function provenTree(
  service: Service,
  proof: TreeProof,
  untrusted: (cause?: unknown) => Error,
): Promise<HashTree> {
  const { agent, largeCaller } = service;
  const canisterId = Principal.fromText(service.canisterId);
  const certificate = await Certificate.create({
    certificate: Uint8Array.from(proof.certificate),
    rootKey: agent.rootKey ?? new Uint8Array(0),
    principal: { canisterId },
    blsVerify: largeCaller.blsVerify,
    agent,
  }).catch((cause) => {
    throw untrusted(cause);
  });
  const path = ['canister', canisterId.toUint8Array(), 'certified_data'];
  const root = lookupResultToBuffer(certificate.lookup_path(path));
  const tree = Cbor.decode<HashTree>(Uint8Array.from(proof.tree));
  if (root === undefined || encodeHex(await reconstruct(tree)) !== encodeHex(root)) {
    throw untrusted();
  }
  return tree;
}
