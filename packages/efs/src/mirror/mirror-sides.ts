// The two buckets of a mirror, and whether one can be a mirror of the other.

import { isNetwork } from '../../../client/src/connection/canister-address.ts';
import type { ServiceStorage } from '../../../client/src/service-storage.ts';
import type { Storage } from '../../../client/src/storage.ts';
import { isStorageError, StorageError } from '../../../client/src/storage-error.ts';
import type { BucketRecord } from '../../../client/src/types/buckets.ts';
import type { Run } from '../config/run.ts';
import { UsageError } from '../output/usage-error.ts';
import type { Side } from './bucket-states.ts';
import type { MirrorTarget } from './mirror-job.ts';
import type { MirrorPair } from './mirror-state.ts';
import type { S3Place } from './s3/s3-place.ts';
import { openS3Target } from './s3/s3-target.ts';
import { serviceTarget } from './service-target.ts';

export interface Sides {
  readonly source: Side;
  readonly target: MirrorTarget;
  readonly pair: MirrorPair;
  readonly keepsVersions: boolean;
  /** About the number of requests that read both whole. */
  readonly wholeRequests: number;
}

/** A service with one of its buckets. */
export interface Place {
  readonly run: Run;
  readonly bucket: string;
}

/** Lists have up to 1,000 entries. */
const entriesMax = 1_000;

export async function openSides(from: Place, to: Place | S3Place): Promise<Sides> {
  const here = await from.run.asStored();
  const record = await here.buckets.get(from.bucket);
  if ('credentials' in to) return openWithS3(from, to, record);
  const there = await to.run.asStored();
  const other = await there.buckets.get(to.bucket).catch((error) => {
    throw isStorageError(error, 'NoSuchBucket') ? noTarget(to.bucket, record) : error;
  });
  const pair = {
    source: await nameOf(from, here),
    target: await nameOf(to, there),
  };
  requireFit(pair, record, other);
  const keepsVersions = record.keepVersionsDays > 0;
  const { signal } = from.run;
  const common = { signal, readsVersions: keepsVersions };
  return {
    source: { storage: here, bucket: from.bucket, ...common },
    target: serviceTarget({ storage: there, bucket: to.bucket, ...common }),
    ...{ pair, keepsVersions },
    wholeRequests: (countIn(record) + countIn(other)) / entriesMax,
  };
}

function countIn({ fileCount, versionCount }: BucketRecord): number {
  return fileCount + versionCount;
}

async function openWithS3(from: Place, to: S3Place, record: BucketRecord): Promise<Sides> {
  requireNames(record);
  const { signal } = from.run;
  const storage = await from.run.asStored();
  const source = await nameOf(from, storage);
  const pair = { source, target: to.name };
  const wishes = { keepsVersions: record.keepVersionsDays > 0, signal };
  const { target, keepsVersions } = await openS3Target(to, pair, wishes);
  return {
    source: { storage, bucket: from.bucket, signal, readsVersions: keepsVersions },
    ...{ target, pair, keepsVersions },
    // A list of S3 lacks the metadata of objects, which takes a request for each.
    wholeRequests: countIn(record),
  };
}

/**
 * Returns the canister and the bucket. Canisters of local replicas can have equal ids; those of the
 * network have one each, at several hosts.
 */
async function nameOf({ run, bucket }: Place, storage: Storage): Promise<string> {
  const { host = '' } = run;
  const canisterId =
    'volumeOf' in storage ? await (storage as ServiceStorage).volumeOf(bucket) : run.canisterId;
  return `${isNetwork(host) ? '' : `${host}/`}${canisterId}/${bucket}`;
}

function noTarget(bucket: string, { keepVersionsDays }: BucketRecord): StorageError {
  const versions = keepVersionsDays > 0 ? ` --keep-versions ${keepVersionsDays}` : '';
  return new StorageError(
    'NoSuchBucket',
    `The other service has no bucket ${bucket} that you may read: create it there by ` +
      `efs bucket create ${bucket}${versions}.`,
  );
}

function requireFit(pair: MirrorPair, source: BucketRecord, target: BucketRecord): void {
  if (pair.source === pair.target) {
    throw new UsageError(`${pair.source} cannot be a mirror of itself: name another bucket.`);
  }
  requireNames(source);
  requireNames(target);
  if (target.endToEnd !== undefined && source.endToEnd === undefined) {
    throw new UsageError(
      `Bucket ${target.id} is end-to-end encrypted and ${source.id} is not: mirror to a bucket ` +
        'without end-to-end encryption.',
    );
  }
  if (target.keepVersionsDays >= source.keepVersionsDays) return;
  throw new UsageError(
    `Bucket ${source.id} stores former versions for ${source.keepVersionsDays} days, and its mirror ` +
      `${target.id} for ${target.keepVersionsDays}: run there efs bucket set ${target.id} ` +
      `--keep-versions ${source.keepVersionsDays}.`,
  );
}

function requireNames({ endToEnd }: BucketRecord): void {
  if (!endToEnd?.sealsNames) return;
  throw new UsageError(
    'A bucket that seals names cannot be mirrored, because only its own key opens its paths: ' +
      'copy its files as a member by efs get -r and efs put -r.',
  );
}
