// Creation of buckets: who may create one, and its initial record.

import { bucketCountMax } from '../../limits.ts';
import { noteBucket } from '../buckets/bucket-directory.ts';
import { readTotals } from '../buckets/bucket-totals.ts';
import type { Bucket } from '../buckets/buckets.ts';
import { checkListed, checkSite, findBucket, saveBucket } from '../buckets/buckets.ts';
import {
  type EndToEndOptions,
  findEndToEnd,
  planMode,
  saveEndToEnd,
} from '../buckets/end-to-end.ts';
import { parseKeepDays, parseQuota } from '../buckets/quota.ts';
import {
  parseRetentionRules,
  type SentRule,
  saveRetentionRules,
} from '../buckets/retention-rules.ts';
import { createBucketKey } from '../keys/bucket-keys.ts';
import { requireCreator } from '../rights/creators.ts';
import type { Call } from '../shared/caller.ts';
import { parseBucketId } from '../shared/names.ts';
import { Refusal } from '../shared/refusal.ts';
import type { Stores } from '../shared/stores.ts';
import type { BucketDetails } from './bucket-administration.ts';
import { requireReadablePrefixes } from './bucket-retention.ts';

export interface NewBucket {
  readonly bucket: string;
  /** Private unless true. */
  readonly isPublic?: boolean | undefined;
  /** Requires isPublic. */
  readonly isSite?: boolean | undefined;
  /** Requires isPublic. */
  readonly isListed?: boolean | undefined;
  /** As in BucketChange. */
  readonly quotaBytes?: bigint | undefined;
  readonly quotaFiles?: bigint | undefined;
  readonly keepVersionsDays?: bigint | undefined;
  readonly retention?: readonly SentRule[] | undefined;
  /** Makes the bucket end-to-end encrypted. */
  readonly endToEnd?: EndToEndOptions | undefined;
}

/** Refuses what createBucketOf() would refuse; changes nothing. */
function checkNewBucket(stores: Stores, call: Call, request: NewBucket) {
  const id = parseBucketId(request.bucket);
  if (findBucket(stores, id) !== undefined) {
    throw new Refusal('BucketExists', `Bucket ${id} already exists: choose another id.`);
  }
  if (readTotals(stores).buckets >= bucketCountMax) {
    throw new Refusal(
      'QuotaExceeded',
      `The service has its maximum of ${bucketCountMax} buckets: delete one first.`,
      {
        limit: bucketCountMax,
      },
    );
  }
  const isPublic = request.isPublic === true;
  const isSite = request.isSite === true;
  const isListed = request.isListed === true;
  const isEndToEnd = request.endToEnd !== undefined;
  checkSite({ id, isPublic, isSite, isEndToEnd });
  checkListed({ id, isPublic, isListed, isEndToEnd });
  const quotaBytes = parseQuota('bytes', request.quotaBytes);
  const quotaFiles = parseQuota('files', request.quotaFiles);
  const mode = request.endToEnd && planMode(stores, request.endToEnd, call.nowNs);
  const rules = parseRetentionRules(request.retention ?? []);
  requireReadablePrefixes(rules, mode);
  return {
    id,
    isPublic,
    isSite,
    isListed,
    isEndToEnd,
    rules,
    mode,
    quotaBytes,
    quotaFiles,
    keepVersionsDays: parseKeepDays(request.keepVersionsDays ?? 0n),
  };
}

/**
 * Creates a bucket that the caller owns, without other members. For controllers of the canister and
 * the principals that they allow.
 */
export function createBucket(stores: Stores, call: Call, request: NewBucket): BucketDetails {
  parseBucketId(request.bucket);
  requireCreator(stores, call);
  return createBucketOf(stores, call, request);
}

/** Creates a bucket that the caller owns, whether or not the caller may create buckets. */
export function createBucketOf(stores: Stores, call: Call, request: NewBucket): BucketDetails {
  const { id, mode, rules, ...options } = checkNewBucket(stores, call, request);
  const bucket: Bucket = {
    id,
    ...options,
    ...createBucketKey(stores, id),
    formerKeyId: 0,
    formerKeySlot: 0,
    owner: call.caller.principal,
    isRenewing: false,
    hasRetention: rules.length > 0,
    limitsVersions: false,
    createdAtNs: call.nowNs,
    updatedAtNs: call.nowNs,
    fileCount: 0,
    byteCount: 0,
    openUploadCount: 0,
    openUploadByteCount: 0,
    overheadBytes: 0,
    versionCount: 0,
    versionBytes: 0,
    linkCount: 0,
  };
  saveBucket(stores, bucket, undefined);
  if (mode !== undefined) saveEndToEnd(stores, id, mode);
  if (rules.length > 0) saveRetentionRules(stores, id, rules);
  noteBucket(stores.directory, id);
  noteBucket(stores.directory, id, bucket.owner);
  stores.publication.show(id, bucket.isPublic);
  stores.journal.note(bucket.id, { kind: 'bucket.created', subject: id });
  const endToEnd = bucket.isEndToEnd ? findEndToEnd(stores, id) : undefined;
  return { ...bucket, members: [], endToEnd, retention: rules, callerRole: 'owner' };
}
