// What owners do with whole buckets: show, list, change and delete them.

import { bytesEqual } from '../lib/bytes.ts';
import { encodeUtf8 } from '../lib/text.ts';
import { memberCountMax, pageSizeDefault, pageSizeMax } from '../limits.ts';
import { authorize, ownedBucket } from './access.ts';
import { bucketIds, countBuckets, forgetBucket, noteBucket } from './bucket-directory.ts';
import { eraseBucketKeys } from './bucket-keys.ts';
import { changeTotals } from './bucket-totals.ts';
import { type Bucket, getBucket, saveBucket } from './buckets.ts';
import { type Call, isAnonymous } from './caller.ts';
import { unindexBucket } from './file-index.ts';
import { withdrawKeys } from './keys.ts';
import {
  isBucketOwner,
  type Member,
  membersOf,
  parseRole,
  requireNameable,
  saveMembers,
} from './members.ts';
import { Refusal } from './refusal.ts';
import type { Stores } from './stores.ts';

export interface BucketDetails extends Bucket {
  /** Shown to owners; empty for others. */
  readonly members: readonly Member[];
}

function withMembers(stores: Stores, call: Call, bucket: Bucket): BucketDetails {
  const isOwner = isBucketOwner(stores, call.caller, bucket);
  return { ...bucket, members: isOwner ? membersOf(stores, bucket.id) : [] };
}

/** For callers with the read permission. */
export function describeBucket(
  stores: Stores,
  call: Call,
  request: { readonly bucket: string; readonly apiKey: string | undefined },
): BucketDetails {
  const { bucket } = authorize(stores, call, { ...request, permission: 'read' });
  return withMembers(stores, call, bucket);
}

export interface BucketPage {
  readonly items: readonly BucketDetails[];
  readonly page: bigint;
  readonly pageSize: number;
  readonly total: number;
  readonly pages: number;
  readonly hasMore: boolean;
}

/** The buckets in which the caller has a role, by id; for controllers all of them. */
export function listBuckets(
  stores: Stores,
  call: Call,
  request: { readonly page: bigint | undefined; readonly pageSize: bigint | undefined },
): BucketPage {
  const { page = 1n, pageSize = BigInt(pageSizeDefault) } = request;
  if (page < 1n || pageSize < 1n) {
    throw new Refusal('InvalidArgument', 'page and pageSize are whole numbers from 1 on.');
  }
  const size = pageSize > BigInt(pageSizeMax) ? pageSizeMax : Number(pageSize);
  const { caller } = call;
  const principal = caller.isController ? undefined : caller.principal;
  const isNobody = principal !== undefined && isAnonymous(caller);
  const total = isNobody ? 0 : countBuckets(stores.directory, principal);
  const pages = Math.ceil(total / size);
  const isThere = page <= BigInt(pages);
  const range = { skip: (Number(page) - 1) * size, limit: size };
  const ids = isThere ? bucketIds(stores.directory, principal, range) : [];
  const items = ids.map((id) => withMembers(stores, call, getBucket(stores, id)));
  return { items, page, pageSize: size, total, pages, hasMore: page < BigInt(pages) };
}

export interface BucketChange {
  readonly bucket: string;
  readonly isPublic: boolean | undefined;
  /** 0n takes the quota away; absent leaves it. */
  readonly quotaBytes: bigint | undefined;
  /** Named anew, or with another role. */
  readonly addMembers: readonly { readonly principal: Uint8Array; readonly role: string }[];
  readonly removeMembers: readonly Uint8Array[];
}

/** For owners. What the change leaves out stays. */
export function updateBucket(stores: Stores, call: Call, change: BucketChange): BucketDetails {
  const bucket = ownedBucket(stores, call, change.bucket);
  const former = membersOf(stores, bucket.id);
  const members = changedMembers(former, change);
  const updated: Bucket = {
    ...bucket,
    isPublic: change.isPublic ?? bucket.isPublic,
    quotaBytes: changedQuota(bucket, change.quotaBytes),
    updatedAtNs: call.nowNs,
  };
  saveBucket(stores, updated, bucket);
  if (updated.isPublic !== bucket.isPublic) {
    stores.publication.show(bucket.id, updated.isPublic);
  }
  if (change.addMembers.length + change.removeMembers.length > 0) {
    saveMembers(stores, bucket.id, members);
    noteRoles(stores, bucket, { former, members });
  }
  return { ...updated, members };
}

function changedQuota(bucket: Bucket, quotaBytes: bigint | undefined): number | undefined {
  if (quotaBytes === undefined) {
    return bucket.quotaBytes;
  }
  if (quotaBytes > BigInt(Number.MAX_SAFE_INTEGER)) {
    throw new Refusal(
      'InvalidArgument',
      `A quota is at most ${Number.MAX_SAFE_INTEGER} bytes; 0 stands for none.`,
    );
  }
  return quotaBytes === 0n ? undefined : Number(quotaBytes);
}

function changedMembers(former: readonly Member[], change: BucketChange): Member[] {
  const added = new Map<string, Member>();
  for (const { principal, role } of change.addMembers) {
    requireNameable(principal);
    added.set(principal.join(), { principal, role: parseRole(role) });
  }
  const gone = new Set([...added.keys(), ...change.removeMembers.map((bytes) => bytes.join())]);
  const members = [...former.filter(({ principal }) => !gone.has(principal.join()))];
  members.push(...added.values());
  if (members.length > memberCountMax) {
    throw new Refusal('QuotaExceeded', `A bucket has at most ${memberCountMax} members.`, {
      limit: memberCountMax,
    });
  }
  return members;
}

/** In the directory; the creator is an owner whether named or not. */
function noteRoles(
  stores: Stores,
  bucket: Bucket,
  change: { readonly former: readonly Member[]; readonly members: readonly Member[] },
): void {
  for (const { principal } of change.former) {
    if (!bytesEqual(principal, bucket.owner)) {
      forgetBucket(stores.directory, bucket.id, principal);
    }
  }
  for (const { principal } of change.members) {
    noteBucket(stores.directory, bucket.id, principal);
  }
}

/** For owners, when it holds no file and no open upload. Its keys lose it. */
export function deleteBucket(stores: Stores, call: Call, name: string): void {
  const bucket = ownedBucket(stores, call, name);
  if (bucket.fileCount > 0 || bucket.openUploadCount > 0) {
    throw new Refusal(
      'BucketNotEmpty',
      `Bucket ${bucket.id} has ${bucket.fileCount} files and ${bucket.openUploadCount} open uploads: ` +
        'delete and cancel them first.',
      { files: bucket.fileCount, openUploads: bucket.openUploadCount },
    );
  }
  withdrawKeys(stores, bucket.id, call.nowNs);
  for (const { principal } of membersOf(stores, bucket.id)) {
    forgetBucket(stores.directory, bucket.id, principal);
  }
  saveMembers(stores, bucket.id, []);
  forgetBucket(stores.directory, bucket.id, bucket.owner);
  forgetBucket(stores.directory, bucket.id);
  stores.buckets.delete(encodeUtf8(bucket.id));
  eraseBucketKeys(stores, bucket);
  unindexBucket(stores, bucket.id);
  stores.publication.removeBucket(bucket.id);
  changeTotals(stores, { buckets: -1, files: 0, bytes: 0 });
}
