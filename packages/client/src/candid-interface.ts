// The service's Candid interface as the agent's library takes it: what the build makes of the .did
// file, but that records of version 0.1.0, which say less, are read too.

import { IDL } from '@icp-sdk/core/candid';
import { idlFactory } from './candid/file_storage.did.ts';
import type { FieldsSince010 } from './candid-types.ts';

const fieldsSince010: Readonly<Record<FieldsSince010, true>> = {
  metadata: true,
  overheadBytes: true,
  openUploads: true,
  keepVersionsDays: true,
  versionCount: true,
  versionBytes: true,
  isSite: true,
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
  return make({ IDL: { ...IDL, Record } });
}

export function serviceInterface(): IDL.ServiceClass {
  return interfaceWith(recordOf);
}

/**
 * The interface for uploads whose size is known. Version 0.1.0 declares `size` as a nat, which an
 * opt nat is no subtype of; later versions accept both. Only the upload request has both a token
 * and a size.
 */
export function sizedUploadInterface(): IDL.ServiceClass {
  return interfaceWith((fields) =>
    recordOf('token' in fields && 'size' in fields ? { ...fields, size: IDL.Nat } : fields),
  );
}

export function resultOf(ok: IDL.Type): IDL.Type {
  return IDL.Variant({ ok, err: IDL.Text });
}
