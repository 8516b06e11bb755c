// Callers of the whole interface, by the official agent or within the replica's process: the owner
// of the service, a person by number, or the anonymous caller. The caller chooses the types of
// answers.

import { Principal } from '@dfinity/principal';
import { Actor, type ActorMethod, HttpAgent, type HttpAgentOptions } from '@icp-sdk/core/agent';
import { IDL } from '@icp-sdk/core/candid';
import { serviceInterface } from '../../packages/client/src/actor/candid-interface.ts';
import { answeringInWords, refusedInWords } from './inspection-words.ts';
import { type Caller, identityOf } from './network/network-interface.ts';
import { principalOf } from './network/replica-network.ts';
import type { Service } from './service.ts';

export interface Answer<T> {
  readonly ok?: T;
  readonly err?: string;
}

export interface Person {
  readonly principal: Principal;
  /** Returns the answer of the method, or of the inspection before it. */
  ask<T = unknown>(method: string, ...values: unknown[]): Promise<Answer<T>>;
  /** Returns the result; throws a refusal. */
  get<T>(method: string, ...values: unknown[]): Promise<T>;
}

type Reached = Pick<Service, 'host' | 'canisterId' | 'identityPem'>;

export async function openPerson(service: Reached, who: Caller): Promise<Person> {
  const { host, canisterId, identityPem } = service;
  const identity = identityOf(identityPem, who);
  const options = { host, shouldFetchRootKey: true, ...(identity && { identity }) };
  const agent = await HttpAgent.create(options as unknown as HttpAgentOptions);
  const actor = answeringInWords(
    Actor.createActor<Record<string, ActorMethod>>(serviceInterface, { agent, canisterId }),
  );
  const principal = Principal.fromText((await agent.getPrincipal()).toText());
  return personWho(principal, (method, values) => {
    const call = actor[method];
    if (call === undefined) throw new Error(`The interface has no method ${method}`);
    return call(...values) as Promise<Answer<unknown>>;
  });
}

/** Opens a person by the network's interface, so that a clock that is set has no effect on them. */
export function personOf(
  { network, canisterId, identityPem }: Pick<Service, 'network' | 'canisterId' | 'identityPem'>,
  who: Caller,
): Person {
  const methods = new Map(serviceInterface()._fields);
  return personWho(principalOf(identityPem, who), async (method, values) => {
    const { argTypes, retTypes, annotations } = methods.get(method) as IDL.FuncClass;
    const send = annotations.includes('query') ? network.query : network.call;
    const argument = new Uint8Array(IDL.encode(argTypes, values));
    try {
      const [answer] = IDL.decode(retTypes, await send(canisterId, method, argument, who));
      return answer as Answer<unknown>;
    } catch (error) {
      const refused = refusedInWords(error);
      if (refused === undefined) throw error;
      return refused;
    }
  });
}

/** Adds omitted optional fields as absent, as agents of other languages do. */
function completed(type: IDL.Type | undefined, value: unknown): unknown {
  const isOuter = type instanceof IDL.OptClass || type instanceof IDL.VecClass;
  if (isOuter && Array.isArray(value)) {
    return value.map((inner) => completed((type as unknown as { _type: IDL.Type })._type, inner));
  }
  if (!(type instanceof IDL.RecordClass) || type instanceof IDL.TupleClass) return value;
  const given = value as Record<string, unknown>;
  const absent = type._fields.filter(
    ([name, of]) => !(name in given) && of instanceof IDL.OptClass,
  );
  const inner = type._fields.filter(([name]) => name in given);
  return {
    ...Object.fromEntries(absent.map(([name]) => [name, []])),
    ...Object.fromEntries(inner.map(([name, of]) => [name, completed(of, given[name])])),
  };
}

/** Fields of records that were added after release 0.1.0, and are therefore optional. */
const sinceRelease = ['openUploads', 'overheadBytes'];

function plain(answer: Answer<unknown>): Answer<unknown> {
  const { ok } = answer;
  if (typeof ok !== 'object' || ok === null || !('openUploads' in ok)) return answer;
  const fields = Object.entries(ok).map(([name, value]) => {
    return [name, sinceRelease.includes(name) && Array.isArray(value) ? value[0] : value];
  });
  return { ok: Object.fromEntries(fields) };
}

export function personWho(
  principal: Principal,
  sendValues: (method: string, values: unknown[]) => Promise<Answer<unknown>>,
): Person {
  const types = new Map(serviceInterface()._fields);
  const send = async (method: string, values: unknown[]) => {
    const { argTypes = [] } = types.get(method) ?? {};
    return plain(
      await sendValues(
        method,
        values.map((value, index) => completed(argTypes[index], value)),
      ),
    );
  };
  return {
    principal,
    ask: async <T>(method: string, ...values: unknown[]) =>
      (await send(method, values)) as Answer<T>,
    async get<T>(method: string, ...values: unknown[]) {
      const { ok, err } = await send(method, values);
      if (err !== undefined) throw new Error(`${method}: ${err}`);
      return ok as T;
    },
  };
}

/** Returns a change of that bucket with only these fields. */
export function changeOf(bucketId: string, fields: object) {
  const nothing = { isPublic: [], quotaBytes: [], quotaFiles: [], owner: [] };
  return { bucketId, ...nothing, addMembers: [], removeMembers: [], ...fields };
}

/** Returns a key request for these buckets and permissions, without expiry. */
export function keyFor(buckets: readonly string[], permissions = ['read', 'write', 'delete']) {
  return { name: 'test', buckets, permissions, prefix: [], expiresAt: [] };
}
