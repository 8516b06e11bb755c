// Finds the methods of an unknown counter canister by the names that such examples use. Numbers are
// Candid, or four little-endian bytes for canisters without Candid.

import { IDL } from '@dfinity/candid';

const queries = ['read', 'get', 'count', 'getVersion'];
const updates = ['inc', 'increment', 'add'];

export interface CounterMethods {
  readonly read: string;
  /** `undefined` if the counter counts upgrades. */
  readonly step: string | undefined;
}

/** Throws an Error if the module has no query of a known name. `module`: not compressed. */
export function counterMethods(module: Uint8Array): CounterMethods {
  const text = Buffer.from(module).toString('latin1');
  // In the export section, a name follows its length and precedes the byte of its kind; 0 is a
  // function.
  const has = (name: string) => text.includes(`${String.fromCharCode(name.length)}${name}\0`);
  const read = queries.find((name) => has(`canister_query ${name}`));
  if (read === undefined) {
    throw new Error(`The module has no query to read a counter: ${queries.join(', ')}`);
  }
  return { read, step: updates.find((name) => has(`canister_update ${name}`)) };
}

export function counterValue(reply: Uint8Array): number {
  if (reply.length === 4) return Buffer.from(reply).readInt32LE(0);
  for (const type of [IDL.Nat, IDL.Int, IDL.Nat64, IDL.Nat32]) {
    try {
      return Number(IDL.decode([type], reply)[0]);
    } catch {
      // The next type may fit.
    }
  }
  throw new Error(`The reply is not a number: ${Buffer.from(reply).toString('hex')}`);
}
