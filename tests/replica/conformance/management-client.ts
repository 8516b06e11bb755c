// Calls the management canister of a replica, with the types of the interface specification.

import { IDL } from '@dfinity/candid';
import { Principal } from '@dfinity/principal';
import {
  type MethodName,
  methodTypes,
} from '../../../packages/replica/src/management/candid-types.ts';
import type { Replica } from '../../../packages/replica/src/replica.ts';

const managementId = Principal.managementCanister();
export const alice = Principal.fromText('rwlgt-iiaaa-aaaaa-aaaaa-cai');
export const bob = Principal.fromText('rrkah-fqaaa-aaaaa-aaaaq-cai');

/**
 * Completes a value for the type: optional fields may be omitted, and are given without brackets.
 */
function complete(type: IDL.Type, value: unknown): unknown {
  if (type instanceof IDL.OptClass) {
    return value === undefined
      ? []
      : [complete((type as unknown as { _type: IDL.Type })._type, value)];
  }
  if (!(type instanceof IDL.RecordClass) || value === null || typeof value !== 'object') {
    return value;
  }
  const given = value as Readonly<Record<string, unknown>>;
  const fields = (type as unknown as { _fields: readonly [string, IDL.Type][] })._fields;
  return Object.fromEntries(fields.map(([name, field]) => [name, complete(field, given[name])]));
}

export function argumentOf(method: MethodName, value: unknown): Uint8Array {
  const types: readonly IDL.Type[] = methodTypes[method].argument;
  const values = types.map((type) => complete(type, value));
  return new Uint8Array(IDL.encode([...types], values));
}

// biome-ignore lint/suspicious/noExplicitAny: results have the shape that the specification says.
type Answer = any;

export function resultOf(method: MethodName, reply: Uint8Array): Answer {
  const types: readonly IDL.Type[] = methodTypes[method].result;
  return IDL.decode([...types], reply)[0];
}

/** Sends an update by `sender`, by default alice. Throws on a reject. */
export async function manage(
  replica: Replica,
  method: MethodName,
  { sender = alice, ...value }: { readonly sender?: Principal; readonly [field: string]: unknown },
): Promise<Answer> {
  return resultOf(
    method,
    await replica.call(managementId, method, argumentOf(method, value), { sender }),
  );
}

/** Sends a query instead. */
export async function ask(
  replica: Replica,
  method: MethodName,
  { sender = alice, ...value }: { readonly sender?: Principal; readonly [field: string]: unknown },
): Promise<Answer> {
  const arg = argumentOf(method, value);
  return resultOf(method, await replica.query(managementId, method, arg, { sender }));
}
