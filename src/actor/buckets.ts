// Actor methods over buckets, their members, and who may create them.

import { IDL } from '@dfinity/candid';
import { Principal } from '@dfinity/principal';
import { updateAccess } from '../domain/bucket-creators.ts';
import {
  type BucketDetails,
  deleteBucket,
  describeBucket,
  listBuckets,
  updateBucket,
} from '../domain/bucket-management.ts';
import { createBucket } from '../domain/buckets.ts';
import { answer, currentCall } from './call.ts';
import {
  AccessChange,
  BucketChange,
  ResultBucket,
  ResultBuckets,
  ResultNull,
  ResultPrincipals,
} from './candid.ts';
import { query, update } from './method.ts';
import { stores } from './runtime.ts';

type Optional<T> = [] | [T];

interface BucketChangeArgument {
  bucketId: string;
  isPublic: Optional<boolean>;
  quotaBytes: Optional<bigint>;
  addMembers: Optional<{ principal: Principal; role: string }[]>;
  removeMembers: Optional<Principal[]>;
}

interface AccessChangeArgument {
  allow: Optional<Principal[]>;
  disallow: Optional<Principal[]>;
}

function bucketView(bucket: BucketDetails) {
  return {
    ...bucket,
    owner: Principal.fromUint8Array(bucket.owner),
    quotaBytes: bucket.quotaBytes === undefined ? [] : [bucket.quotaBytes],
    members: bucket.members.map(({ principal, role }) => {
      return { principal: Principal.fromUint8Array(principal), role };
    }),
    createdAt: bucket.createdAtNs,
    updatedAt: bucket.updatedAtNs,
  };
}

function bytesOf([principals]: Optional<Principal[]>): Uint8Array[] {
  return (principals ?? []).map((principal) => principal.toUint8Array());
}

export class BucketsActor {
  @update([IDL.Text], ResultBucket)
  createBucket(bucketId: string) {
    return answer(() => {
      return bucketView({ ...createBucket(stores, currentCall(), bucketId), members: [] });
    });
  }

  @query([IDL.Text, IDL.Opt(IDL.Text)], ResultBucket)
  getBucket(bucket: string, [apiKey]: Optional<string>) {
    return answer(() => bucketView(describeBucket(stores, currentCall(), { bucket, apiKey })));
  }

  @query([IDL.Opt(IDL.Nat), IDL.Opt(IDL.Nat)], ResultBuckets)
  listBuckets([page]: Optional<bigint>, [pageSize]: Optional<bigint>) {
    return answer(() => {
      const list = listBuckets(stores, currentCall(), { page, pageSize });
      return { ...list, items: list.items.map(bucketView) };
    });
  }

  @update([BucketChange], ResultBucket)
  updateBucket(argument: BucketChangeArgument) {
    const members = (argument.addMembers[0] ?? []).map(({ principal, role }) => {
      return { principal: principal.toUint8Array(), role };
    });
    const change = {
      bucket: argument.bucketId,
      isPublic: argument.isPublic[0],
      quotaBytes: argument.quotaBytes[0],
      addMembers: members,
      removeMembers: bytesOf(argument.removeMembers),
    };
    return answer(() => bucketView(updateBucket(stores, currentCall(), change)));
  }

  @update([IDL.Text], ResultNull)
  deleteBucket(bucketId: string) {
    return answer(() => {
      deleteBucket(stores, currentCall(), bucketId);
      return null;
    });
  }

  /** All principals that may then create buckets, beside the controllers. */
  @update([AccessChange], ResultPrincipals)
  updateAccess(argument: AccessChangeArgument) {
    const change = { allow: bytesOf(argument.allow), disallow: bytesOf(argument.disallow) };
    return answer(() => {
      const creators = updateAccess(stores, currentCall(), change);
      return creators.map((creator) => Principal.fromUint8Array(creator));
    });
  }
}
