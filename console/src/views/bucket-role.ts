// Properties of the parts of a bucket's page, and whether the viewer is an owner.

import type { BucketRecord } from '../../../packages/client/src/types/buckets.ts';
import type { Session } from '../session.ts';

export interface BucketProps {
  readonly session: Session;
  readonly record: BucketRecord;
  onChanged(record: BucketRecord): void;
}

export function isOwner({ session, record }: Pick<BucketProps, 'session' | 'record'>): boolean {
  const { principal } = session;
  const isMember = ({ principal: one, role }: { principal: string; role: string }) =>
    one === principal && role === 'owner';
  return principal !== undefined && (record.owner === principal || record.members.some(isMember));
}
