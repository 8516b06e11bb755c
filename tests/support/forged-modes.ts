// A node that reports another mode of a bucket than the service has, to agents and to gateways.

import { IDL } from '@dfinity/candid';
import { serviceInterface } from '../../packages/client/src/actor/candid-interface.ts';
import type { QueryFaults } from '../../packages/replica/src/network/query-faults.ts';
import type { Replica } from '../../packages/replica/src/replica.ts';

export interface ForgedMode {
  readonly sealsNames: boolean;
  readonly recipients: readonly string[];
}

type Forge = NonNullable<QueryFaults['forge']>;

interface HttpReply {
  readonly status_code: number;
  readonly headers: readonly [string, string][];
  readonly body: Uint8Array;
  readonly upgrade: readonly boolean[];
  readonly streaming_strategy: readonly unknown[];
}

const methods = new Map(serviceInterface()._fields);

function types(method: string): { readonly arguments: IDL.Type[]; readonly results: IDL.Type[] } {
  const { argTypes, retTypes } = methods.get(method) ?? {};
  return { arguments: (argTypes ?? []) as never, results: (retTypes ?? []) as never };
}

/**
 * Returns a fault: the node always reports `mode`, or without it that a bucket is not end-to-end.
 * Over HTTP it reuses the certificate of the status, which covers all paths below /api because they
 * need no certification.
 */
export async function forgedModes(
  replica: Replica,
  canisterId: string,
  mode: ForgedMode | undefined,
): Promise<Forge> {
  const headers = await statusHeaders(replica, canisterId);
  return ({ method, arg }, reply) => {
    if (method === 'getBucket') return forgedRecord(reply, mode);
    if (method !== 'http_request') return undefined;
    const [{ url }] = decode<[{ url: string }]>(types(method).arguments, arg);
    return url.endsWith('/end-to-end') ? forgedAnswer(headers, mode) : undefined;
  };
}

function decode<T>(expected: IDL.Type[], bytes: Uint8Array): T {
  return IDL.decode(expected, bytes as never) as T;
}

function forgedRecord(reply: Uint8Array, mode: ForgedMode | undefined): Uint8Array | undefined {
  const { results } = types('getBucket');
  const [answer] = decode<[{ ok?: object }]>(results, reply);
  if (answer.ok === undefined) return undefined;
  const own = mode && { ...mode, usesVetKeys: false, serial: 1n, epochs: [] };
  const ok = { ...answer.ok, endToEnd: own === undefined ? [] : [own] };
  return new Uint8Array(IDL.encode(results, [{ ok }]));
}

async function statusHeaders(replica: Replica, canisterId: string): Promise<[string, string][]> {
  const type = types('http_request');
  const request = { method: 'GET', url: '/api/v1/status', headers: [], body: new Uint8Array() };
  const argument = IDL.encode(type.arguments, [{ ...request, certificate_version: [2] }]);
  const reply = await replica.query(canisterId, 'http_request', new Uint8Array(argument));
  const [{ headers }] = decode<[HttpReply]>(type.results, reply);
  return headers.filter(([name]) => /^(?:ic-|content-type)/i.test(name));
}

function forgedAnswer(headers: [string, string][], mode: ForgedMode | undefined): Uint8Array {
  const { recipients = [] } = mode ?? {};
  const own = mode && { ...mode, usesVetKeys: false, epoch: null, encryptTo: recipients };
  const body = Buffer.from(JSON.stringify({ endToEnd: own ?? null }));
  const answer: HttpReply = {
    ...{ status_code: 200, headers, body: new Uint8Array(body) },
    ...{ upgrade: [], streaming_strategy: [] },
  };
  return new Uint8Array(IDL.encode(types('http_request').results, [answer]));
}
