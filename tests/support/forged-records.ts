// A node that forges the records of buckets, alone and in lists.

import { IDL } from '@dfinity/candid';
import { serviceInterface } from '../../packages/client/src/actor/candid-interface.ts';
import type { QueryFaults } from '../../packages/replica/src/network/query-faults.ts';

export interface ForgedRecord {
  readonly id: string;
  isPublic: boolean;
  members: { readonly name: [] | [string] }[];
}

interface Answers {
  readonly getBucket: ForgedRecord;
  readonly listBuckets: { readonly items: readonly ForgedRecord[] };
}

/** Changes the record of one bucket in each answer to a query that contains it. */
export function forgedRecords(
  bucket: string,
  change: (record: ForgedRecord) => void,
): NonNullable<QueryFaults['forge']> {
  const methods = new Map(serviceInterface()._fields);
  return ({ method }, reply) => {
    if (method !== 'getBucket' && method !== 'listBuckets') return undefined;
    const types = (methods.get(method)?.retTypes ?? []) as never;
    const [answer] = IDL.decode(types, reply as never) as never as [
      { ok?: Answers['getBucket'] & Answers['listBuckets'] },
    ];
    if (answer.ok === undefined) return undefined;
    const records = method === 'getBucket' ? [answer.ok] : answer.ok.items;
    for (const record of records) if (record.id === bucket) change(record);
    return new Uint8Array(IDL.encode(types, [answer]));
  };
}

/** Exchanges the names of the members who have one. */
export function swapNames(record: ForgedRecord): void {
  const names = record.members.map(({ name }) => name).filter(({ length }) => length > 0);
  record.members = record.members.map((member) =>
    member.name.length > 0 ? { ...member, name: names.pop() ?? [] } : member,
  );
}
