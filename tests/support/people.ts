// Callers of the whole interface, by the official agent or within the replica's process: the owner
// of the service, a person by number, or the anonymous caller. The caller chooses the types of
// answers.

import { Principal } from '@dfinity/principal';
import { Actor, type ActorMethod, HttpAgent, type HttpAgentOptions } from '@icp-sdk/core/agent';
import { IDL } from '@icp-sdk/core/candid';
import { Ed25519KeyIdentity } from '@icp-sdk/core/identity';
import { serviceInterface } from '../../packages/client/src/actor/candid-interface.ts';
import { answeringInWords, refusedInWords } from './inspection-words.ts';
import { ed25519Seed } from './owner-key.ts';
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

type Who = 'owner' | 'nobody' | number;
type Reached = Pick<Service, 'host' | 'canisterId' | 'identityPem'>;

function identityOf(identityPem: string, who: Exclude<Who, 'nobody'>): Ed25519KeyIdentity {
  const seed = who === 'owner' ? ed25519Seed(identityPem) : new Uint8Array(32).fill(who);
  return Ed25519KeyIdentity.fromSecretKey(seed);
}

export async function openPerson(service: Reached, who: Who): Promise<Person> {
  const { host, canisterId, identityPem } = service;
  const identity = who === 'nobody' ? undefined : identityOf(identityPem, who);
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

/**
 * Opens a person within the local replica's process, where a moved clock has no effect, or by an
 * agent for a service that runs elsewhere.
 */
export function personOf(service: Service, who: Who): Person {
  const { replica, canisterId, identityPem } = service;
  const principal =
    who === 'nobody'
      ? Principal.anonymous()
      : Principal.fromUint8Array(identityOf(identityPem, who).getPrincipal().toUint8Array());
  if (replica === undefined) {
    let person: Promise<Person> | undefined;
    return personWho(principal, async (method, values) => {
      person ??= openPerson(service, who);
      return (await person).ask(method, ...values);
    });
  }
  const methods = new Map(serviceInterface()._fields);
  return personWho(principal, async (method, values) => {
    const { argTypes, retTypes, annotations } = methods.get(method) as IDL.FuncClass;
    const send = annotations.includes('query') ? replica.query : replica.call;
    const argument = new Uint8Array(IDL.encode(argTypes, values));
    try {
      const reply = await send(canisterId, method, argument, { sender: principal });
      const [answer] = IDL.decode(retTypes, reply);
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
