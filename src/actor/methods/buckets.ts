// Actor methods for buckets, their members and the principals that may create them.

import { IDL } from '@dfinity/candid';
import { Principal } from '@dfinity/principal';
import {
  type BucketDetails,
  deleteBucket,
  describeBucket,
  listBuckets,
  updateBucket,
} from '../../domain/administration/bucket-administration.ts';
import { createBucket } from '../../domain/administration/bucket-creation.ts';
import type { EndToEnd } from '../../domain/buckets/end-to-end.ts';
import type { BudgetSizes } from '../../domain/rights/budgets.ts';
import { updateCreators } from '../../domain/rights/creators.ts';
import { isFront } from '../../domain/shared/role-record.ts';
import {
  AccessChange,
  BucketChange,
  BucketDeletion,
  BucketOptions,
  ResultBucket,
  ResultBuckets,
  ResultNull,
  ResultPrincipals,
} from '../candid/types.ts';
import { query, update } from '../dispatch/method.ts';
import {
  type BucketOptionsArgument,
  type EndToEndArgument,
  endToEndOptions,
  newBucketOf,
} from '../messages/bucket-arguments.ts';
import { type Optional, optional } from '../messages/optional.ts';
import { type RuleArgument, rulesOf, rulesView } from '../messages/retention-arguments.ts';
import { answer, currentCall } from '../runtime/call.ts';
import { bucketOrders, startUpkeep, stores } from '../runtime/runtime.ts';

interface BucketChangeArgument {
  bucketId: string;
  isPublic: Optional<boolean>;
  quotaBytes: Optional<bigint>;
  quotaFiles: Optional<bigint>;
  keepVersionsDays: Optional<bigint>;
  owner: Optional<Principal>;
  addMembers: Optional<{ principal: Principal; role: string; name: Optional<string> }[]>;
  removeMembers: Optional<Principal[]>;
  isSite: Optional<boolean>;
  isListed: Optional<boolean>;
  endToEnd: Optional<EndToEndArgument>;
  isEndToEnd: Optional<boolean>;
  retention: Optional<RuleArgument[]>;
}

interface AccessChangeArgument {
  allow: Optional<Principal[]>;
  disallow: Optional<Principal[]>;
  anonymousUpdates: Optional<BudgetSizes>;
  linkUpdates: Optional<BudgetSizes>;
  refusals: Optional<BudgetSizes>;
  derivations: Optional<BudgetSizes>;
}

export function endToEndView(endToEnd: EndToEnd) {
  const epochs = endToEnd.epochs.map(({ epoch, recipient, openedAtNs }) => {
    return { epoch, recipient: optional(recipient), openedAt: openedAtNs };
  });
  return { ...endToEnd, epochs };
}

export function bucketView(bucket: BucketDetails) {
  return {
    ...bucket,
    endToEnd: optional(bucket.endToEnd && endToEndView(bucket.endToEnd)),
    owner: Principal.fromUint8Array(bucket.owner),
    quotaBytes: optional(bucket.quotaBytes),
    quotaFiles: optional(bucket.quotaFiles),
    callerRole: optional(bucket.callerRole),
    retention: rulesView(bucket.retention),
    openUploads: bucket.openUploadCount,
    members: bucket.members.map(({ principal, role, name }) => {
      return { principal: Principal.fromUint8Array(principal), role, name: optional(name) };
    }),
    createdAt: bucket.createdAtNs,
    updatedAt: bucket.updatedAtNs,
  };
}

function bytesOf([principals]: Optional<Principal[]>): Uint8Array[] {
  return (principals ?? []).map((principal) => principal.toUint8Array());
}

/** Buckets: their owners, members, settings and sizes. */
export class BucketsActor {
  /**
   * (bucketId, options) Creates a bucket, private by default. For controllers and principals that
   * updateAccess allows. A volume that has a front refuses it: call the front. Errors:
   * AccessDenied, BucketExists, InvalidBucketId.
   */
  @update([IDL.Text, IDL.Opt(BucketOptions)], ResultBucket)
  createBucket(bucket: string, options: Optional<BucketOptionsArgument>) {
    if (isFront(stores)) return bucketOrders.create(bucket, options);
    const request = newBucketOf(bucket, options);
    return answer(() => bucketView(createBucket(stores, currentCall(), request)));
  }

  /**
   * (bucketId, apiKey) Returns a bucket, for members and keys with `read`. Owners and writers may
   * also send it as an update, without a key: then the network signs the reply. Errors:
   * AccessDenied, NoSuchBucket.
   */
  @query([IDL.Text, IDL.Opt(IDL.Text)], ResultBucket)
  getBucket(bucket: string, [apiKey]: Optional<string>) {
    return answer(() => bucketView(describeBucket(stores, currentCall(), { bucket, apiKey })));
  }

  /**
   * (page, pageSize) Lists the caller's buckets; `page` begins with 1, `pageSize` is 1 to 50, by
   * default 10.
   */
  @query([IDL.Opt(IDL.Nat), IDL.Opt(IDL.Nat)], ResultBuckets)
  listBuckets([page]: Optional<bigint>, [pageSize]: Optional<bigint>) {
    return answer(() => {
      const list = listBuckets(stores, currentCall(), { page, pageSize });
      return { ...list, items: list.items.map(bucketView) };
    });
  }

  /**
   * Changes settings, owner and members of a bucket, for owners. Absent fields change nothing.
   * Errors: BucketNotEmpty for a field that is fixed while the bucket has files.
   */
  @update([BucketChange], ResultBucket)
  updateBucket(argument: BucketChangeArgument) {
    const members = (argument.addMembers[0] ?? []).map(({ principal, role, name: [name] }) => {
      return { principal: principal.toUint8Array(), role, name };
    });
    const change = {
      bucket: argument.bucketId,
      isPublic: argument.isPublic[0],
      isSite: argument.isSite[0],
      isListed: argument.isListed[0],
      quotaBytes: argument.quotaBytes[0],
      quotaFiles: argument.quotaFiles[0],
      keepVersionsDays: argument.keepVersionsDays[0],
      owner: argument.owner[0]?.toUint8Array(),
      addMembers: members,
      removeMembers: bytesOf(argument.removeMembers),
      endToEnd: endToEndOptions(argument.endToEnd),
      retention: rulesOf(argument.retention),
      isEndToEnd: argument.isEndToEnd[0],
    };
    return answer(() => {
      const changed = updateBucket(stores, currentCall(), change);
      startUpkeep();
      return bucketView(changed);
    });
  }

  /**
   * (bucketId, options) Deletes a bucket, for owners. Errors: BucketNotEmpty while it has files, or
   * open uploads without force.
   */
  @update([IDL.Text, IDL.Opt(BucketDeletion)], ResultNull)
  deleteBucket(bucket: string, [options]: Optional<{ force: Optional<boolean> }>) {
    return answer(() => {
      const isForced = options?.force[0] === true;
      deleteBucket(stores, currentCall(), { bucket, isForced });
      return null;
    });
  }

  /**
   * Changes budgets and the principals that may create buckets, for controllers. ok lists all
   * principals that may create buckets.
   */
  @update([AccessChange], ResultPrincipals)
  updateAccess(argument: AccessChangeArgument) {
    const change = {
      allow: bytesOf(argument.allow),
      disallow: bytesOf(argument.disallow),
      budgets: {
        anonymousUpdates: argument.anonymousUpdates[0],
        linkUpdates: argument.linkUpdates[0],
        refusals: argument.refusals[0],
        derivations: argument.derivations[0],
      },
    };
    return answer(() => {
      const creators = updateCreators(stores, currentCall(), change);
      return creators.map((creator) => Principal.fromUint8Array(creator));
    });
  }
}
