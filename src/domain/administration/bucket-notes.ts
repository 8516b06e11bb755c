// The journal's entries about members and settings of a bucket.

import { encodeHex } from '../../lib/hex.ts';
import { forgetBucket, noteBucket } from '../buckets/bucket-directory.ts';
import type { Bucket } from '../buckets/buckets.ts';
import type { Member } from '../rights/members.ts';
import type { Stores } from '../shared/stores.ts';

const notedSettings = [
  'owner',
  'isPublic',
  'isSite',
  'isListed',
  'isEndToEnd',
  'quotaBytes',
  'quotaFiles',
  'keepVersionsDays',
] as const;

/** Notes the names of changed settings in the journal. */
export function noteSettings(
  stores: Stores,
  {
    bucket,
    old,
    others,
  }: { readonly bucket: Bucket; readonly old: Bucket; readonly others: object },
): void {
  const own = notedSettings.filter((name) => String(bucket[name]) !== String(old[name]));
  const sent = Object.entries(others).filter(([, value]) => value !== undefined);
  const names = [...own, ...sent.map(([name]) => name)];
  if (names.length === 0) return;
  stores.journal.note(bucket.id, { kind: 'bucket.changed', subject: names.join('\0') });
}

/** Members by principal as text; the owner is among them. */
export interface RoleChange {
  readonly before: ReadonlyMap<string, Member>;
  readonly after: ReadonlyMap<string, Member>;
}

/** Updates the directory's entries of principals with a role, and the journal. */
export function noteRoles(stores: Stores, bucket: Bucket, { before, after }: RoleChange): void {
  const bucketId = bucket.id;
  for (const [name, { principal }] of new Map([...before, ...after])) {
    const now = after.get(name)?.role;
    if (now === before.get(name)?.role) continue;
    const subject = `${encodeHex(principal)}\0${now ?? ''}`;
    stores.journal.note(bucket.id, { kind: 'member.changed', subject });
  }
  for (const [name, { principal }] of before) {
    if (!after.has(name)) forgetBucket(stores.directory, bucketId, principal);
  }
  for (const { principal } of after.values()) noteBucket(stores.directory, bucketId, principal);
}
