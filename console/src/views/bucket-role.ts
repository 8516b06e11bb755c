// The viewer's role in a bucket, and what it permits.

import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { isStorageError } from '../../../packages/client/src/storage-error.ts';
import type { BucketRecord } from '../../../packages/client/src/types/buckets.ts';
import { recordOf } from '../bucket-record.ts';
import type { Session } from '../session.ts';

/** Properties of the parts of a bucket's page. */
export interface BucketProps {
  readonly session: Session;
  readonly record: BucketRecord;
  /** Whether the network has signed the record; otherwise it is the answer of one node. */
  readonly isSigned: boolean;
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
  /** Members who sign in with an identity may read the journal. */
  readonly maySeeActivity: boolean;
  /** Members see the settings; owners change them. */
  readonly maySeeSettings: boolean;
  /** Names of members by principal; only owners see them. */
  readonly memberNames: ReadonlyMap<string, string>;
}

/** Until the record has arrived, the page offers nothing that it may have to take away. */
const none: Rights = {
  ...{ mayWrite: false, isOwner: false, keepsVersions: false, isPublic: false },
  ...{ maySeeActivity: false, maySeeSettings: false },
  memberNames: new Map(),
};
/**
 * For a key, which cannot ask for its own permissions, and where no record arrives: the page offers
 * to write, and the service refuses what is not permitted.
 */
const unknown: Rights = { ...none, mayWrite: true, keepsVersions: true, maySeeSettings: true };

/** The answers for the buckets of one session. */
const known = signal<{
  readonly session: Session | undefined;
  readonly byBucket: ReadonlyMap<string, Rights>;
}>({ session: undefined, byBucket: new Map() });

export function isOwner({ record }: Pick<BucketProps, 'record'>): boolean {
  return record.callerRole === 'owner';
}

/**
 * Strangers have no role; they may read a public bucket. A service of an earlier version reports no
 * role: the reader of a private bucket is a member there, and the service refuses what is not
 * permitted.
 */
function rightsOf(record: BucketRecord, principal: string | undefined): Rights {
  const { callerRole, keepVersionsDays, isPublic, members } = record;
  const own = members.find((member) => member.principal === principal);
  const role = callerRole ?? own?.role ?? (isPublic ? undefined : 'writer');
  const names = members.flatMap(({ principal, name }): [string, string][] =>
    name === undefined ? [] : [[principal, name]],
  );
  return {
    mayWrite: role === 'owner' || role === 'writer',
    isOwner: role === 'owner',
    keepsVersions: keepVersionsDays > 0,
    isPublic,
    maySeeActivity: role !== undefined,
    maySeeSettings: role !== undefined,
    memberNames: new Map(names),
  };
}

function knownFor(session: Session): ReadonlyMap<string, Rights> {
  return known.value.session === session ? known.value.byBucket : new Map();
}

/** Returns the former answer at once, and asks the service again: others may have changed it. */
export function useRights(session: Session, bucket: string): Rights {
  const isKey = session.kind === 'key';
  useEffect(() => {
    if (isKey) return;
    const note = (rights: Rights) => {
      known.value = { session, byBucket: new Map([...knownFor(session), [bucket, rights]]) };
    };
    recordOf(session, bucket).then(
      (record) => note(rightsOf(record, session.principal)),
      (error) => note(isStorageError(error, 'AccessDenied', 'NoSuchBucket') ? none : unknown),
    );
  }, [session, bucket]);
  if (session.shared !== undefined) return none;
  return isKey ? unknown : (knownFor(session).get(bucket) ?? none);
}
