// The service's Candid interface for the agent: the generated one, except that fields added since
// 0.1.0 are optional, so that records of version 0.1.0 can be read.

import { IDL } from '@icp-sdk/core/candid';
import { idlFactory } from '../candid/file_storage.did.ts';
import { Int } from './candid-int.ts';
import type { FieldsSince010 } from './candid-types.ts';

const fieldsSince010: Readonly<Record<FieldsSince010, true>> = {
  metadata: true,
  overheadBytes: true,
  openUploads: true,
  keepVersionsDays: true,
  versionCount: true,
  versionBytes: true,
  isSite: true,
  isListed: true,
  chunkSize: true,
  isSizeKnown: true,
  anonymousUpdates: true,
};

function recordOf(fields: Record<string, IDL.Type>): IDL.RecordClass {
  const read = Object.entries(fields).map(([name, type]) => {
    const isLater = name in fieldsSince010 && !(type instanceof IDL.OptClass);
    return [name, isLater ? IDL.Opt(type) : type];
  });
  return IDL.Record(Object.fromEntries(read));
}

type RecordMaker = (fields: Record<string, IDL.Type>) => IDL.RecordClass;

function interfaceWith(Record: RecordMaker): IDL.ServiceClass {
  const make = idlFactory as unknown as (library: { IDL: unknown }) => IDL.ServiceClass;
  return make({ IDL: { ...IDL, Record, Int } });
}

export function serviceInterface(): IDL.ServiceClass {
  return interfaceWith(recordOf);
}

/** The queries, as updates, whose replies the network signs; the service accepts few of them so. */
export function signedQueryInterface(): IDL.ServiceClass {
  const methods = serviceInterface()._fields.map(([name, { argTypes, retTypes }]) => {
    return [name, IDL.Func(argTypes, retTypes)];
  });
  return IDL.Service(Object.fromEntries(methods));
}

/**
 * The interface for uploads that use nothing newer than version 0.1.0. That version declares the
 * `size` of `beginFileUploadWith` as nat, of which opt nat is not a subtype, and its `uploadFile`
 * refuses records with `metadata`; later versions accept both forms. The requests are recognized by
 * their fields: only that of `beginFileUploadWith` has a token and a size, and only that of
 * `uploadFile` has bytes, a bucket and a key.
 */
export function earlierUploadInterface(): IDL.ServiceClass {
  return interfaceWith((fields) => {
    if ('token' in fields && 'size' in fields) return recordOf({ ...fields, size: IDL.Nat });
    if (!('bytes' in fields && 'bucketId' in fields && 'apiKey' in fields)) return recordOf(fields);
    const { metadata: _, ...known } = fields;
    return recordOf(known);
  });
}

let methods: ReadonlyMap<string, IDL.FuncClass> | undefined;

/** Returns the types of a method's arguments and of its result. */
export function methodTypes(name: string): { readonly argTypes: IDL.Type[]; result: IDL.Type } {
  methods ??= new Map(serviceInterface()._fields);
  const { argTypes = [], retTypes: [result] = [] } = methods.get(name) ?? {};
  if (result === undefined) throw new Error(`The interface has no method ${name}.`);
  return { argTypes, result };
}

export function resultOf(ok: IDL.Type): IDL.Type {
  return IDL.Variant({ ok, err: IDL.Text });
}
