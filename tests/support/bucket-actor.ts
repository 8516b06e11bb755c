// The methods for buckets and keys, as a client writes them from the .did file.

import { Actor, HttpAgent, type HttpAgentOptions } from '@dfinity/agent';
import { IDL } from '@dfinity/candid';
import type { Principal } from '@dfinity/principal';
import { Ed25519KeyIdentity } from '@icp-sdk/core/identity';
import { answeringInWords } from './inspection-words.ts';
import { ed25519Seed } from './owner-key.ts';
import type { Service } from './service.ts';

type Answer<T> = Promise<{ ok?: T; err?: string }>;

interface BucketView {
  id: string;
  owner: Principal;
  isPublic: boolean;
  quotaBytes: [] | [bigint];
  members: { principal: Principal; role: string }[];
  callerRole: [] | [string];
}

interface KeyView {
  id: string;
  hint: string;
  name: string;
  buckets: string[];
  permissions: string[];
  expiresAt: [] | [bigint];
}

export interface BucketActor {
  createBucket(id: string, options: [] | [object]): Answer<BucketView>;
  getBucket(id: string, apiKey: [] | [string]): Answer<BucketView>;
  listBuckets(page: [] | [bigint], pageSize: [] | [bigint]): Answer<{ items: BucketView[] }>;
  updateBucket(change: object): Answer<BucketView>;
  deleteBucket(id: string, options: [] | [object]): Answer<null>;
  updateAccess(change: object): Answer<Principal[]>;
  createApiKey(request: object): Answer<KeyView & { secret: string }>;
  listApiKeys(bucketId: string): Answer<KeyView[]>;
  revokeApiKey(id: string): Answer<null>;
  getStatus(): Answer<{
    version: string;
    buckets: bigint;
    heapBytes: bigint;
    cycles: [] | [bigint];
  }>;
}

function bucketInterface(): IDL.ServiceClass {
  const { Text, Nat, Int, Bool, Null } = IDL;
  const person = IDL.Principal;
  const resultOf = (ok: IDL.Type): [IDL.VariantClass] => [IDL.Variant({ ok, err: Text })];
  const Member = IDL.Record({ principal: person, role: Text });
  const Bucket = IDL.Record({
    id: Text,
    owner: person,
    isPublic: Bool,
    quotaBytes: IDL.Opt(Nat),
    members: IDL.Vec(Member),
    callerRole: IDL.Opt(Text),
  });
  const Options = IDL.Record({ isPublic: IDL.Opt(Bool), quotaBytes: IDL.Opt(Nat) });
  const Change = IDL.Record({
    bucketId: Text,
    isPublic: IDL.Opt(Bool),
    quotaBytes: IDL.Opt(Nat),
    addMembers: IDL.Opt(IDL.Vec(Member)),
    removeMembers: IDL.Opt(IDL.Vec(person)),
  });
  const people = IDL.Opt(IDL.Vec(person));
  const texts = IDL.Vec(Text);
  const request = { name: Text, buckets: texts, permissions: texts, expiresAt: IDL.Opt(Int) };
  const key = { ...request, id: Text, hint: Text };
  const counts = { buckets: Nat, heapBytes: Nat, stableBytes: Nat, cycles: IDL.Opt(Nat) };
  const status = IDL.Record({ version: Text, ...counts });
  const Page = IDL.Record({ items: IDL.Vec(Bucket), total: Nat });
  return IDL.Service({
    createBucket: IDL.Func([Text, IDL.Opt(Options)], resultOf(Bucket)),
    getBucket: IDL.Func([Text, IDL.Opt(Text)], resultOf(Bucket), ['query']),
    listBuckets: IDL.Func([IDL.Opt(Nat), IDL.Opt(Nat)], resultOf(Page), ['query']),
    updateBucket: IDL.Func([Change], resultOf(Bucket)),
    deleteBucket: IDL.Func([Text, IDL.Opt(IDL.Record({ force: IDL.Opt(Bool) }))], resultOf(Null)),
    updateAccess: IDL.Func(
      [IDL.Record({ allow: people, disallow: people })],
      resultOf(IDL.Vec(person)),
    ),
    createApiKey: IDL.Func([IDL.Record(request)], resultOf(IDL.Record({ ...key, secret: Text }))),
    listApiKeys: IDL.Func([Text], resultOf(IDL.Vec(IDL.Record(key))), ['query']),
    revokeApiKey: IDL.Func([Text], resultOf(Null)),
    getStatus: IDL.Func([], resultOf(status), ['query']),
  });
}

export interface Client {
  readonly actor: BucketActor;
  readonly principal: Principal;
}

/** Opens the owner of the service, the person with that number, or the anonymous caller. */
export async function openClient(service: Service, who: 'owner' | 'nobody' | number) {
  const { host, canisterId, identityPem } = service;
  const seed = who === 'owner' ? ed25519Seed(identityPem) : new Uint8Array(32).fill(Number(who));
  const identity = who === 'nobody' ? undefined : Ed25519KeyIdentity.fromSecretKey(seed);
  const options = { host, shouldFetchRootKey: true, ...(identity && { identity }) };
  const agent = await HttpAgent.create(options as unknown as HttpAgentOptions);
  const actor = answeringInWords(
    Actor.createActor<BucketActor>(bucketInterface, { agent, canisterId }),
  );
  return { actor, principal: await agent.getPrincipal() };
}
