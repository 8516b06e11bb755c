// The viewer's role in a bucket, and what it permits.

import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { isStorageError } from '../../../packages/client/src/storage-error.ts';
import type { BucketRecord } from '../../../packages/client/src/types/buckets.ts';
import { recordOf } from '../bucket-record.ts';
import type { Session } from '../session.ts';

/** Properties of the parts of a bucket's page. */
export interface BucketProps {
  readonly session: Session;
  readonly record: BucketRecord;
  onChanged(record: BucketRecord): void;
}

export interface Rights {
  /** Includes deletion. */
  readonly mayWrite: boolean;
  /** May create drop boxes, keys and members. */
  readonly isOwner: boolean;
  /** Replaced and deleted files can be restored. */
  readonly keepsVersions: boolean;
  readonly isPublic: boolean;
}

/** Until the record has arrived, the page offers nothing that it may have to take away. */
const noneKnown = { mayWrite: false, isOwner: false, keepsVersions: false, isPublic: false };
/** A key cannot ask for its own permissions: the service refuses what it does not permit. */
const rightsOfKey = { ...noneKnown, mayWrite: true, keepsVersions: true };

const known = new WeakMap<Session, Map<string, Rights>>();

export function isOwner({ record }: Pick<BucketProps, 'record'>): boolean {
  return record.callerRole === 'owner';
}

/** Strangers have no role; they may read a public bucket. */
function rightsOf({ callerRole: role, keepVersionsDays, isPublic }: BucketRecord): Rights {
  return {
    mayWrite: role === 'owner' || role === 'writer',
    isOwner: role === 'owner',
    keepsVersions: keepVersionsDays > 0,
    isPublic,
  };
}

/** Returns the former answer at once, and asks the service again: others may have changed it. */
export function useRights(session: Session, bucket: string): Rights {
  const isKey = session.kind === 'key';
  const found = useSignal(isKey ? rightsOfKey : (known.get(session)?.get(bucket) ?? noneKnown));
  useEffect(() => {
    if (isKey) return;
    recordOf(session, bucket).then(
      (record) => {
        found.value = rightsOf(record);
        const ofSession = known.get(session) ?? new Map<string, Rights>();
        known.set(session, ofSession.set(bucket, found.value));
      },
      (error) => {
        // Without an answer the page offers everything: the service refuses what is not permitted.
        const isStranger = isStorageError(error, 'AccessDenied', 'NoSuchBucket');
        if (!isStranger) found.value = rightsOfKey;
      },
    );
  }, [session, bucket]);
  return found.value;
}
