// Reads the mode of a bucket by an update call, whose reply the network signs.

import { CanisterStatus } from '@icp-sdk/core/agent';
import { Principal } from '@icp-sdk/core/principal';
import type { Signal } from '../connection/transport.ts';
import type { SignedMode } from '../operations/administration.ts';
import { isStorageError, StorageError } from '../storage-error.ts';
import { endToEndOf } from './candid-records.ts';
import { call, type Service } from './connection.ts';

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
 * end-to-end buckets. A node's refusal of an unknown method is not signed by the network and could
 * be forged, so the signed interface of the service decides.
 */
async function modeOfEarlier({ agent, canisterId }: Service): Promise<SignedMode> {
  const principal = Principal.fromText(canisterId);
  const status = await CanisterStatus.request({ agent, canisterId: principal, paths: ['candid'] });
  const text = status.get('candid');
  if (typeof text !== 'string' || /\bgetBucketMode\s*:/.test(text)) {
    const words = 'A node denies that the service reports modes of buckets; try again.';
    throw new StorageError('Untrusted', words, { isRetryable: true });
  }
  if (!/\bgetBucketIdentity\s*:/.test(text)) return {};
  const words = 'The service does not report modes of buckets by signed replies; upgrade it.';
  throw new StorageError('Unsupported', words);
}
