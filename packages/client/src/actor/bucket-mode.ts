// Reads the mode of a bucket by an update call, whose reply the network signs.

import type { Signal } from '../connection/transport.ts';
import type { SignedMode } from '../operations/administration.ts';
import { isStorageError, StorageError } from '../storage-error.ts';
import { endToEndOf } from './candid-records.ts';
import { call, type Service } from './connection.ts';
import { lackedMethods } from './signed-interface.ts';

export async function bucketMode(
  service: Service,
  bucket: string,
  signal: Signal,
): Promise<SignedMode> {
  const { actor, key } = service;
  try {
    const { endToEnd } = await call(signal, () => actor.getBucketMode(bucket, key));
    return { endToEnd: endToEndOf(endToEnd) };
  } catch (error) {
    if (!isStorageError(error, 'Unsupported')) throw error;
    return modeOfEarlier(service);
  }
}

/**
 * Returns the mode if the service lacks `getBucketMode`: empty for version 0.1.0, which has no
 * end-to-end buckets.
 */
async function modeOfEarlier(service: Service): Promise<SignedMode> {
  const lacked = await lackedMethods(service, ['getBucketMode', 'getBucketIdentity']);
  if (!lacked.includes('getBucketMode')) {
    const words = 'A node denies that the service reports modes of buckets; try again.';
    throw new StorageError('Untrusted', words, { isRetryable: true });
  }
  if (lacked.includes('getBucketIdentity')) return {};
  const words = 'The service does not report modes of buckets by signed replies; upgrade it.';
  throw new StorageError('Unsupported', words);
}
