// What the parts of a bucket's page are told, and whether an owner looks at them.

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
