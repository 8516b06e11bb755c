// Access and rotation by calls of the actor.

import { Actor, type ActorMethod } from '@icp-sdk/core/agent';
import { IDL } from '@icp-sdk/core/candid';
import type { Principal } from '@icp-sdk/core/principal';
import { call, type Service } from './actor-connection.ts';
import { principalOf } from './actor-management.ts';
import { resultOf } from './candid-interface.ts';
import { optional } from './candid-records.ts';
import type { Result } from './candid-types.ts';
import type { AccessChange, RootKeySource } from './interface.ts';
import type { Management } from './transport.ts';

type Administration = Pick<Management, 'updateAccess' | 'rotateBucketKey' | 'rotateRootKey'>;

interface AdministrationActor {
  updateAccess: ActorMethod<[object], Result<Principal[]>>;
  rotateBucketKey: ActorMethod<[string], Result<null>>;
  rotateRootKey: ActorMethod<[[] | [object]], Result<null>>;
}

function administrationInterface(): IDL.ServiceClass {
  const { Text, Nat, Null, Principal: Caller } = IDL;
  const allowance = IDL.Record({ burst: Nat, perMinute: Nat });
  const change = IDL.Record({
    allow: IDL.Opt(IDL.Vec(Caller)),
    disallow: IDL.Opt(IDL.Vec(Caller)),
    anonymousUpdates: IDL.Opt(allowance),
  });
  const source = IDL.Variant({ stored: Null, vetkd: Text });
  return IDL.Service({
    updateAccess: IDL.Func([change], [resultOf(IDL.Vec(Caller))]),
    rotateBucketKey: IDL.Func([Text], [resultOf(Null)]),
    rotateRootKey: IDL.Func([IDL.Opt(source)], [resultOf(Null)]),
  });
}

export function actorAdministration({ agent, canisterId }: Service): Administration {
  const actor = Actor.createActor<AdministrationActor>(administrationInterface, {
    agent,
    canisterId,
  });
  return {
    async updateAccess(change) {
      const principals = await call(undefined, () => actor.updateAccess(changeOf(change)));
      return principals.map((principal) => principal.toText());
    },
    async rotateBucketKey(bucket) {
      await call(undefined, () => actor.rotateBucketKey(bucket));
    },
    async rotateRootKey(source) {
      await call(undefined, () =>
        actor.rotateRootKey(source === undefined ? [] : sourceOf(source)),
      );
    },
  };
}

function changeOf({ allow, disallow, anonymousUpdates }: AccessChange) {
  return {
    allow: optional(allow?.map(principalOf)),
    disallow: optional(disallow?.map(principalOf)),
    anonymousUpdates: optional(
      anonymousUpdates && {
        burst: BigInt(anonymousUpdates.burst),
        perMinute: BigInt(anonymousUpdates.perMinute),
      },
    ),
  };
}

function sourceOf(source: RootKeySource): [object] {
  return [source === 'stored' ? { stored: null } : source];
}
