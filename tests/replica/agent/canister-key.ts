// Makes keys and signatures as canisters do. IC spec, "Canister signatures".

import { createHash } from 'node:crypto';
import type { Principal } from '@dfinity/principal';
import type { HashTree } from '../../../packages/replica/src/state/hash-tree.ts';
import { labeled, leaf, toArrays } from '../../../packages/replica/src/state/hash-tree.ts';
import { encodeSelfDescribed } from '../../../packages/replica/src/state/self-described-cbor.ts';

function sha256(bytes: Uint8Array): Buffer {
  return createHash('sha256').update(bytes).digest();
}

/** DER of a key with an algorithm of the Internet Computer: 1 WebAuthn, 2 canister. */
export function wrappedKey(algorithm: 1 | 2, raw: Uint8Array): Uint8Array<ArrayBuffer> {
  const identifier = Buffer.from(`300c060a2b0601040183b843010${algorithm}`, 'hex');
  const short = (tag: number, content: Uint8Array): Buffer => {
    const { length } = content;
    const head = length < 128 ? [tag, length] : [tag, 0x82, length >> 8, length & 255];
    return Buffer.concat([Uint8Array.from(head), content]);
  };
  const bits = short(3, Buffer.concat([Uint8Array.of(0), raw]));
  return Uint8Array.from(short(0x30, Buffer.concat([identifier, bits])));
}

export function canisterKey(canisterId: Principal, seed: Uint8Array): Uint8Array<ArrayBuffer> {
  const id = canisterId.toUint8Array();
  return wrappedKey(2, Buffer.concat([Uint8Array.of(id.length), id, seed]));
}

/** The tree that a canister certifies to sign the message. */
export function signatureTree(seed: Uint8Array, message: Uint8Array): HashTree {
  const signed = labeled(sha256(seed), labeled(sha256(message), leaf(new Uint8Array())));
  return labeled('sig', signed);
}

export function canisterSignature(
  tree: HashTree,
  certificate: Uint8Array,
): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(encodeSelfDescribed({ certificate, tree: toArrays(tree) }));
}
