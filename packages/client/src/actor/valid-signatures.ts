// Verifies the network's BLS signatures, 54 ms each, and remembers valid ones: on the network every
// certificate contains the same delegation of the subnet, whose signature would otherwise be
// verified again with each reply.

import { blsVerify } from '@icp-sdk/core/agent';
import { encodeHex } from '../bytes/bytes.ts';

export type Verify = (
  key: Uint8Array,
  signature: Uint8Array,
  message: Uint8Array,
) => boolean | Promise<boolean>;

/** A delegation is used with each certificate, so it stays among the most recent ones. */
const knownMax = 8;

/** Returns a function that does not verify the most recent valid signatures again. */
export function rememberingVerify(verify: Verify = blsVerify): Verify {
  const known = new Set<string>();
  return async (key, signature, message) => {
    const name = [key, signature, message].map(encodeHex).join(' ');
    const isValid = known.delete(name) || (await verify(key, signature, message));
    if (!isValid) return false;
    known.add(name);
    const [oldest] = known;
    if (known.size > knownMax && oldest !== undefined) known.delete(oldest);
    return true;
  };
}
