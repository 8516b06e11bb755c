// The seal of the journal's entries (kernel/journal.ts is the other side), and the salts of their
// commitments.

import { aeadNonceBytes, aeadTagBytes, open } from '../../crypto/aead.ts';
import { sha256 } from '../../crypto/hash.ts';
import { concatBytes } from '../../lib/bytes.ts';
import type { StoredEntry } from '../../storage/journal-log.ts';

const keyBytes = 32;
const saltBytes = 16;
const two32 = 0x1_0000_0000;

/** The salts of an entry's commitment, 16 bytes each. */
export interface EntrySalts {
  readonly details: Uint8Array;
  readonly subject: Uint8Array;
}

/** Decrypts an entry; `undefined` if keys, owner or bytes are not the ones it was sealed with. */
export function openEntry(
  entry: StoredEntry,
  by: { readonly keys: Uint8Array; readonly ownerName: Uint8Array },
): Uint8Array | undefined {
  if (entry.sealed.length < aeadTagBytes) return undefined;
  const nonce = new Uint8Array(aeadNonceBytes);
  const view = new DataView(nonce.buffer);
  view.setBigUint64(0, BigInt(entry.ms), true);
  view.setUint32(8, entry.number % two32, true);
  const key = by.keys.subarray(0, keyBytes);
  return open({ key, nonce, associatedData: by.ownerName, sealed: entry.sealed });
}

/** Returns the salts of the entry's commitment. */
export function entrySalts(number: number, keys: Uint8Array): EntrySalts {
  const count = new Uint8Array(8);
  new DataView(count.buffer).setBigUint64(0, BigInt(number), true);
  const salts = sha256(concatBytes(keys.subarray(keyBytes), count));
  return { details: salts.subarray(0, saltBytes), subject: salts.subarray(saltBytes) };
}
