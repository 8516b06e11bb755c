// The record of a bucket, read anew each time: others may change it while this page is open. The
// actor returns it by a query, also to API keys, so one node can forge it. HTTP has no route for
// it.

import type { Storage } from '../../packages/client/src/storage.ts';
import type { BucketRecord } from '../../packages/client/src/types/buckets.ts';
import { isLocal, serviceHost, thisService } from './service.ts';
import { type Session, secretOf } from './session.ts';

async function actorOf(session: Session): Promise<Storage> {
  if (session.kind !== 'key') return session.storage;
  const { canisterId, isAtFront } = await thisService();
  if (isAtFront) return session.stored;
  const apiKey = secretOf(session);
  // The first view does not need the client: a session has loaded it.
  const { createStorage } = await import('../../packages/client/src/storage.ts');
  return createStorage({ host: serviceHost(), canisterId, apiKey, fetchRootKey: isLocal() });
}

export async function recordOf(session: Session, bucket: string): Promise<BucketRecord> {
  return (await actorOf(session)).buckets.get(bucket);
}

/** Returns the record as the network signs it; takes some seconds, for owners and writers. */
export async function signedRecordOf({ storage }: Session, bucket: string): Promise<BucketRecord> {
  return storage.buckets.get(bucket, { certified: true });
}

/** Whether a deleted file can be restored; false if the caller may not read the record. */
export async function keepsVersions(session: Session, bucket: string): Promise<boolean> {
  return recordOf(session, bucket).then(
    ({ keepVersionsDays }) => keepVersionsDays > 0,
    () => false,
  );
}
