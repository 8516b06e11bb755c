// The secret of a link, and its seal if the link has a password. A client derives a proof, 32
// bytes, from the password and from random bytes in the fragment of the address, which no server
// receives. The canister seals the secret with the proof. So neither the address nor the password
// alone opens the link, and stable memory contains nothing by which passwords can be tried.

import { aeadKeyBytes, aeadNonceBytes, open, seal } from '../../crypto/aead.ts';
import { expandSha256 } from '../../crypto/kdf.ts';
import { emptyBytes } from '../../lib/bytes.ts';
import { decodeUtf8, encodeUtf8 } from '../../lib/text.ts';
import { quote } from '../shared/names.ts';
import { Refusal } from '../shared/refusal.ts';
import type { Link } from './link-layout.ts';

const proofBytes = 32;

/** `name`: as the interface calls it. Refuses a proof of another length. */
export function parseProof(name: string, proof: Uint8Array | undefined): Uint8Array {
  if (proof?.length === proofBytes) return proof;
  throw new Refusal(
    'InvalidArgument',
    `${quote(name)} must have ${proofBytes} bytes` +
      `${proof === undefined ? '' : `; it has ${proof.length}`}: derive it from the password as the ` +
      'reference of links says.',
  );
}

/** Seals the secret of a new link. */
export function sealLinkSecret(id: string, proof: Uint8Array, secret: string): Uint8Array {
  return seal({ ...contextOf(id, proof), plaintext: encodeUtf8(secret) });
}

/** Returns the secret of the link; `undefined` for a wrong proof, and without a password. */
export function openLinkSecret(
  { id, sealedSecret = emptyBytes }: Link,
  proof: Uint8Array,
): string | undefined {
  const secret = open({ ...contextOf(id, proof), sealed: sealedSecret });
  return secret && decodeUtf8(secret);
}

/** Derives a key for each link, so that the nonce is never used twice with one key. */
function contextOf(id: string, proof: Uint8Array) {
  const info = encodeUtf8(`efs link secret ${id}`);
  return {
    key: expandSha256(proof, { info, length: aeadKeyBytes }),
    nonce: new Uint8Array(aeadNonceBytes),
    associatedData: emptyBytes,
  };
}
