// Results of actor methods, `variant { ok : …; err : text }`. The Candid library builds and encodes
// the type table of a reply anew each time, 12 M instructions for a record of sixteen fields; here
// that is done once, at install and upgrade, and only the value is encoded each time.

import { IDL } from '@dfinity/candid';
import { concatBytes } from '../lib/bytes.ts';

/** Everything of an encoded result of that type that comes before its value. */
const heads = new Map<IDL.Type, Uint8Array>();

export function resultOf(ok: IDL.Type): IDL.VariantClass {
  const type = IDL.Variant({ ok, err: IDL.Text });
  const sample = { err: '' };
  const whole = IDL.encode([type], [sample]);
  heads.set(type, whole.subarray(0, whole.length - type.encodeValue(sample).length));
  return type;
}

/** `type` comes from `resultOf`. */
function headOf(type: IDL.VariantClass): Uint8Array {
  const head = heads.get(type);
  if (head === undefined) {
    throw new Error('The type of a result comes from resultOf()');
  }
  return head;
}

/** What comes before the value of an `ok`, for messages that are encoded by hand. */
export function headOfOk(type: IDL.VariantClass): Uint8Array {
  // Alternatives are counted in the order of their hashes: ok comes before err.
  return concatBytes(headOf(type), Uint8Array.of(0));
}

/** The result as a Candid message. */
export function encodeResult(type: IDL.VariantClass, result: object): Uint8Array {
  return concatBytes(headOf(type), type.encodeValue(result as Record<string, unknown>));
}
