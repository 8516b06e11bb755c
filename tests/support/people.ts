// Callers of the whole interface by the official agent: the owner of the service, anybody by a
// number, or nobody. Answers are typed by who asks.

import { Actor, type ActorMethod, HttpAgent, type HttpAgentOptions } from '@dfinity/agent';
import { IDL } from '@dfinity/candid';
import type { Principal } from '@dfinity/principal';
import { Ed25519KeyIdentity } from '@icp-sdk/core/identity';
import { resultOf, serviceInterface } from '../../client/candid-interface.ts';
import { answeringInWords } from './inspection-words.ts';
import { ed25519Seed, type Service } from './service.ts';

export interface Answer<T> {
  readonly ok?: T;
  readonly err?: string;
}

export interface Person {
  readonly principal: Principal;
  /** What the method, or the inspection in front of it, answers. */
  ask<T = unknown>(method: string, ...values: unknown[]): Promise<Answer<T>>;
  /** What it gives; throws a refusal. */
  get<T>(method: string, ...values: unknown[]): Promise<T>;
}

/** With the methods that the client does not call. */
function wholeInterface(): IDL.ServiceClass {
  const { Text, Nat, Null } = IDL;
  const methods: Record<string, IDL.FuncClass> = Object.fromEntries(serviceInterface()._fields);
  // A variant of `err` and, what is wanted here, `ok`.
  const [upload] = (methods.getUpload as IDL.FuncClass).retTypes as [IDL.VariantClass];
  const [, record] = upload._fields.find(([name]) => name === 'ok') as [string, IDL.Type];
  const key = IDL.Opt(Text);
  return IDL.Service({
    ...methods,
    listUploads: IDL.Func([Text, key], [resultOf(IDL.Vec(record))], ['query']),
    beginFileUpload: IDL.Func([Text, Text, Text, Nat, key], [resultOf(Text)]),
    rotateBucketKey: IDL.Func([Text], [resultOf(Null)]),
  });
}

export async function openPerson(
  service: Pick<Service, 'host' | 'canisterId' | 'identityPem'>,
  who: 'owner' | 'nobody' | number,
): Promise<Person> {
  const { host, canisterId, identityPem } = service;
  const seed = who === 'owner' ? ed25519Seed(identityPem) : new Uint8Array(32).fill(Number(who));
  const identity = who === 'nobody' ? undefined : Ed25519KeyIdentity.fromSecretKey(seed);
  const options = { host, shouldFetchRootKey: true, ...(identity && { identity }) };
  const agent = await HttpAgent.create(options as unknown as HttpAgentOptions);
  const actor = answeringInWords(
    Actor.createActor<Record<string, ActorMethod>>(wholeInterface, { agent, canisterId }),
  );
  const ask = async <T>(method: string, ...values: unknown[]) => {
    const call = actor[method];
    if (call === undefined) throw new Error(`The interface has no method ${method}`);
    return (await call(...values)) as Answer<T>;
  };
  return {
    principal: await agent.getPrincipal(),
    ask,
    async get<T>(method: string, ...values: unknown[]) {
      const answer = await ask<T>(method, ...values);
      if (answer.err !== undefined) throw new Error(`${method}: ${answer.err}`);
      return answer.ok as T;
    },
  };
}

/** A change of that bucket, of nothing but these fields. */
export function changeOf(bucketId: string, fields: object) {
  const nothing = { isPublic: [], quotaBytes: [], quotaFiles: [], owner: [] };
  return { bucketId, ...nothing, addMembers: [], removeMembers: [], ...fields };
}

/** A key for these buckets, with these permissions, without an end. */
export function keyFor(buckets: readonly string[], permissions = ['read', 'write', 'delete']) {
  return { name: 'test', buckets, permissions, expiresAt: [] };
}
