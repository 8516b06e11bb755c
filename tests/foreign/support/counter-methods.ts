// How a counter that nobody described is driven: by the names that such examples have. Numbers are
// Candid's, or four bytes, little endian, of what knows no Candid.

import { IDL } from '@dfinity/candid';

const queries = ['read', 'get', 'count', 'getVersion'];
const updates = ['inc', 'increment', 'add'];

export interface CounterMethods {
  readonly read: string;
  /** `undefined`: it counts its upgrades. */
  readonly step: string | undefined;
}

/** Throws an Error when the module has no query of such a name. `module`: not compressed. */
export function counterMethods(module: Uint8Array): CounterMethods {
  const text = Buffer.from(module).toString('latin1');
  // An export's name stands behind its length and before the byte of its kind, a function's: 0.
  const has = (name: string) => text.includes(`${String.fromCharCode(name.length)}${name}\0`);
  const read = queries.find((name) => has(`canister_query ${name}`));
  if (read === undefined) {
    throw new Error(`It has no query ${queries.join(', ')} to read a counter by`);
  }
  return { read, step: updates.find((name) => has(`canister_update ${name}`)) };
}

export function counterValue(reply: Uint8Array): number {
  if (reply.length === 4) return Buffer.from(reply).readInt32LE(0);
  for (const type of [IDL.Nat, IDL.Int, IDL.Nat64, IDL.Nat32]) {
    try {
      return Number(IDL.decode([type], reply)[0]);
    } catch {
      // Another one of the types.
    }
  }
  throw new Error(`The counter answers no number: ${Buffer.from(reply).toString('hex')}`);
}
