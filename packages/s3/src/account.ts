// The account of a caller: the client library with the caller's rights.

import type { BucketSecrets } from '../../client/src/bucket-secrets.ts';
import type { ServiceStorage } from '../../client/src/service-storage.ts';
import type { Storage } from '../../client/src/storage.ts';
import type { FileRecord } from '../../client/src/types/files.ts';
import { idOfVersion } from './version-id.ts';

export interface Account {
  /** With `volumeOf` in a service of several volumes. */
  readonly storage: Storage & Partial<Pick<ServiceStorage, 'volumeOf'>>;
  /** Modes of buckets, whether they store versions, and the decrypted sizes of files. */
  readonly secrets: Pick<
    BucketSecrets,
    'mode' | 'readerMode' | 'keepsVersions' | 'plainSize' | 'forget' | 'readsOverHttp'
  >;
  /** Known buckets of a caller who cannot list buckets, such as an API key. */
  readonly buckets?: readonly string[] | undefined;
}

/** Returns whether the buckets are at different volumes, so that the service copies nothing. */
export async function areApart(
  { storage }: Pick<Account, 'storage'>,
  ...buckets: readonly string[]
): Promise<boolean> {
  const { volumeOf } = storage;
  if (volumeOf === undefined) return false;
  return new Set(await Promise.all(buckets.map((bucket) => volumeOf(bucket)))).size > 1;
}

/**
 * Returns the version's id, or undefined if the bucket stores no versions. A failed look-up also
 * returns undefined, because it must not fail an operation that has succeeded.
 */
export async function versionIdOf(
  { secrets }: Pick<Account, 'secrets'>,
  record: Pick<FileRecord, 'bucketId' | 'version' | 'updatedAt'>,
): Promise<string | undefined> {
  const hasVersions = await secrets.keepsVersions(record.bucketId).catch(() => false);
  return hasVersions ? idOfVersion(record) : undefined;
}
