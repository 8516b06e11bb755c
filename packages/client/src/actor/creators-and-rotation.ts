// Changes the creators of buckets and rotates keys by calls of the actor.

import type { Administration } from '../connection/transport.ts';
import type { AccessChange, Budget, RootKeySource } from '../types/service.ts';
import { principalOf } from './buckets-and-keys.ts';
import { optional } from './candid-records.ts';
import { call, type Service } from './connection.ts';

type CreatorsAndRotation = Pick<
  Administration,
  'updateAccess' | 'rotateBucketKey' | 'rotateRootKey'
>;

export function actorCreatorsAndRotation({ actor }: Service): CreatorsAndRotation {
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
        actor.rotateRootKey(source === undefined ? [] : [sourceOf(source)]),
      );
    },
  };
}

function changeOf(change: AccessChange) {
  const { allow, disallow, anonymousUpdates, linkUpdates, refusals, derivations } = change;
  return {
    allow: optional(allow?.map(principalOf)),
    disallow: optional(disallow?.map(principalOf)),
    anonymousUpdates: optional(anonymousUpdates && sizesOf(anonymousUpdates)),
    linkUpdates: optional(linkUpdates && sizesOf(linkUpdates)),
    refusals: optional(refusals && sizesOf(refusals)),
    derivations: optional(derivations && sizesOf(derivations)),
  };
}

function sizesOf({ burst, perMinute }: Budget) {
  return { burst: BigInt(burst), perMinute: BigInt(perMinute) };
}

function sourceOf(source: RootKeySource) {
  return source === 'stored' ? { stored: null } : source;
}
