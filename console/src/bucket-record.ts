// The record of a bucket, read on demand and cached until this page changes the bucket. The actor
// returns it, also to API keys; HTTP has no route for it.

import { signal } from '@preact/signals';
import { createStorage, type Storage } from '../../packages/client/src/storage.ts';
import type { BucketRecord } from '../../packages/client/src/types/buckets.ts';
import { isLocal, serviceHost, thisService } from './service.ts';
import { type Session, secretOf } from './session.ts';

const records = signal<ReadonlyMap<string, BucketRecord>>(new Map());

async function actorOf(session: Session): Promise<Storage> {
  if (session.kind !== 'key') return session.storage;
  const { canisterId } = await thisService();
  const apiKey = secretOf(session);
  return createStorage({ host: serviceHost(), canisterId, apiKey, fetchRootKey: isLocal() });
}

export async function recordOf(session: Session, bucket: string): Promise<BucketRecord> {
  const known = records.value.get(bucket);
  if (known !== undefined) return known;
  const record = await (await actorOf(session)).buckets.get(bucket);
  noteRecord(record);
  return record;
}

export function noteRecord(record: BucketRecord): void {
  records.value = new Map([...records.value, [record.id, record]]);
}

export function forgetRecord(bucket: string): void {
  records.value = new Map([...records.value].filter(([id]) => id !== bucket));
}

/** Whether a deleted file can be restored; false if the caller may not read the record. */
export async function keepsVersions(session: Session, bucket: string): Promise<boolean> {
  return recordOf(session, bucket).then(
    ({ keepVersionsDays }) => keepVersionsDays > 0,
    () => false,
  );
}
