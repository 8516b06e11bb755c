// A node that answers queries for one file with another file's record and bytes, which agree.

import { IDL } from '@dfinity/candid';
import { serviceInterface } from '../../packages/client/src/actor/candid-interface.ts';
import type { QueryFaults } from '../../packages/replica/src/network/query-faults.ts';

type Forge = NonNullable<QueryFaults['forge']>;

const methods = new Map(serviceInterface()._fields);

/**
 * Returns a fault for the replica. The file at `path` appears with the content of the file at
 * `other`, whose record and bytes must have been read once before.
 */
export function swappedFiles({ path, other }: Record<'path' | 'other', string>): Forge {
  const seen = new Map<string, Uint8Array>();
  return ({ method: name, arg }, reply) => {
    const method = methods.get(name);
    if (method === undefined || !['getFile', 'readFile'].includes(name)) return undefined;
    const [, asked] = IDL.decode(method.argTypes as never, arg as never);
    if (asked === other) seen.set(name, reply);
    const swapped = seen.get(name);
    if (asked !== path || swapped === undefined) return undefined;
    const [answer] = IDL.decode(method.retTypes as never, swapped as never) as [{ ok?: object }];
    const ok = name === 'getFile' ? { ...answer.ok, path } : answer.ok;
    return new Uint8Array(IDL.encode(method.retTypes as never, [{ ok }]));
  };
}
