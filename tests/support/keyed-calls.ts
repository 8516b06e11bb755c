// Sends the rows of keyed-operations.ts: calls by the committed interface, and requests through the
// verifying gateway.

import { IDL } from '@dfinity/candid';
import { Principal } from '@dfinity/principal';
import { expect } from 'vitest';
import { refusedInWords } from './inspection-words.ts';
import type { HttpRow, Spot } from './keyed-operations.ts';
import { readInterface } from './model-interface.ts';
import type { Caller } from './network/network-interface.ts';
import type { Service } from './service.ts';

export const methods = new Map(
  readInterface({ texts: [''], principals: [Principal.anonymous()] }).map((method) => [
    method.name,
    method,
  ]),
);

/** Converts a value to the type, with optional fields present or absent. */
function filled(type: IDL.Type, value: unknown): unknown {
  const inner = (type as unknown as { _type: IDL.Type })._type;
  if (type instanceof IDL.OptClass) return value === undefined ? [] : [filled(inner, value)];
  if (type instanceof IDL.VecClass && Array.isArray(value)) {
    return value.map((each) => filled(inner, each));
  }
  if (!(type instanceof IDL.RecordClass) || type instanceof IDL.TupleClass) return value;
  const fields = type._fields.map(([name, field]) => {
    return [name, filled(field, (value as Record<string, unknown>)[name])];
  });
  return Object.fromEntries(fields);
}

/** `caller`: by default the anonymous one. */
export async function sendCall(
  { network, canisterId }: Service,
  { name, values }: { readonly name: string; readonly values: readonly unknown[] },
  caller?: Caller,
): Promise<unknown> {
  const { parameters, results, isQuery } = methods.get(name) ?? expect.fail(name);
  const all = parameters.map((type, index) => filled(type, values[index]));
  const argument = new Uint8Array(IDL.encode(parameters, all));
  const send = isQuery ? network.query : network.call;
  try {
    return IDL.decode(results, await send(canisterId, name, argument, caller))[0];
  } catch (error) {
    const refused = refusedInWords(error);
    if (refused === undefined) throw error;
    return refused;
  }
}

export async function sendRequest({ base }: Service, row: HttpRow, spot: Spot) {
  const response = await fetch(base + row.url(spot), {
    method: row.method,
    headers: {
      Authorization: `Bearer ${spot.key}`,
      ...(row.type === undefined ? {} : { 'Content-Type': row.type }),
      ...row.headers?.(spot),
    },
    ...(row.body === undefined ? {} : { body: row.body(spot) as BodyInit }),
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}
